package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// fault is what a server says went wrong, in the shapes that are known:
//
//	{"error": {"message", "type", "code", "innererror": {"code"}, "metadata"}}
//	{"error": "text", "code": "text"}                      xAI, old Ollama
//	[{"error": {…}}]                                       Google's gateway
//	{"message", "type", "code"} and {"detail": …}          Mistral, FastAPI servers
//
// A router has the fault of the provider behind it, in any of them, as "metadata.raw"
// (OpenRouter, https://openrouter.ai/docs/api-reference/errors).
type fault struct {
	message string
	// codes are the machine-readable words for it, in lower case.
	codes []string
	// status is an HTTP status that the body names, or 0.
	status int
	// provider is who is at fault behind a router (OpenRouter).
	provider string
	// categories are those for which a filter (Azure), or a moderator in front of the model
	// (OpenRouter), withheld the prompt.
	categories []string
}

// read gives the meaning of a reply.
func read(from wire.Reply) (model.Response, error) {
	if from.OK() {
		return decode(from)
	}
	var v any
	var f fault
	if json.Unmarshal(from.Body, &v) == nil {
		f = faultIn(v)
	}
	f.message = cmp.Or(f.message, clip(from.Body))
	return f.meaning(from)
}

// faultIn reads the body of an error.
func faultIn(v any) fault {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return faultIn(list[0])
	}
	f := faultOf(v)
	top, _ := v.(map[string]any)
	within, _ := top["Response"].(map[string]any) // Tencent
	if inner := cmp.Or(top["error"], top["Error"], within["Error"]); inner != nil {
		outer := f
		f = faultIn(inner)
		f.codes = append(f.codes, outer.codes...)
		f.message = cmp.Or(f.message, outer.message)
	}
	return f
}

// faultOf reads the object, or the text, that describes a fault.
func faultOf(v any) fault {
	m, ok := v.(map[string]any)
	if !ok {
		return fault{message: str(v)}
	}
	f := fault{message: str(m["message"])}
	for _, name := range []string{"message", "detail", "description", "msg", "errors", "error_msg", "Message"} {
		if f.message == "" && m[name] != nil {
			if f.message = str(m[name]); f.message == "" {
				text, _ := json.Marshal(m[name])
				f.message = clip(text)
			}
		}
	}
	inner, _ := m["innererror"].(map[string]any)
	f.categories = filtered(inner["content_filter_result"])
	f.codes = wordsIn(m, 0)
	var behind any // Databricks, and routers, have the words of a fault in the message
	if json.Unmarshal([]byte(f.message), &behind) == nil {
		f.codes = append(f.codes, wordsIn(behind, 0)...)
	} else if !strings.ContainsAny(f.message, " \n") {
		f.codes = append(f.codes, strings.ToLower(f.message))
	}
	for _, code := range []any{m["code"], m["type"], m["error_code"]} {
		n, _ := code.(float64)
		if text, ok := code.(string); ok {
			n, _ = strconv.ParseFloat(text, 64)
		}
		if n >= 400 && n <= 599 {
			f.status = int(n)
		}
	}
	if metadata, ok := m["metadata"].(map[string]any); ok {
		reasons, _ := metadata["reasons"].([]any)
		for _, r := range reasons[:min(len(reasons), mostCategories)] {
			f.categories = append(f.categories, str(r))
		}
		f.addBehind(metadata)
	}
	return f
}

// words are the names of fields that have machine words, at their ends.
var words = regexp.MustCompile(`(?i)(?:code|type|reason|action|status)$`)

// wordsIn are the machine words in what describes a fault, in lower case.
func wordsIn(v any, depth int) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v[:min(len(v), mostCategories)] {
			all = append(all, wordsIn(one, depth)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text := str(v[name])
			if n, ok := v[name].(float64); ok {
				text = strconv.Itoa(int(n))
			}
			if words.MatchString(name) && text != "" && len(text) < longestWord {
				all = append(all, strings.ToLower(text))
			}
			if depth < deepestWord && name != "choices" && name != "metadata" {
				all = append(all, wordsIn(v[name], depth+1)...)
			}
		}
	}
	return all
}

// The bounds of machine words.
const longestWord, deepestWord = 80, 3

// addBehind adds what a router tells of the fault of the provider behind it, whose own
// message says more than that of the router.
func (f *fault) addBehind(metadata map[string]any) {
	raw := metadata["raw"]
	if text, ok := raw.(string); ok && json.Unmarshal([]byte(text), &raw) != nil {
		raw = text
	}
	behind := faultIn(raw)
	if raw == nil || behind.message == "" && len(behind.codes) == 0 {
		return
	}
	f.codes = append(f.codes, behind.codes...)
	f.provider = cmp.Or(str(metadata["provider_name"]), behind.provider)
	f.message = cmp.Or(behind.message, f.message)
	f.status = cmp.Or(f.status, behind.status)
	f.categories = append(f.categories, behind.categories...)
}

func (f fault) has(codes ...string) bool {
	return slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(f.codes, c) })
}

// blocked is the block that the fault tells of, nil for none.
func (f fault) blocked(status int) *model.Block {
	block := reply.Fault(status, f.message, f.codes...)
	if block == nil && len(f.categories) > 0 {
		block = &model.Block{Kind: model.PromptFilter, Detail: "moderation"}
	}
	if block != nil {
		block.Categories = f.categories
	}
	return block
}

// kind sorts a fault that is not a block. A status of 0 stands for a fault
// reported in a reply with status 200: the server had taken the call, so it is
// Transient unless the body says otherwise.
func (f fault) kind(status int) model.Kind {
	switch {
	case f.has("insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "exceeded_current_quota_error"):
		return model.Quota
	case wire.Limited(f.message, f.codes...):
		return model.Limited
	case f.has("invalid_api_key") || strings.Contains(strings.ToLower(f.message), "incorrect api key"): // xAI gives status 400
		return model.Denied
	case f.has("model_not_found", "model_decommissioned", "model_not_available"):
		return model.NotFound
	case status != 0:
		return model.KindOfStatus(status)
	case f.status != 0:
		return model.KindOfStatus(f.status)
	case f.has("rate_limit_exceeded", "rate_limit_error"):
		return model.RateLimited
	}
	return model.Transient
}

// mayBlock reports whether a fault can be of one prompt: not of the key, a limit or the account.
func (f fault) mayBlock(status int) bool {
	return status != http.StatusUnauthorized && status != http.StatusTooManyRequests && status != http.StatusPaymentRequired && !wire.Limited(f.message, f.codes...)
}

// meaning decides between a block, which is a result, and an error.
func (f fault) meaning(from wire.Reply) (model.Response, error) {
	if block := f.blocked(from.Status); block != nil && f.mayBlock(from.Status) {
		if f.provider != "" {
			block.Detail += " (" + clip([]byte(f.provider)) + ")"
		}
		return model.Response{Text: from.Clip(f.message), Finish: model.Blocked, Block: block}, nil
	}
	status := from.Status
	if from.OK() {
		status = 0
	}
	return model.Response{}, &model.Error{Kind: f.kind(status), Status: f.status, Message: f.message}
}
