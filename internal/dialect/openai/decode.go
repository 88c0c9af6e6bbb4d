package openai

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// body is the part of a chat completion that is read. Fields that servers fill
// with different kinds of value are of type any, which is also the fastest way
// to read a string.
type body struct {
	ID      any      `json:"id"`
	Model   any      `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
	// Fingerprint is of the weights, or of the program, as the server likes.
	Fingerprint any `json:"system_fingerprint"`
	// Provider is who answered behind a router (OpenRouter).
	Provider any `json:"provider"`
	// Error is set in place of choices by servers that report faults with
	// status 200.
	Error any `json:"error"`
	// PromptFilter is Azure's account of what its filters made of the prompt.
	PromptFilter []struct {
		Results any `json:"content_filter_results"`
	} `json:"prompt_filter_results"`
	// Base is set in place of choices by MiniMax
	// (https://platform.minimax.io/docs/api-reference/errorcode).
	Base struct {
		Code    int    `json:"status_code"`
		Message string `json:"status_msg"`
	} `json:"base_resp"`
	// Action is what a guardrail of Bedrock did
	// (https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-inference-api.html).
	Action any `json:"amazon-bedrock-guardrailAction"`
}

type choice struct {
	FinishReason any `json:"finish_reason"`
	// NativeFinish is the word of the provider behind a router (OpenRouter).
	NativeFinish any      `json:"native_finish_reason"`
	Fields       specific `json:"provider_specific_fields"`
	Message      *message `json:"message"`
	// Messages are in the place of Message in Azure OpenAI on your data, and end with it
	// (https://learn.microsoft.com/azure/ai-foundry/openai/concepts/use-your-data).
	Messages []message `json:"messages"`
	// Text is the answer to a raw text.
	Text *string `json:"text"`
	// Results is Azure's account of what its filters made of the answer.
	Results  any `json:"content_filter_results"`
	Logprobs *struct {
		Content []place `json:"content"`
		// Tokens and Likeliest are those of an answer to a raw text.
		Tokens    []string             `json:"tokens"`
		Likeliest []map[string]float64 `json:"top_logprobs"`
	} `json:"logprobs"`
	Error any `json:"error"` // OpenRouter, when the model broke off
}

// specific is what LiteLLM passes on of the provider behind it.
type specific struct {
	NativeFinish any `json:"native_finish_reason"`
}

// place is a token of the output with the likeliest that could have stood there.
type place struct {
	Token string `json:"token"`
	Top   []struct {
		Token   string  `json:"token"`
		Logprob float64 `json:"logprob"`
	} `json:"top_logprobs"`
}

type message struct {
	Content any `json:"content"` // a string, a list of parts, null or left out
	Text    any `json:"text"`    // in its place, of servers of one's own
	Refusal any `json:"refusal"`
	// Thinking goes by one of two names.
	ReasoningContent any `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
	Reasoning        any `json:"reasoning"`         // OpenRouter, Groq, Ollama

	Fields specific `json:"provider_specific_fields"`
	// Calls and Call call tools.
	Calls any `json:"tool_calls"`
	Call  any `json:"function_call"`
}

// calls reports whether the message calls a tool.
func (m *message) calls() bool {
	list, _ := m.Calls.([]any)
	return len(list) > 0 || m.Call != nil
}

// said is the text of the message, and its thinking.
func (m *message) said() (answer, thinking string) { return textOf(cmp.Or(m.Content, m.Text)) }

// says reports whether a choice has a message that is not empty.
func (c choice) says() bool {
	if finish, _ := reply.End(str(c.FinishReason)); finish == model.Blocked || c.Error != nil {
		return true
	}
	if c.Message == nil {
		return c.Text != nil && *c.Text != ""
	}
	answer, thinking := c.Message.said()
	return answer+thinking != "" || str(c.Message.Refusal) != "" || c.Message.calls()
}

