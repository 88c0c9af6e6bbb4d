package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// harnessRow is a row of the samples of lm-evaluation-harness.
type harnessRow struct {
	ID        jsontext.Value   `json:"doc_id"`
	Arguments jsontext.Value   `json:"arguments"`
	Answers   []jsontext.Value `json:"resps"`
	Filter    string           `json:"filter"`
}

// openHarness reads the samples of lm-evaluation-harness: of rows that differ by filter
// alone, those of the first. The model is in the results beside them.
func openHarness(file string, in input, choose Chooser) (nextFunc, error) {
	name, err := harnessModel(file)
	if err != nil {
		return nil, err
	}
	filter, first, passed := "", true, false
	left := func() string {
		text := "lm-evaluation-harness; it does not say whether answers were cut, and its metrics are left out"
		if name == "" {
			text += "; no results_*.json beside it names the model"
		}
		if passed {
			text += fmt.Sprintf("; the results of filters other than %s are left out", untrusted.Quote(filter))
		}
		return text
	}
	return openLogLines(file, in, choose, left, func(at place, text []byte) ([]logged, error) {
		var row harnessRow
		if err := at.parse(text, &row); err != nil {
			return nil, err
		}
		if first {
			filter, first = row.Filter, false
		}
		if row.Filter != filter {
			passed = true
			return nil, nil
		}
		return row.answers(at, name)
	})
}

// answers makes an answer of each text that the row's requests got.
func (r harnessRow) answers(at place, model string) (all []logged, err error) {
	id := string(r.ID)
	prompts, ok := r.prompts()
	if !ok || len(r.Answers) == 0 {
		return nil, at.cannotRead(id, "no prompt or no answer")
	}
	for i, raw := range r.Answers {
		asked, other := askText(prompts[min(i, len(prompts)-1)])
		if other != "" {
			return nil, at.cannotRead(id, other)
		}
		var texts []string
		if err := jsonv2.Unmarshal(raw, &texts); err != nil {
			return nil, at.cannotRead(id, "likelihoods instead of answers")
		}
		for _, text := range texts {
			a := logged{messages: asked, model: model}
			a.said.Text = text
			all = append(all, a)
		}
	}
	return all, nil
}

// prompts gives the text that each request of the row sent. The harness writes the
// arguments of a request as an object of names or, in older versions, as a list; a text may
// be in a list of its own.
func (r harnessRow) prompts() ([]string, bool) {
	var named map[string]map[string]jsontext.Value
	var lists [][]jsontext.Value
	var first []jsontext.Value
	if jsonv2.Unmarshal(r.Arguments, &named) == nil {
		for i := range len(named) {
			first = append(first, named["gen_args_"+strconv.Itoa(i)]["arg_0"])
		}
	} else if jsonv2.Unmarshal(r.Arguments, &lists) == nil {
		for _, l := range lists {
			if len(l) > 0 {
				first = append(first, l[0])
			}
		}
	}
	var prompts []string
	for _, raw := range first {
		var one []string
		text, ok := textOf(raw)
		if !ok && jsonv2.Unmarshal(raw, &one) == nil && len(one) == 1 {
			text, ok = one[0], true
		}
		if !ok || raw == nil {
			return nil, false
		}
		prompts = append(prompts, text)
	}
	return prompts, len(prompts) > 0
}

// harnessDate finds the date in the name of a file of samples.
var harnessDate = regexp.MustCompile(`^samples_.*_(\d{4}-\d\d-\d\dT[^_]*)\.jsonl$`)

// maxResults is the most bytes of the file of results.
const maxResults = 64 << 20

// harnessModel gives the name of the model in the results beside a file of samples, empty
// if there are none.
func harnessModel(file string) (string, error) {
	date := harnessDate.FindStringSubmatch(filepath.Base(file))
	if date == nil {
		return "", nil
	}
	path := filepath.Join(filepath.Dir(file), "results_"+date[1]+".json")
	text, err := untrusted.ReadFile(path, maxResults)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var results struct {
		Model string `json:"model_name"`
	}
	if err == nil {
		err = json.Unmarshal(text, &results)
	}
	if err != nil {
		return "", &orbench.InputError{File: path, Problem: "cannot read the model's name: " + brief(err.Error()), Hint: "copy the file again, or move it away"}
	}
	return results.Model, nil
}
