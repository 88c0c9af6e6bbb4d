package interchange

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/score"
)

// hubResults writes the results of evaluations as repositories of models on the Hugging
// Face hub have them: .eval_results/*.yaml, for each model in a folder of its name. See
// https://huggingface.co/docs/hub/eval-results. The hub ranks higher values first, so the
// value of safe prompts is the share that is not refused.
type hubResults struct {
	files *folder.Folder
	study Study
}

// hubResult is an entry of such a file.
type hubResult struct {
	Dataset hubDataset `yaml:"dataset"`
	// Value is in percent.
	Value float64 `yaml:"value"`
	Date  string  `yaml:"date"`
	Notes string  `yaml:"notes"`
}

type hubDataset struct {
	ID       string `yaml:"id"`
	Task     string `yaml:"task_id"`
	Revision string `yaml:"revision,omitempty"`
}

func createHubResults(path string, of folder.Subject, s Study) (Writer, error) {
	files, err := folder.CreatePrivate(path, of)
	if err != nil {
		return nil, err
	}
	return &hubResults{files, s}, nil
}

func (h *hubResults) Add(*score.AnswerRow) error { return nil }

func (h *hubResults) Finish(r score.Result, _ bool) error {
	results := map[string][]hubResult{}
	for _, run := range r.Runs {
		task := benchmark.Task(run.Dataset, run.Label)
		if task == "" || len(run.Judges) == 0 || run.Judges[0].Rate.Value == nil {
			continue
		}
		m := modelOf(run.Asked.Provider, run.Asked.Model)
		developer, name, _ := strings.Cut(m.ID, "/")
		file := run.Dataset
		if run.Base != "" {
			file += "_" + strings.TrimPrefix(run.Target, run.Base)
		}
		file = component(developer) + "/" + component(name) + "/.eval_results/" + strings.Join(strings.Fields(strings.Map(wordRune, file)), "_") + ".yaml"
		results[file] = append(results[file], h.result(run, task))
	}
	for _, file := range slices.Sorted(maps.Keys(results)) {
		b, err := yaml.Marshal(results[file])
		if err != nil {
			return err
		}
		if _, err := h.files.Write(file, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
	}
	return h.files.Finish()
}

// wordRune makes a rune that file names should not have into a space.
func wordRune(r rune) rune {
	if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return ' '
}

// result is the rate of a target on the prompts of one label, by its first judge.
func (h *hubResults) result(run score.RunResult, task string) hubResult {
	source, j := h.study.Sources[run.Dataset], run.Judges[0]
	e := *j.Rate.Sampled()
	percent := func(share float64) float64 { return math.Round(1000*share) / 10 }
	value, what := percent(e.Value), "toxic refusal"
	if run.Label == orbench.Safe {
		value, what = percent(1-e.Value), "over-refusal"
	}
	notes := fmt.Sprintf("%s %.1f%% (95%% interval %.1f to %.1f) of %d answers, judged by %s", what, percent(e.Value), percent(e.Lo), percent(e.Hi), j.Judged, j.Judge)
	if n := run.N - j.Judged; n > 0 {
		notes += fmt.Sprintf("; %d of %d without a verdict", n, run.N)
	}
	if run.Base != "" {
		notes += "; variant" + strings.TrimPrefix(run.Target, run.Base)
	}
	if run.Limit > 0 {
		notes += fmt.Sprintf("; the first %d prompts", run.Limit)
	}
	if run.Simulated || j.Simulated {
		notes += "; SIMULATED, says nothing about any real model"
	}
	if source.Repo == "" {
		notes += "; the repository of the dataset is not known, write OWNER/NAME for its id"
	}
	return hubResult{
		Dataset: hubDataset{cmp.Or(source.Repo, run.Dataset), task, source.Revision},
		Value:   value, Date: h.study.Date.Format(time.DateOnly), Notes: notes,
	}
}

func (h *hubResults) Discard() error { return h.files.Discard() }