type usage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit          int `json:"prompt_cache_hit_tokens"` // DeepSeek
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// decode reads the body of a reply with status 2xx.
//
// A call that was paid for is not thrown away for a field of an unexpected
// type: such a field is left out. But without a choice there is no answer to
// keep, and unless a filter is named, the call is a Transient failure.
func decode(from wire.Reply) (model.Response, error) {
	var r body
	text := from.Body
	err := json.Unmarshal(text, &r)
	// Unmarshal reads on past a value of the wrong type and reports the first.
	_, wrongType := errors.AsType[*json.UnmarshalTypeError](err)
	if err != nil && !wrongType {
		text, r = unframed(untrusted.Finite(bytes.Clone(from.Body))), body{}
		err = json.Unmarshal(text, &r)
		_, wrongType = errors.AsType[*json.UnmarshalTypeError](err)
	}
	if err != nil && !wrongType {
		return model.Response{}, errors.New("the reply is not JSON")
	}
	for i, c := range r.Choices {
		if c.Message == nil && len(c.Messages) > 0 {
			r.Choices[i].Message = &c.Messages[len(c.Messages)-1]
		}
	}
	if len(r.Choices) == 0 || wrongType && !r.Choices[0].says() {
		return r.inOtherForm(from, text)
	}
	return r.response(from)
}

// response reads the choices.
func (r *body) response(from wire.Reply) (model.Response, error) {
	// Servers that make several choices may leave the first empty.
	c := r.Choices[max(0, slices.IndexFunc(r.Choices, func(c choice) bool { return c.says() }))]
	finish, block := r.finish(c)
	if block != nil {
		block.Categories = filtered(c.Results)
	}
	if block == nil {
		if block = reply.Fault(0, r.Base.Message, strconv.Itoa(r.Base.Code), str(r.Action)); block != nil { // MiniMax, Bedrock
			finish = model.Blocked
		}
	}
	if c.Error != nil {
		// The filter behind a router may be told of beside an error.
		if withheld, err := faultOf(c.Error).meaning(from); err == nil || block == nil {
			return withheld, err
		}
	}
	if c.Message == nil && c.Text != nil {
		c.Message = &message{Content: *c.Text}
	}
	if c.Message == nil {
		if block == nil {
			return model.Response{}, errors.New("the reply holds no message")
		}
		c.Message = &message{}
	}

	answer, thinking := c.Message.said()
	apart := textOnly(c.Message.ReasoningContent)
	if other := textOnly(c.Message.Reasoning); other != apart { // some servers fill both
		apart = join(apart, other)
	}
	thinking = join(apart, thinking)
	resp := model.Response{Text: answer, Thinking: thinking, Usage: r.Usage.model(), Model: str(r.Model), ID: str(r.ID), Fingerprint: str(r.Fingerprint)}
	if c.Logprobs != nil {
		for _, p := range c.Logprobs.Content[:min(len(c.Logprobs.Content), model.MostLogprobs)] {
			at := model.Place{Token: p.Token}
			for _, t := range p.Top {
				at.Top = append(at.Top, model.Token(t))
			}
			resp.Logprobs = append(resp.Logprobs, at)
		}
		for i, likeliest := range c.Logprobs.Likeliest[:min(len(c.Logprobs.Likeliest), len(c.Logprobs.Tokens), model.MostLogprobs)] {
			at := model.Place{Token: c.Logprobs.Tokens[i]}
			for _, token := range slices.Sorted(maps.Keys(likeliest)) {
				at.Top = append(at.Top, model.Token{Token: token, Logprob: likeliest[token]})
			}
			resp.Logprobs = append(resp.Logprobs, at)
		}
	}
	resp.Finish, resp.Block = finish, block
	switch {
	case block == nil && c.Message.calls():
		resp.Finish = model.Called
	case finish == model.Called && c.Message.Calls != nil && answer != "":
		resp.Finish = model.OtherFinish // it names a call and makes none
	}
	if refusal := str(c.Message.Refusal); refusal != "" {
		resp.Text = join(resp.Text, refusal)
		if block == nil || c.native() == "" {
			resp.Finish, resp.Block = model.Blocked, &model.Block{Kind: model.RefusalField, Detail: "refusal"}
		}
	}
	if word := c.broke(); word != "" && resp.Block == nil && resp.Text == "" && resp.Thinking == "" {
		return model.Response{}, &model.Error{Kind: model.Transient, Message: "the provider behind the server broke off: " + word}
	}
	answer, thinking = reply.Kept(resp.Text)
	resp.Text, resp.Thinking = answer, join(resp.Thinking, thinking)
	return resp, nil
}

