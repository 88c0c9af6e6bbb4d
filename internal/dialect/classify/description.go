package classify

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

// Description says how a classifier of any kind is asked over HTTP, by POST with a
// JSON body, and where its reply has what. Places in the reply are JSON Pointers (RFC
// 6901), such as /results/0/score.
type Description struct {
	// Path is added to the server's address, with a query where it needs one.
	Path string `json:"path"`
	// Body is the request. {{text}} stands once in one of its texts, where the text to
	// be classified belongs, and {{model}} where the model's name does.
	Body any `json:"body"`
	// Scores is the place of an object of numbers by label, or of a list, in whose
	// entries Label and Score are then places. Without it Score is the place of one
	// number, and Label that of its label, empty for a number that always means harm.
	Scores string `json:"scores,omitempty"`
	Label  string `json:"label,omitempty"`
	Score  string `json:"score,omitempty"`
	// Flagged is the place of the classifier's own decision, true or 1 for harm.
	Flagged string `json:"flagged,omitempty"`
	// MaxScore is what numbers are divided by to make scores from 0 to 1; 0 means 1.
	MaxScore float64 `json:"max_score,omitempty"`
	// Harmful lists the labels that mean harm; none stands for the usual names.
	Harmful []string `json:"harmful,omitempty"`
	// Threshold is the score from which a text is harmful; nil leaves it to Flagged, or
	// is 0.5.
	Threshold *float64 `json:"threshold,omitempty"`
}

// textPlace stands for the text in a body, and modelPlace for the model's name.
const (
	textPlace  = "{{text}}"
	modelPlace = "{{model}}"
)

// Check says what is wrong with a description.
func (d *Description) Check() error {
	if u, err := url.Parse(d.Path); err != nil || !strings.HasPrefix(d.Path, "/") || u.Host != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not a path; write one such as /v1/classify", d.Path)
	}
	places := 0
	fillBody(d.Body, func(s string) string {
		places += strings.Count(s, textPlace)
		return s
	})
	if places != 1 {
		return fmt.Errorf("the body has %d places for the text; write {{text}} in one", places)
	}
	for _, p := range []string{d.Scores, d.Label, d.Score, d.Flagged} {
		if p != "" && !strings.HasPrefix(p, "/") {
			return fmt.Errorf("%q is not a place in a reply; write one such as /results/0/score", p)
		}
	}
	switch {
	case d.Scores == "" && d.Score == "" && d.Flagged == "":
		return errors.New("neither scores, score nor flagged says where the reply has its result")
	case len(d.Harmful) > 0 && !d.Labels():
		return errors.New("harmful lists labels, and neither scores nor label says where the reply has them")
	case d.Label != "" && d.Score == "":
		return errors.New("a label without a score; say where the score is")
	case !(d.MaxScore >= 0):
		return errors.New("max_score must be above 0")
	case d.Threshold != nil && !(*d.Threshold > 0 && *d.Threshold <= 1):
		return errors.New("the threshold must be above 0 and at most 1")
	}
	return nil
}

// Labels reports whether the reply has labels to choose from.
func (d *Description) Labels() bool { return d.Scores != "" || d.Label != "" }

