package rows

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// instance is a line of instances of the schema Every Eval Ever.
type instance struct {
	Evaluation string `json:"evaluation_id"`
	Model      string `json:"model_id"`
	Name       string `json:"evaluation_name"`
	Result     string `json:"evaluation_result_id"`
	Sample     string `json:"sample_id"`
	Input      struct {
		Raw jsontext.Value `json:"raw"`
	} `json:"input"`
	Output *struct {
		Raw      jsontext.Value `json:"raw"`
		Thinking jsontext.Value `json:"reasoning_trace"`
	} `json:"output"`
	Messages jsontext.Value            `json:"messages"`
	Error    jsontext.Value            `json:"error"`
	Usage    jsontext.Value            `json:"token_usage"`
	Metadata map[string]jsontext.Value `json:"metadata"`
}

// fewWords is the most different words of answers that may be no answers.
const fewWords = 4

// openInstances reads the instances of Every Eval Ever. Where a sample is there once for
// each result of an evaluation, the rows of the first result are read.
func openInstances(file string, in input, choose Chooser) (nextFunc, error) {
	type evaluation struct{ id, model, name string }
	results := map[evaluation]string{}
	passed, spoken, words := false, false, map[string]bool{}
	left := func() string {
		text := "Every Eval Ever; its evaluations are left out"
		if passed {
			text += "; rows that repeat the same answers for other results are left out"
		}
		if !spoken && len(words) <= fewWords {
			text += fmt.Sprintf("; all are one of %s, which may be a scorer's words and not the answers (the schema's converter from Inspect writes these): read the log itself",
				strings.Join(slices.Sorted(maps.Keys(words)), ", "))
		}
		return text
	}
	return openLogLines(file, in, choose, left, func(at place, text []byte) ([]logged, error) {
		var r instance
		if err := at.parse(text, &r); err != nil {
			return nil, err
		}
		of := evaluation{r.Evaluation, r.Model, r.Name}
		if first, known := results[of]; known && first != r.Result {
			passed = true
			return nil, nil
		}
		if results[of] = r.Result; len(results) > maxNames {
			return nil, &orbench.InputError{File: file, Line: at.line, Problem: fmt.Sprintf("more than %d evaluations in one file", maxNames), Hint: "divide the file"}
		}
		answers, err := r.answers(at)
		for _, a := range answers {
			if text := a.said.Text; strings.ContainsAny(text, " \n") {
				spoken = true
			} else if len(words) <= fewWords {
				words[untrusted.Quote(brief(text))] = true
			}
		}
		return answers, err
	})
}

// answers makes the answers of an instance.
func (r instance) answers(at place) ([]logged, error) {
	base := logged{model: r.Model}
	var outputs []model.Response
	var other string
	if r.Output != nil {
		base.messages, other = ask(r.Input.Raw)
		traces := textsOf(r.Output.Thinking)
		for i, text := range textsOf(r.Output.Raw) {
			said := model.Response{Text: text}
			if i < len(traces) {
				said.Thinking = traces[i]
			}
			outputs = append(outputs, said)
		}
	} else {
		var s saying
		if !s.add(r.Messages, "user", 0) {
			return nil, at.cannotRead(r.Sample, unknownForm)
		}
		if base.messages, other = s.asked(); s.replied {
			outputs = []model.Response{base.heard(s, "").said}
		}
	}
	if other != "" {
		return nil, at.cannotRead(r.Sample, other)
	}
	if len(outputs) == 0 {
		why, _ := textOf(r.Error)
		return []logged{base.without(r.Sample, cmp.Or(why, "no output"))}, nil
	}
	word, _ := textOf(r.Metadata["stop_reason"])
	var all []logged
	for _, said := range outputs {
		a := base
		if a.said = said; said.Finish == "" {
			a.said.Finish, a.said.Block = reply.End(word)
		}
		a.said.Usage = usageOf(r.Usage)
		all = append(all, a)
	}
	return all, nil
}

// textsOf gives the texts of a value that is a list of texts or, in older versions of the
// schema, one text.
func textsOf(v jsontext.Value) []string {
	var texts []string
	if jsonv2.Unmarshal(v, &texts) == nil {
		return texts
	}
	if text, ok := textOf(v); ok && v != nil {
		return []string{text}
	}
	return nil
}