// inOtherForm gives the meaning of a reply without a choice that is read.
func (r *body) inOtherForm(from wire.Reply, text []byte) (model.Response, error) {
	resp := model.Response{Finish: model.Blocked, Usage: r.Usage.model(), Model: str(r.Model), ID: str(r.ID)}
	if resp.Block = reply.Fault(0, r.Base.Message, strconv.Itoa(r.Base.Code)); resp.Block != nil { // MiniMax
		resp.Text = r.Base.Message
		return resp, nil
	}
	if r.Error != nil {
		return faultOf(r.Error).meaning(from)
	}
	for _, p := range r.PromptFilter {
		if categories := filtered(p.Results); len(categories) > 0 {
			resp.Block = &model.Block{Kind: model.PromptFilter, Detail: "content_filter: " + categories[0], Categories: categories}
			return resp, nil
		}
	}
	var whole any
	_ = json.Unmarshal(text, &whole)
	if resp.Block = faultIn(whole).blocked(0); resp.Block != nil {
		return resp, nil
	}
	if answer, _ := reply.Unwrap(string(text)); ownForm.Match(text) && !ofFault.Match(text) && answer != string(text) && reply.IsValue(answer) {
		resp.Text, resp.Finish = answer, model.OtherFinish
		if word := ended.FindSubmatch(text); word != nil {
			resp.Finish, resp.Block = reply.End(string(word[1]))
		}
		return resp, nil
	}
	if len(r.Choices) > 0 {
		return model.Response{}, errors.New("the reply does not have the form of a chat completion")
	}
	return model.Response{}, errors.New("the reply holds no choice")
}

var (
	// ownForm is in a reply in the form of another API: Anthropic's, Google's, OpenAI's
	// responses, Ollama's, text-generation-inference; or in which a chat completion is.
	ownForm = regexp.MustCompile(`(?i)^\s*"\w|"(?:content|candidates|output|outputs|output_text|generated_text|response|generations|results?|predictions|reply|answer|text|completion|text_output)\\?"\s*:\s*\\?[\["{]|"(?:choices|message)\\?"\s*:\s*[\[{]`)
	// ofFault is in a reply that tells of a fault, in whatever is around it.
	ofFault = regexp.MustCompile(`(?i)"error"\s*:\s*(?:\{\s*"|"\w)`)
	// ended has the word for how such an answer ended.
	ended = regexp.MustCompile(`(?i)"(?:stop_?reason|finish_?reason|done_reason)\\?"\s*:\s*\\?"([^"\\]{1,60})`)
)

// filtered are the categories for which a filter of Azure withheld something, in order
// (https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter).
func filtered(results any) (categories []string) {
	named, _ := results.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if one, ok := named[name].(map[string]any); ok && one["filtered"] == true && len(categories) < mostCategories {
			categories = append(categories, clip([]byte(name)))
		}
	}
	return categories
}

// mostCategories is more than any filter has.
const mostCategories = 20

// native is the finish reason in the word of the provider behind a router, empty where the
// server is none: OpenRouter
// (https://openrouter.ai/docs/api-reference/overview) has it beside its own, LiteLLM
// (https://docs.litellm.ai/docs/completion/output), where it differs from its own, among
// the provider's fields.
func (c choice) native() string {
	word := cmp.Or(str(c.NativeFinish), str(c.Fields.NativeFinish))
	if word == "" && c.Message != nil {
		word = str(c.Message.Fields.NativeFinish)
	}
	return word
}

// broke is the word of a router for a provider that broke off, empty for one that did not.
func (c choice) broke() string {
	for _, word := range []string{c.native(), str(c.FinishReason)} {
		if strings.Contains(strings.ToLower(word), "error") {
			return clip([]byte(word))
		}
	}
	return ""
}

