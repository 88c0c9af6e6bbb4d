package classify

import (
	"encoding/json"
	"strings"
	"testing"
)

// The places of a reply, by the forms that several services document: one score, one
// label with its score, an object of scores, a list of findings, a decision of their
// own, grades from 0 to 6.
func TestDescription(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		d     Description
		reply string
		want  string // the labels as JSON, "" for an error
	}{
		"one score": {
			Description{Score: "/attributeScores/TOXICITY/summaryScore/value"},
			`{"attributeScores":{"TOXICITY":{"summaryScore":{"value":0.92,"type":"PROBABILITY"}}},"languages":["en"]}`,
			`[{"label":"harm","score":0.92}]`,
		},
		"a label with its score":         {Description{Label: "/label", Score: "/score"}, `{"label":"safe","score":0.98}`, `[{"label":"safe","score":0.98}]`},
		"an object of scores":            {Description{Scores: "/scores"}, `{"scores":{"hate":0.1,"violence":0.7,"new":null}}`, `[{"label":"hate","score":0.1},{"label":"violence","score":0.7}]`},
		"a list of grades":               {Description{Scores: "/categoriesAnalysis", Label: "/category", Score: "/severity", MaxScore: 6}, `{"categoriesAnalysis":[{"category":"Hate","severity":3},{"category":"Violence","severity":0}]}`, `[{"label":"Hate","score":0.5},{"label":"Violence","score":0}]`},
		"a decision alone":               {Description{Flagged: "/results/0/flagged"}, `{"results":[{"flagged":true}]}`, `[{"label":"flagged","score":1,"flagged":true}]`},
		"a decision as a number":         {Description{Flagged: "/violation"}, `{"violation":0}`, `[{"label":"flagged","score":0,"flagged":false}]`},
		"a decision beside scores":       {Description{Flagged: "/action", Scores: "/s"}, `{"action":true,"s":{"hate":0.3,"a~b/c":0.2}}`, `[{"label":"a~b/c","score":0.2},{"label":"hate","score":0.3},{"label":"flagged","score":1,"flagged":true}]`},
		"a key with a slash":             {Description{Score: "/a~1b/~0c"}, `{"a/b":{"~c":0.5}}`, `[{"label":"harm","score":0.5}]`},
		"a decision that is a word":      {Description{Flagged: "/v"}, `{"v":"yes"}`, ""},
		"a decision that is not there":   {Description{Flagged: "/v"}, `{}`, ""},
		"a score that is a text":         {Description{Score: "/v"}, `{"v":"0.5"}`, ""},
		"a score that is not there":      {Description{Score: "/v/1"}, `{"v":[0.5]}`, ""},
		"a label that is a number":       {Description{Label: "/l", Score: "/v"}, `{"v":0.5,"l":1}`, ""},
		"scores that are a number":       {Description{Scores: "/v"}, `{"v":0.5}`, ""},
		"no JSON":                        {Description{Score: "/v"}, `<html>`, ""},
		"an index with a leading zero":   {Description{Score: "/00"}, `[0.5]`, ""},
		"a number as the whole of reply": {Description{Scores: "/s", Label: "/l", Score: "/v"}, `{"s":[3]}`, ""},
	} {
		labels, err := tt.d.decode([]byte(tt.reply))
		got, _ := json.Marshal(labels)
		if (err == nil) != (tt.want != "") || err == nil && string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
	}
}

