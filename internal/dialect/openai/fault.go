package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/dialect/wire"
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
	// flagged says what a moderator in front of the model objected to
	// (OpenRouter); empty when there was none.
	flagged string
	// categories are those for which a filter withheld the prompt (Azure).
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
	if f.message == "" {
		f.message = clip(from.Body)
	}
	return f.meaning(from)
}

// faultIn reads the body of an error.
func faultIn(v any) fault {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	f := faultOf(v)
	if top, ok := v.(map[string]any); ok && top["error"] != nil {
		outer := f
		f = faultOf(top["error"])
		f.codes = append(f.codes, outer.codes...)
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
	if f.message == "" && m["detail"] != nil {
		f.message = str(m["detail"])
		if f.message == "" {
			detail, _ := json.Marshal(m["detail"])
			f.message = clip(detail)
		}
	}
	inner, _ := m["innererror"].(map[string]any)
	f.categories = filtered(inner["content_filter_result"])
	for _, code := range []any{m["code"], m["type"], inner["code"]} {
		switch c := code.(type) {
		case string:
			f.codes = append(f.codes, strings.ToLower(c))
			if n, err := strconv.Atoi(c); err == nil {
				f.setStatus(n)
			}
		case float64:
			f.setStatus(int(c))
		}
	}
	if metadata, ok := m["metadata"].(map[string]any); ok {
		reasons, _ := metadata["reasons"].([]any)
		for _, r := range reasons {
			f.flagged = join(f.flagged, str(r))
		}
		f.flagged = strings.ReplaceAll(f.flagged, "\n", ", ")
		f.addBehind(metadata)
	}
	return f
}

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
	f.flagged = cmp.Or(f.flagged, behind.flagged)
	f.categories = append(f.categories, behind.categories...)
}

func (f *fault) setStatus(n int) {
	if n >= 400 && n <= 599 {
		f.status = n
	}
}

func (f fault) has(codes ...string) bool {
	return slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(f.codes, c) })
}

// says reports whether the message holds one of the phrases, which are in lower
// case.
func (f fault) says(phrases ...string) bool {
	message := strings.ToLower(f.message)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(message, p) })
}

// blocked reports whether the fault is a filter that withheld the prompt or the
// answer, and the provider's word for it.
//
// Phrases are matched only where a provider gives such a block the same code as
// any other fault: xAI, DeepSeek, LiteLLM, Anthropic, and OpenAI's reasoning models.
func (f fault) blocked() (detail string, ok bool) {
	switch {
	case f.has("content_filter", "responsibleaipolicyviolation"): // Azure, Moonshot
		return "content_filter", true
	case f.has("content_policy_violation", "moderation_blocked"): // OpenAI, OpenRouter
		return "content_policy_violation", true
	case f.has("data_inspection_failed", "datainspectionfailed"): // DashScope (Qwen)
		return "data_inspection_failed", true
	case f.has("invalid_prompt") && f.says("flagged", "usage policy"): // OpenAI
		return "invalid_prompt", true
	case f.has("bio_policy"): // OpenAI, of one request
		return "bio_policy", true
	case f.says("violates usage guidelines"): // xAI
		return "usage_guidelines", true
	case f.says("content exists risk"): // DeepSeek
		return "content_exists_risk", true
	case f.says("contentpolicyviolationerror"): // LiteLLM
		return "content_policy_violation", true
	case f.says("blocked by content filtering policy"): // Anthropic, behind a router
		return "content_filtering_policy", true
	case f.flagged != "": // OpenRouter
		return f.flagged, true
	}
	return "", false
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
	case f.has("invalid_api_key") || f.says("incorrect api key"): // xAI gives status 400
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

// meaning decides between a block, which is a result, and an error.
func (f fault) meaning(from wire.Reply) (model.Response, error) {
	if detail, ok := f.blocked(); ok {
		if f.provider != "" {
			detail += " (" + clip([]byte(f.provider)) + ")"
		}
		return model.Response{
			Text:   from.Clip(f.message),
			Finish: model.Blocked,
			Block:  &model.Block{Kind: model.PromptFilter, Detail: detail, Categories: f.categories},
		}, nil
	}
	status := from.Status
	if from.OK() {
		status = 0
	}
	return model.Response{}, &model.Error{Kind: f.kind(status), Status: f.status, Message: f.message}
}