// finish reads why a choice ended. What a router makes of it can hide that a filter of the
// provider behind it withheld the answer, or which one; the provider's own word says so.
func (r *body) finish(c choice) (model.Finish, *model.Block) {
	reason, native := str(c.FinishReason), c.native()
	finish, block := reply.End(clip([]byte(reason)))
	finish = cmp.Or(finish, model.OtherFinish)
	if native == "" {
		return finish, block
	}
	behind, why := reply.End(clip([]byte(native)))
	switch {
	case block == nil && why != nil:
		finish, block = behind, why
	case block != nil && !strings.Contains(strings.ToLower(reason), strings.ToLower(native)):
		block.Detail += ": " + clip([]byte(native))
	case finish != model.Length && behind == model.Length || behind == model.Broken || reason == "":
		finish = behind
	}
	if name := str(r.Provider); block != nil && name != "" {
		block.Detail += " (" + clip([]byte(name)) + ")"
	}
	return finish, block
}

// textOf reads a message's content: a string, nothing, or a list of parts, of
// which those of type "thinking" are kept apart (Mistral). Anything else is kept
// as its JSON, since it was paid for.
func textOf(content any) (answer, thinking string) {
	var parts []any
	switch v := content.(type) {
	case nil:
		return "", ""
	case string:
		return v, ""
	case []any:
		parts = v
	default:
		b, _ := json.Marshal(v)
		return string(b), ""
	}
	var a, t strings.Builder
	for _, p := range parts {
		part, ok := p.(map[string]any)
		if !ok {
			a.WriteString(str(p))
			continue
		}
		if kind := part["type"]; kind == "thinking" || kind == "reasoning" || part["thought"] == true {
			t.WriteString(textOnly(part["thinking"]) + str(part["text"]))
			continue
		}
		text, _ := part["text"].(map[string]any) // OpenAI's assistants
		a.WriteString(cmp.Or(str(part["text"]), str(text["value"])))
		a.WriteString(str(part["refusal"]))
	}
	return a.String(), t.String()
}

// textOnly is the text of a value that should be thinking in whole.
func textOnly(v any) string {
	answer, thinking := textOf(v)
	return join(thinking, answer)
}

func (u usage) model() model.Usage {
	return model.Usage{
		Input:     u.Prompt,
		Output:    u.Completion,
		Reasoning: u.CompletionDetails.Reasoning,
		Cached:    max(u.PromptDetails.Cached, u.CacheHit),
	}.OfTotal(u.Total)
}

// join puts the texts that are not empty on lines of their own.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n")
}

// str is v where it is a string, else "".
func str(v any) string {
	s, _ := v.(string)
	return s
}

// unframed is the body of a reply as JSON: without a byte order mark, and without the lines of
// a stream around it. The chunks of a stream that nobody asked for are joined.
func unframed(body []byte) []byte {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if at := bytes.LastIndexByte(body, '}') + 1; at > 0 && body[0] == '{' && json.Unmarshal(body[:at], new(any)) == nil {
		return body[:at]
	}
	joined := map[string]any{}
	var text, thinking strings.Builder
	var finish any
	chunks := 0
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:")))
		var chunk map[string]any
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &chunk) != nil {
			continue
		}
		chunks++
		maps.Copy(joined, chunk)
		choices, _ := chunk["choices"].([]any)
		if len(choices) > 0 {
			chunk, _ = choices[0].(map[string]any)
		}
		for _, name := range []string{"finish_reason", "done_reason", "stop_reason"} {
			if chunk[name] != nil {
				finish = chunk[name]
			}
		}
		for _, name := range []string{"delta", "message"} { // OpenAI's, Ollama's
			piece, _ := chunk[name].(map[string]any)
			answer, thought := textOf(piece["content"])
			text.WriteString(cmp.Or(answer, str(piece["text"]), str(chunk[name])))
			thinking.WriteString(cmp.Or(thought, str(piece["reasoning_content"]), str(piece["reasoning"]), str(piece["thinking"])))
		}
		text.WriteString(cmp.Or(str(chunk["text"]), str(chunk["response"])))
	}
	if chunks == 0 {
		return body
	}
	if delete(joined, "message"); text.Len()+thinking.Len() > 0 || finish != nil {
		joined["choices"] = []any{map[string]any{"finish_reason": finish, "message": map[string]any{"content": text.String(), "reasoning_content": thinking.String()}}}
	}
	whole, err := json.Marshal(joined)
	if err != nil {
		return body
	}
	return whole
}

// clip is the start of a body, for a message that model.Clip clips for good.
func clip(body []byte) string {
	return strings.ToValidUTF8(string(body[:min(len(body), 4096)]), "\uFFFD")
}
