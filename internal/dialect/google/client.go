package google

import (
	"cmp"
	"errors"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// ClientConfig says where calls are sent. BaseURL is the API's root, such as
// "https://generativelanguage.googleapis.com"; without a version at its end ("/v1beta" or
// "/v1") it gets "/v1beta". Key may be empty for proxies that add it themselves, and
// AuthHeader is the API's own.
type ClientConfig = wire.ClientConfig

// New makes a model.Model that asks Gemini. It opens no connection.
func New(cfg ClientConfig) *wire.Caller {
	cfg.AuthHeader = "X-Goog-Api-Key"
	return wire.NewCaller(cfg, wire.Dialect{
		Address: func(r *model.Request) (string, error) { return address(cfg.BaseURL, r.Model) },
		Encode:  encode, Read: read,
	})
}

// address is the route of a model below an API's root, which the API names models/NAME, or
// tunedModels/NAME. The name cannot lead elsewhere.
func address(root, name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "?&#%") || strings.Contains(name, "..") {
		return "", errors.New("this is not the name of a model")
	}
	root = strings.TrimRight(root, "/")
	if !strings.HasSuffix(root, "/v1beta") && !strings.HasSuffix(root, "/v1") {
		root += "/v1beta"
	}
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	return root + "/" + name + ":generateContent", nil
}

// read gives the meaning of a reply.
func read(from wire.Reply) (model.Response, error) {
	if from.OK() {
		return decode(from.Body)
	}
	f := faultOf(from.Body)
	kind, wait := f.kind(model.KindOfStatus(from.Status))
	if block := reply.Fault(from.Status, f.Message); block != nil && kind != model.Limited && kind != model.RateLimited {
		return model.Response{Text: from.Clip(f.Message), Finish: model.Blocked, Block: block}, nil
	}
	return model.Response{}, &model.Error{Kind: kind, Message: f.Message, RetryAfter: wait}
}

// body is the part of a reply that is read.
type body struct {
	Candidates []*struct {
		Content      *content `json:"content"`
		FinishReason string   `json:"finishReason"`
		Ratings      any      `json:"safetyRatings"`
	} `json:"candidates"`
	PromptFeedback *struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
		Ratings            any    `json:"safetyRatings"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Total      int `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string `json:"modelVersion"`
	ResponseID   string `json:"responseId"`
}

var (
	// errUnreadable is a reply with status 200 that has another form.
	errUnreadable = errors.New("the reply cannot be read")
	// errNoReply is a reply with status 200 that says nothing at all. A real one
	// without candidates names at least the model, the usage or a number.
	errNoReply = errors.New("the reply holds neither a candidate nor a reason for having none")
)

// decode reads the body of a reply with status 2xx.
func decode(text []byte) (model.Response, error) {
	var g *body
	if err := json.Unmarshal(text, &g); err != nil {
		return model.Response{}, errUnreadable
	}
	if g == nil {
		return model.Response{}, errNoReply
	}
	resp := model.Response{Model: g.ModelVersion, ID: g.ResponseID}
	if u := g.Usage; u != nil {
		resp.Usage = model.Usage{
			Input:  u.Prompt,
			Cached: u.Cached,
			// The API counts thoughts apart from the answer, and bills both as output.
			Output:    model.Tokens(u.Candidates) + model.Tokens(u.Thoughts),
			Reasoning: u.Thoughts,
		}.OfTotal(u.Total)
	}
	block := func(kind model.BlockKind, detail string, ratings any) {
		resp.Finish, resp.Block = model.Blocked, &model.Block{Kind: kind, Detail: detail, Categories: blocking(ratings)}
	}
	if f := g.PromptFeedback; f != nil && f.BlockReason != "" && len(g.Candidates) == 0 {
		block(model.PromptFilter, f.BlockReason, f.Ratings)
		resp.Text = f.BlockReasonMessage
		return resp, nil
	}
	if len(g.Candidates) == 0 || g.Candidates[0] == nil {
		if g.Usage == nil && g.ModelVersion == "" && g.ResponseID == "" && g.PromptFeedback == nil {
			return model.Response{}, errNoReply
		}
		block(model.NoCandidate, "no candidates", nil)
		return resp, nil
	}
	c := g.Candidates[0]
	if c.Content == nil && c.FinishReason == "" {
		return model.Response{}, errNoReply
	}
	resp.Text, resp.Thinking = texts(c.Content)
	if resp.Finish, resp.Block = reply.End(c.FinishReason); resp.Block != nil {
		resp.Block.Categories = blocking(c.Ratings)
	}
	resp.Finish = cmp.Or(resp.Finish, model.OtherFinish)
	return resp, nil
}

// blocking are the categories of the ratings for which something was withheld
// (https://ai.google.dev/api/generate-content#SafetyRating).
func blocking(ratings any) (categories []string) {
	const most = 20 // more than there are
	list, _ := ratings.([]any)
	for _, r := range list {
		rating, _ := r.(map[string]any)
		if name, ok := rating["category"].(string); ok && rating["blocked"] == true && len(categories) < most {
			categories = append(categories, name)
		}
	}
	return categories
}

// texts parts a candidate's text from its thoughts.
func texts(c *content) (answer, thinking string) {
	if c == nil {
		return "", ""
	}
	var a, t strings.Builder
	for _, p := range c.Parts {
		if p.Thought {
			t.WriteString(p.Text)
		} else {
			a.WriteString(p.Text)
		}
	}
	answer, thought := reply.Kept(a.String())
	return answer, strings.TrimSpace(t.String() + "\n" + thought)
}
