package classify

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// Route is how a server is asked.
type Route string

// The routes.
const (
	// Predict is the route of text-embeddings-inference. Its server has one model,
	// and is not told which. What is too long for the model is cut at its end.
	Predict Route = "/predict"
	// Classify is the route of vLLM. What is too long for the model is an error.
	Classify Route = "/classify"
	// Moderations is the route of OpenAI's moderation endpoint.
	Moderations Route = "/moderations"
)

// Kind is how a server's classifier is asked.
type Kind struct {
	Route Route
	// Description says how one is asked that has none of the routes; it must pass its Check.
	Description *Description
}

// New makes a model.Model that asks one server for the labels of a text. A request that is
// not one user message is Invalid. It opens no connection. BaseURL is the server's root, such
// as "http://127.0.0.1:8080"; the route is added to it.
func New(cfg wire.ClientConfig, k Kind) *wire.Caller {
	route := string(k.Route)
	if k.Description != nil {
		route = k.Description.Path
	}
	address := strings.TrimRight(cfg.BaseURL, "/") + route
	return wire.NewCaller(cfg, wire.Dialect{
		Address: func(*model.Request) (string, error) { return address, nil },
		Encode:  k.encode, Read: k.read,
	})
}

// Label is what a classifier calls a text.
type Label struct {
	Label string `json:"label"`
	// Score is the server's own number, as it wrote it.
	Score json.Number `json:"score"`
	// Flagged is the server's own decision on the label; nil where it makes none.
	Flagged *bool `json:"flagged,omitempty"`
}

// Decision is the label of a server's decision on the whole text, which is Flagged; its
// score is 1 for harm and 0 for none, and no measure.
const Decision = "flagged"

// read gives the meaning of a reply. One of another form comes from another server, or was
// cut.
func (k Kind) read(reply wire.Reply) (model.Response, error) {
	if !reply.OK() {
		return model.Response{}, refused(reply)
	}
	return k.decode(reply.Body)
}

// encode writes the body of the call for r.
func (k Kind) encode(r model.Request) ([]byte, error) {
	if len(r.Messages) != 1 || r.Messages[0].Role != orbench.User {
		return nil, fmt.Errorf("a classifier takes one text, but this request has %d messages; only judges (classify:) and guards (guard:classifier) ask classifiers", len(r.Messages))
	}
	text := r.Messages[0].Content
	if k.Description != nil {
		return k.Description.encode(r.Model, text)
	}
	if k.Route == Predict {
		return json.Marshal(struct {
			Inputs    string `json:"inputs"`
			Truncate  bool   `json:"truncate"`
			RawScores bool   `json:"raw_scores"`
		}{text, true, false})
	}
	return json.Marshal(struct {
		Model string `json:"model"`
		Input string `json:"input"`
	}{r.Model, text})
}

// decode reads the body of a reply with status 2xx.
func (k Kind) decode(body []byte) (model.Response, error) {
	response := model.Response{Finish: model.Stop}
	var labels []Label
	var err error
	switch {
	case k.Description != nil:
		labels, err = k.Description.decode(body)
	case k.Route == Moderations:
		response, labels, err = decodeModeration(body)
	case k.Route == Predict:
		if json.Unmarshal(body, &labels) != nil {
			err = errors.New("the reply is not a list of labels")
		}
	default:
		var reply struct {
			ID    string `json:"id"`
			Model string `json:"model"`
			Data  []struct {
				Label *string       `json:"label"`
				Probs []json.Number `json:"probs"`
			} `json:"data"`
			Usage struct {
				Prompt int `json:"prompt_tokens"`
				Total  int `json:"total_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(body, &reply); err != nil || len(reply.Data) != 1 {
			return response, errors.New("the reply is not the classification of one text")
		}
		response.ID, response.Model, response.Usage.Input = reply.ID, reply.Model, model.Tokens(max(reply.Usage.Prompt, reply.Usage.Total))
		// The label is that of the highest probability. A model without names for
		// its labels has null there.
		if d := reply.Data[0]; d.Label != nil && len(d.Probs) > 0 {
			labels = []Label{{Label: *d.Label, Score: slices.MaxFunc(d.Probs, byValue)}}
		} else if len(d.Probs) > 0 {
			for i, p := range d.Probs {
				labels = append(labels, Label{Label: fmt.Sprintf("LABEL_%d", i), Score: p})
			}
		}
	}
	if err != nil {
		return response, err
	}
	if len(labels) == 0 {
		return response, errors.New("the reply holds no label")
	}
	slices.SortStableFunc(labels, func(a, b Label) int { return byValue(b.Score, a.Score) })
	text, err := json.Marshal(labels)
	response.Text = string(text)
	return response, err
}

// byValue compares two numbers as they were written.
func byValue(a, b json.Number) int {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return cmp.Compare(x, y)
}

// refused is the error for a reply with another status. TEI writes
// {"error":"…","error_type":"…"}, OpenAI {"error":{"message":"…","code":"…"}}, vLLM
// {"error":{"message":"…"}} or, before 0.10, {"message":"…"}.
func refused(reply wire.Reply) error {
	message, codes := wire.Said(reply.Body)
	e := &model.Error{Kind: model.KindOfStatus(reply.Status), Message: message}
	if reply.Status == http.StatusFailedDependency {
		// TEI's reply to every text where its model is no classifier.
		e.Kind = model.NotFound
	}
	if slices.Contains(codes, "insufficient_quota") {
		// OpenAI's account without credit has the status of one that asks too fast.
		e.Kind = model.Quota
	}
	if wire.Limited(message, codes...) {
		e.Kind = model.Limited
	}
	return e
}