// Identity is a short hash of what determines the replies as they are remembered:
// everything but Harmful and Threshold.
func (d *Description) Identity() string {
	asked := *d
	asked.Harmful, asked.Threshold = nil, nil
	b, err := json.Marshal(asked)
	if err != nil {
		panic("classify: a description that is not JSON: " + err.Error()) // it was read from YAML
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// encode writes the body for a text.
func (d *Description) encode(model, text string) ([]byte, error) {
	places := strings.NewReplacer(textPlace, text, modelPlace, model)
	return json.Marshal(fillBody(d.Body, places.Replace))
}

// fillBody copies a value, with every text in it put through fill.
func fillBody(v any, fill func(string) string) any {
	switch v := v.(type) {
	case string:
		return fill(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fillBody(v[i], fill)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[k] = fillBody(v[k], fill)
		}
		return out
	}
	return v
}

// decode reads the labels of a reply.
func (d *Description) decode(body []byte) ([]Label, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var reply any
	if err := dec.Decode(&reply); err != nil {
		return nil, errors.New("the reply is not JSON")
	}
	labels, err := d.labels(reply)
	if err != nil || d.Flagged == "" {
		return labels, err
	}
	v := at(reply, d.Flagged)
	flagged, ok := v.(bool)
	if n, isNumber := v.(json.Number); isNumber {
		flagged, ok = n == "1", n == "0" || n == "1"
	}
	if !ok {
		return nil, fmt.Errorf("the reply has no decision at %s", d.Flagged)
	}
	own := Label{Label: Decision, Score: "0", Flagged: &flagged}
	if flagged {
		own.Score = "1"
	}
	return append(labels, own), nil
}

// labels reads what Scores, Label and Score tell.
func (d *Description) labels(reply any) (labels []Label, err error) {
	if d.Scores == "" {
		if d.Score == "" {
			return nil, nil
		}
		l, err := d.entry(reply)
		return []Label{l}, err
	}
	switch v := at(reply, d.Scores).(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] == nil {
				continue
			}
			score, err := d.score(v[name])
			if err != nil {
				return nil, fmt.Errorf("the score of %q at %s %w", name, d.Scores, err)
			}
			labels = append(labels, Label{Label: name, Score: score})
		}
	case []any:
		for _, entry := range v {
			l, err := d.entry(entry)
			if err != nil {
				return nil, err
			}
			labels = append(labels, l)
		}
	default:
		return nil, fmt.Errorf("the reply has no scores at %s", d.Scores)
	}
	return labels, nil
}

// entry reads one label with its score.
func (d *Description) entry(v any) (Label, error) {
	l := Label{Label: "harm"}
	if d.Label != "" {
		name := at(v, d.Label)
		var ok bool
		if l.Label, ok = name.(string); !ok {
			return l, fmt.Errorf("the reply has no label at %s", d.Label)
		}
	}
	number := at(v, d.Score)
	var err error
	if l.Score, err = d.score(number); err != nil {
		return l, fmt.Errorf("the score at %s %w", d.Score, err)
	}
	return l, nil
}

// score reads a number, from 0 to 1 once it is divided by MaxScore.
func (d *Description) score(v any) (json.Number, error) {
	n, ok := v.(json.Number)
	if !ok {
		return "", errors.New("is no number")
	}
	if d.MaxScore == 0 || d.MaxScore == 1 {
		return n, nil
	}
	f, err := n.Float64()
	return json.Number(strconv.FormatFloat(f/d.MaxScore, 'g', -1, 64)), err
}

// at finds the value at a JSON Pointer, nil where there is none.
func at(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for key := range strings.SplitSeq(pointer[1:], "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) || strconv.Itoa(i) != key {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// moderation is the reply of OpenAI's moderation endpoint.
type moderation struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Results []struct {
		Flagged    *bool                   `json:"flagged"`
		Categories map[string]*bool        `json:"categories"`
		Scores     map[string]*json.Number `json:"category_scores"`
	} `json:"results"`
}

// decodeModeration reads the categories of a text: a label for each with its score
// and whether it is flagged.
func decodeModeration(body []byte) (model.Response, []Label, error) {
	var reply moderation
	if err := json.Unmarshal(body, &reply); err != nil || len(reply.Results) != 1 || reply.Results[0].Flagged == nil {
		return model.Response{}, nil, errors.New("the reply is not the moderation of one text")
	}
	result := reply.Results[0]
	var labels []Label
	named := false
	for _, name := range slices.Sorted(maps.Keys(result.Scores)) {
		if result.Scores[name] == nil {
			continue
		}
		flagged := *cmp.Or(result.Categories[name], new(bool))
		named = named || flagged
		labels = append(labels, Label{Label: name, Score: *result.Scores[name], Flagged: &flagged})
	}
	if *result.Flagged && !named {
		labels = append(labels, Label{Label: Decision, Score: "1", Flagged: result.Flagged})
	}
	return model.Response{ID: reply.ID, Model: reply.Model, Finish: model.Stop}, labels, nil
}