func TestDescriptionFaults(t *testing.T) {
	t.Parallel()
	good := func() Description {
		return Description{Path: "/v1/check?version=2", Body: map[string]any{"text": "{{text}}"}, Score: "/score"}
	}
	d := good()
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	for problem, spoil := range map[string]func(d *Description){
		"is not a path":             func(d *Description) { d.Path = "http://elsewhere/check" },
		"0 places":                  func(d *Description) { d.Body = map[string]any{"text": "{text}"} },
		"2 places":                  func(d *Description) { d.Body = []any{"{{text}}", "{{text}}"} },
		"not a place in a reply":    func(d *Description) { d.Score = "score" },
		"neither scores, score":     func(d *Description) { d.Score = "" },
		"a label without a score":   func(d *Description) { d.Score, d.Label, d.Flagged = "", "/label", "/flagged" },
		"harmful lists labels":      func(d *Description) { d.Harmful = []string{"attack"} },
		"max_score":                 func(d *Description) { d.MaxScore = -1 },
		"the threshold must be abo": func(d *Description) { d.Threshold = &zero },
	} {
		d := good()
		spoil(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%+v: %v, want %q", d, err, problem)
		}
	}
	other := good()
	other.Body = map[string]any{"input": "{{text}}"}
	half := 0.5
	same := good()
	same.Threshold, same.Harmful = &half, []string{"bad"}
	if d.Identity() != same.Identity() || d.Identity() == other.Identity() {
		t.Error("the identity follows the threshold, or does not follow the body")
	}
	// What the text holds is no part of the template.
	if b, err := d.encode("m", `"}{{model}}{{text}}`); err != nil || string(b) != `{"text":"\"}{{model}}{{text}}"}` {
		t.Errorf("the body is %s, %v", b, err)
	}
}

// The reply of the API reference, and edges of its form.
func TestModeration(t *testing.T) {
	t.Parallel()
	const reference = `{"id":"modr-0d9740456c391e43c445bf0f010940c7","model":"omni-moderation-latest","results":[{"flagged":true,` +
		`"categories":{"harassment":true,"harassment/threatening":true,"sexual":false},` +
		`"category_scores":{"harassment":0.8189693396524255,"harassment/threatening":0.804985420696006,"sexual":1.573112165348997e-6},` +
		`"category_applied_input_types":{"harassment":["text"],"harassment/threatening":["text"],"sexual":["text"]}}]}`
	for name, tt := range map[string]struct{ reply, want string }{
		"the reference":       {reference, `[{"label":"harassment","score":0.8189693396524255,"flagged":true},{"label":"harassment/threatening","score":0.804985420696006,"flagged":true},{"label":"sexual","score":1.573112165348997e-6,"flagged":false}]`},
		"nothing flagged":     {`{"results":[{"flagged":false,"categories":{"hate":false},"category_scores":{"hate":0.1}}]}`, `[{"label":"hate","score":0.1,"flagged":false}]`},
		"a category unknown":  {`{"results":[{"flagged":false,"categories":{"hate":false,"illicit":null},"category_scores":{"hate":0.1,"illicit":null}}]}`, `[{"label":"hate","score":0.1,"flagged":false}]`},
		"flagged for no name": {`{"results":[{"flagged":true,"categories":{"hate":false},"category_scores":{"hate":0.1}}]}`, `[{"label":"hate","score":0.1,"flagged":false},{"label":"flagged","score":1,"flagged":true}]`},
		"no decision":         {`{"results":[{"categories":{},"category_scores":{}}]}`, ""},
		"two results":         {`{"results":[{"flagged":true},{"flagged":false}]}`, ""},
		"a chat completion":   {`{"choices":[{"message":{"content":"safe"}}]}`, ""},
	} {
		_, labels, err := decodeModeration([]byte(tt.reply))
		got, _ := json.Marshal(labels)
		if (err == nil) != (tt.want != "") || err == nil && string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
	}
}

func FuzzDescription(f *testing.F) {
	f.Add(`{"a":{"b":[0.5,{"label":"x","score":1}]}}`, "/a/b", "/label", "/score", "/flagged")
	f.Add(`[true]`, "", "", "", "/0")
	f.Fuzz(func(t *testing.T, reply, scores, label, score, flagged string) {
		d := Description{Path: "/", Body: "{{text}}", Scores: scores, Label: label, Score: score, Flagged: flagged}
		if d.Check() != nil {
			return
		}
		labels, err := d.decode([]byte(reply))
		if err == nil {
			if _, err := json.Marshal(labels); err != nil {
				t.Errorf("labels that are not JSON: %v", err)
			}
		}
	})
}
