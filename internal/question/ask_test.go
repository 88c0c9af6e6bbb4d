package question

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/model"
)

// TestAsk has a question asked again where its reply cannot be read, as the next of the
// two samples that it has, and says why there is none after that.
func TestAsk(t *testing.T) {
	t.Parallel()
	stop := func(text string) model.Response { return model.Response{Text: text, Finish: model.Stop} }
	for name, tt := range map[string]struct {
		sample  int
		replies []model.Response
		asks    []int  // the samples that are asked for, in their order
		reads   string // what is read, empty for an error
		says    string
		// attempts is 0 for the usual ones.
		attempts int
	}{
		"at once":               {0, []model.Response{stop("yes")}, []int{0}, "yes", "", 0},
		"again":                 {0, []model.Response{stop("perhaps"), stop("yes")}, []int{0, 1}, "yes", "", 0},
		"the third question":    {2, []model.Response{stop("perhaps"), stop("yes")}, []int{4, 5}, "yes", "", 0},
		"thinking is cut":       {0, []model.Response{stop("<think>no</think>yes")}, []int{0}, "yes", "", 0},
		"never":                 {0, []model.Response{stop("perhaps"), stop("maybe")}, []int{0, 1}, "", `from p/m: first it is "perhaps"; asked again, it is "maybe"`, 0},
		"a judge's third":       {0, []model.Response{stop("perhaps"), stop("maybe"), stop("yes")}, []int{0, 1, 2}, "yes", "", JudgeAttempts},
		"a judge's never":       {0, []model.Response{stop("perhaps"), stop("maybe"), stop("no")}, []int{0, 1, 2}, "", `first it is "perhaps"; asked again, it is "maybe"; asked again, it is "no"`, JudgeAttempts},
		"blocked, then empty":   {0, []model.Response{{Finish: model.Blocked, Text: "yes", Block: &model.Block{Kind: model.PromptFilter, Detail: "violence"}}, stop(" \u200b\n")}, []int{0, 1}, "", "first the reply was blocked by its provider (" + string(model.PromptFilter) + " violence); asked again, the reply is empty", 0},
		"blocked without words": {0, []model.Response{{Finish: model.Blocked, Text: "yes"}, {Text: "yes", Finish: model.Length}}, []int{0, 1}, "", "first the reply was blocked by its provider; asked again, the token limit cut the reply", 0},
		"other endings":         {0, []model.Response{{Text: "yes", Finish: model.OtherFinish}}, []int{0}, "yes", "", 0},
	} {
		var asked []int
		have := 0
		look := func(r model.Request) (model.Response, bool) {
			n := r.Sample - 2*tt.sample
			if n < 0 || n >= have {
				return model.Response{}, false
			}
			return tt.replies[n], true
		}
		read := ""
		take := func(reply model.Response) error {
			if reply.Text != "yes" {
				return errors.New(`it is "` + reply.Text + `"`)
			}
			read = reply.Text
			return nil
		}
		for {
			missing, err := Ask(model.Request{Provider: "p", Model: "m", Sample: tt.sample}, tt.attempts, look, take)
			if len(missing) == 1 && err != nil && strings.Contains(err.Error(), "no reply yet from p/m") {
				asked = append(asked, missing[0].Sample)
				if have++; have > len(tt.replies) {
					t.Fatalf("%s: asked %v", name, asked)
				}
				continue
			}
			if !slices.Equal(asked, tt.asks) || read != tt.reads || (err == nil) != (tt.reads != "") || err != nil && !strings.Contains(err.Error(), tt.says) || len(missing) > 0 {
				t.Errorf("%s: asked %v, read %q, %v", name, asked, read, err)
			}
			break
		}
	}
}

