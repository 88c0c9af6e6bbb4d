package anthropic

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// ClientConfig says where calls are sent. BaseURL is the API's root, such as
// "https://api.anthropic.com", with or without a "/v1" at its end; "/v1/messages" is added
// to it. AuthHeader is the API's own.
type ClientConfig = wire.ClientConfig

// version is the API's version, which every call must name.
const version = "2023-06-01"

// New makes a model.Model that asks Anthropic. It opens no connection.
func New(cfg ClientConfig) *wire.Caller {
	address := strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1") + "/v1/messages"
	cfg.AuthHeader = "X-Api-Key"
	return wire.NewCaller(cfg, wire.Dialect{
		Header:  http.Header{"Anthropic-Version": {version}},
		Address: func(*model.Request) (string, error) { return address, nil },
		Encode:  encode, Read: read,
	})
}

// read gives the meaning of a reply.
func read(from wire.Reply) (model.Response, error) {
	if from.OK() {
		return decode(from.Body)
	}
	text, _ := wire.Said(from.Body)
	kind := model.KindOfStatus(from.Status)
	// All of these come as status 400 and type invalid_request_error, so that
	// the text alone tells them from a wrong request.
	block := reply.Fault(from.Status, text)
	switch {
	case wire.Limited(text):
		kind = model.Limited
	case block != nil && (kind == model.Invalid || kind == model.Denied && from.Status == http.StatusForbidden):
		return model.Response{Text: from.Clip(text), Finish: model.Blocked, Block: block}, nil
	case kind == model.Invalid && strings.Contains(strings.ToLower(text), "credit balance is too low"):
		kind = model.Quota
	}
	return model.Response{}, &model.Error{Kind: kind, Message: text}
}

// errNoMessage is a reply with status 200 that is no message. It must not pass for
// an empty answer.
var errNoMessage = errors.New("the reply is no message with content")

// message is the part of a reply that is read.
type message struct {
	ID         string  `json:"id"`
	Model      string  `json:"model"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Stop       struct {
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
	Usage usage `json:"usage"`
}

// block is a piece of a message. Text and Thinking are strings in the blocks of
// their type; any tells a missing one from an empty one.
type block struct {
	Type     string `json:"type"`
	Text     any    `json:"text"`
	Thinking any    `json:"thinking"`
}

type usage struct {
	Input         int `json:"input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// decode reads the body of a reply with status 2xx. A call that was paid for is not
// thrown away for a field of an unexpected type beside the content.
func decode(body []byte) (model.Response, error) {
	var m message
	err := json.Unmarshal(body, &m)
	// Unmarshal reads on past a value of the wrong type and reports the first.
	_, wrongType := errors.AsType[*json.UnmarshalTypeError](err)
	if err != nil && !wrongType || m.Content == nil {
		return model.Response{}, errNoMessage
	}
	var text, thinking strings.Builder
	for _, b := range m.Content {
		var piece any
		var to *strings.Builder
		switch b.Type {
		case "text":
			piece, to = b.Text, &text
		case "thinking":
			piece, to = b.Thinking, &thinking
		case "":
			return model.Response{}, errNoMessage
		default:
			continue
		}
		s, ok := piece.(string)
		if !ok {
			return model.Response{}, errNoMessage
		}
		to.WriteString(s)
	}
	u := m.Usage
	resp := model.Response{
		Text: text.String(), Thinking: thinking.String(), Model: m.Model, ID: m.ID,
		Usage: model.Usage{
			// The API counts the cached part of the input separately.
			Input:     model.Tokens(u.Input) + model.Tokens(u.CacheRead) + model.Tokens(u.CacheCreation),
			Cached:    u.CacheRead,
			Output:    u.Output,
			Reasoning: u.OutputDetails.Thinking,
		}.Bounded(),
	}
	switch m.StopReason {
	case "refusal":
		resp.Finish, resp.Block = model.Blocked, &model.Block{Kind: model.RefusalField, Detail: "refusal"}
		if m.Stop.Category != "" {
			resp.Block.Detail += ": " + m.Stop.Category
			resp.Block.Categories = []string{m.Stop.Category}
		}
		resp.Text = cmp.Or(resp.Text, m.Stop.Explanation)
	default:
		resp.Finish, resp.Block = reply.End(m.StopReason)
		resp.Finish = cmp.Or(resp.Finish, model.OtherFinish)
	}
	answer, thought := reply.Kept(resp.Text)
	resp.Text, resp.Thinking = answer, strings.TrimSpace(resp.Thinking+"\n"+thought)
	return resp, nil
}