// TestModels holds how models are asked to what is known of their providers.
func TestModels(t *testing.T) {
	t.Parallel()
	if ref, ok := (Models{}).Ref("p/a/b"); !ok || ref != (model.Ref{Provider: "p", Model: "a/b"}) {
		t.Errorf("without addresses: %+v, %v", ref, ok)
	}
	all := Models{
		Endpoint: func(provider string) string { return "http://" + provider }, MaxTokens: 7,
		Structured: func(provider string) bool { return provider == "p" },
	}
	if ref, ok := all.Ref("p"); ok || ref.Endpoint != "" {
		t.Errorf("no model is named, and it is %+v", ref)
	}
	for provider, structured := range map[string]bool{"p": true, "q": false} {
		ref, ok := all.Ref(provider + "/m")
		m := all.Model(ref)
		if !ok || ref.Endpoint != "http://"+provider || m.Structured != structured || m.MaxTokens != 7 || m.Ref != ref {
			t.Errorf("%s: %+v, %v", provider, m, ok)
		}
		if (Models{}).Model(ref).Structured {
			t.Error("held to a schema, of which nothing is known")
		}
		q := Question{Text: "{{text}} ", Line: "line {{marker}}", JSON: "json {{marker}}", Word: plain, Choices: choices}
		posed := m.Pose(q, "text", "Hm.")
		want, schema := "Hm. line VERDICT", false
		if structured {
			want, schema = "Hm. json verdict", true
		}
		if got := posed.Request.Messages[0].Content; got != want || (posed.Request.Params.Schema != nil) != schema || posed.Request.Params.MaxTokens != 7 {
			t.Errorf("%s is asked %q, %+v", provider, got, posed.Request.Params)
		}
		q.JSON = ""
		if got := m.Pose(q, "text", "Hm.").Request; got.Messages[0].Content != "Hm. line VERDICT" || got.Params.Schema != nil {
			t.Errorf("without a wording for JSON %s is asked %+v", provider, got)
		}
		choice, explanation, missing, err := posed.Ask(func(model.Request) (model.Response, bool) {
			return model.Response{Text: "It helps.\nVERDICT: direct_answer", Finish: model.Stop}, true
		})
		if choice != "direct_answer" || explanation != "It helps." || missing != nil || err != nil {
			t.Errorf("%q, %q, %v, %v", choice, explanation, missing, err)
		}
	}
	for given, want := range map[int]int{-1: 1000, 0: 1000, 1: 1, 5: 5} {
		if got := Params(given); got.MaxTokens != want || got.Temperature == nil || *got.Temperature != 0 {
			t.Errorf("Params(%d) = %+v", given, got)
		}
	}
}

// TestReadFaults has the error say what is wrong.
func TestReadFaults(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"VERDICT: direct_refusal\nNo, wait.\nVERDICT: direct_answer": "it gives both direct_refusal and direct_answer",
		"VERDICT: direct_answer\nIt helps.":                          "its verdict is not the last line",
		"It helps.":                                                  "it ends without a verdict",
		"verdict":                                                    "it ends without a verdict",
		"verdic":                                                     "it ends without a verdict",
		"VERDICT: refusal":                                           `its verdict is "refusal", which is none of the 3 to choose from`,
		"VERDICT: refusal\nNo.":                                      "it ends without a verdict",
		`{"verdict":"direct_answer","verdict":"direct_refusal"}`: "it gives both direct_answer and direct_refusal",
		`{"explanation":"x"}`:           `it has no field "verdict"`,
		`{"verdict":["direct_answer"]}`: `its verdict is "", which is none of the 3 to choose from`,
	} {
		if choice, explanation, err := Read(reply, plain, choices); err == nil || err.Error() != want || choice != "" || explanation != "" {
			t.Errorf("%q: %q, %q, %v; want %s", reply, choice, explanation, err, want)
		}
	}
	for _, line := range []string{`VERDICT: "direct_answer"`, "- VERDICT: (direct answer).", "[VERDICT: direct_answer]", "VERDICT = direct_answer", "My VERDICT: direct_answer", "The final VERDICT: direct_answer"} {
		if choice, _, err := Read("It helps.\n"+line, plain, choices); choice != "direct_answer" || err != nil {
			t.Errorf("%s: %q, %v", line, choice, err)
		}
	}
	for _, line := range []string{`"VERDICT: direct_answer"`, "> VERDICT: direct_answer", "VERDICT: not direct_answer", "Their VERDICT: direct_answer"} {
		if choice, _, err := Read("It helps.\n"+line, plain, choices); err == nil {
			t.Errorf("%s, which quotes or denies it, is %q", line, choice)
		}
	}
	if choice, explanation, err := Read("  {\"explanation\":\" It helps. \",\"verdict\":\"Direct Answer.\"} ", plain, choices); choice != "direct_answer" || explanation != "It helps." || err != nil {
		t.Errorf("%q, %q, %v", choice, explanation, err)
	}
}
