package interchange

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// logs writes logs of Inspect, version 2, as JSON: one for each target on each dataset.
// Their classes are those of inspect_ai.log; see https://inspect.aisi.org.uk/eval-logs.html.
type logs struct {
	files *folder.Folder
	study Study
	logs  []*logFile
	at    map[place]*logFile
}

// logFile is a log in the making. Its samples wait in a file of their own, since the
// figures stand before them.
type logFile struct {
	place
	asking
	samples *os.File
	out     *bufio.Writer
	// logged are the samples in the log, failed those of them with an error.
	logged, failed int
	// simulated is true if no real model answered.
	simulated bool
}

// logHeader is a log without its samples.
type logHeader struct {
	Version int        `json:"version"`
	Status  string     `json:"status"`
	Eval    logSpec    `json:"eval"`
	Plan    struct{}   `json:"plan"`
	Results logResults `json:"results"`
	Stats   logStats   `json:"stats"`
}

type logSpec struct {
	RunID    string         `json:"run_id"`
	EvalID   string         `json:"eval_id"`
	TaskID   string         `json:"task_id"`
	Created  time.Time      `json:"created"`
	Task     string         `json:"task"`
	Dataset  logDataset     `json:"dataset"`
	Model    string         `json:"model"`
	Generate map[string]any `json:"model_generate_config"`
	Config   map[string]any `json:"config"`
	Packages texts          `json:"packages"`
	Metadata texts          `json:"metadata"`
}

type logDataset struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
}

type logResults struct {
	Total     int        `json:"total_samples"`
	Completed int        `json:"completed_samples"`
	Scores    []logScore `json:"scores"`
}

// logScore is what one judge made of all samples.
type logScore struct {
	Name     string               `json:"name"`
	Scorer   string               `json:"scorer"`
	Scored   int                  `json:"scored_samples"`
	Unscored int                  `json:"unscored_samples"`
	Metrics  map[string]logMetric `json:"metrics"`
	Metadata texts                `json:"metadata"`
}

type logMetric struct {
	Name     string         `json:"name"`
	Value    float64        `json:"value"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

type logStats struct {
	Started   time.Time `json:"started_at"`
	Completed time.Time `json:"completed_at"`
}

// logSample is one answer.
type logSample struct {
	ID       string              `json:"id"`
	Epoch    int                 `json:"epoch"`
	Input    any                 `json:"input"` // a text, or []logMessage
	Target   string              `json:"target"`
	Messages []logMessage        `json:"messages"`
	Output   *logOutput          `json:"output,omitempty"`
	Scores   map[string]logGrade `json:"scores,omitempty"`
	Metadata texts               `json:"metadata"`
	Working  float64             `json:"working_time,omitempty"`
	Error    *logError           `json:"error,omitempty"`
}

type logMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // a text, or []logPart
}

type logPart struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

type logOutput struct {
	Model      string      `json:"model"`
	Choices    []logChoice `json:"choices"`
	Completion string      `json:"completion"`
	Usage      *tokens     `json:"usage,omitempty"`
	Time       float64     `json:"time,omitempty"`
}

type logChoice struct {
	Message logMessage `json:"message"`
	Stop    string     `json:"stop_reason"`
}

// logGrade is a verdict. Its value is Inspect's C for a right answer and I for a wrong one.
type logGrade struct {
	Value       string         `json:"value"`
	Answer      string         `json:"answer"`
	Explanation string         `json:"explanation,omitempty"`
	Metadata    map[string]any `json:"metadata"`
}

type logError struct {
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
	ANSI      string `json:"traceback_ansi"`
}

func createLogs(path string, of folder.Subject, s Study) (Writer, error) {
	files, err := folder.CreatePrivate(path, of)
	if err != nil {
		return nil, err
	}
	return &logs{files: files, study: s, at: map[place]*logFile{}}, nil
}

func (l *logs) Add(a Answer) error {
	if a.Status == score.Unanswered {
		return nil // total_samples counts it
	}
	at := place{a.target(), a.Dataset}
	f := l.at[at]
	if f == nil {
		f = &logFile{place: at, asking: l.study.of(a)}
		var err error
		if f.samples, err = os.CreateTemp("", "orbench-samples-"); err != nil {
			return err
		}
		f.out = bufio.NewWriterSize(f.samples, 1<<16)
		l.at[at], l.logs = f, append(l.logs, f)
	}
	if f.logged > 0 {
		if err := f.out.WriteByte(','); err != nil {
			return err
		}
	}
	s := sampleOf(a)
	f.logged++
	if s.Error != nil {
		f.failed++
	}
	f.simulated = f.simulated || a.Simulated
	return rows.WriteJSONLines(untrusted.NewWriter(f.out), []logSample{s})
}

// sampleOf is an answer as a sample. Inspect has no word for an answer by another model
// than was asked, so that is an error.
func sampleOf(a Answer) logSample {
	s := logSample{ID: string(a.Prompt.ID), Epoch: max(a.Sample, 1), Target: strings.Join(references(a), ""), Messages: []logMessage{}, Metadata: texts{}}
	s.Metadata.add(texts{
		"label": string(a.Prompt.Label), "category": string(a.Prompt.Category), "pair": a.Prompt.Pair, "cluster": a.Prompt.Cluster, "gold": a.Gold,
	})
	for _, t := range a.AnswerRow.Turns() {
		s.Messages = append(s.Messages, logMessage{string(t.Role), t.Content})
	}
	s.Input = a.Prompt.Text()
	if len(s.Messages) > 1 {
		s.Input = slices.Clone(s.Messages)
	}
	failed := ""
	switch a.Status {
	case score.Failed:
		failed = cmp.Or(a.Failure, "failed")
	case score.ServedByOther:
		failed = "another model answered: " + a.Response.Model
	}
	if failed != "" {
		s.Error = &logError{Message: failed}
		return s
	}
	said := logMessage{string(orbench.Assistant), a.Response.Text}
	if a.Response.Thinking != "" {
		said.Content = []logPart{{Type: "reasoning", Reasoning: a.Response.Thinking}, {Type: "text", Text: a.Response.Text}}
	}
	s.Messages = append(s.Messages, said)
	s.Working = a.Response.Latency.Seconds()
	s.Output = &logOutput{
		Model: cmp.Or(a.Response.Model, a.target()), Choices: []logChoice{{said, stopReason(a.Response.Finish)}}, Completion: a.Response.Text, Time: s.Working,
	}
	if u := a.Response.Usage; u != (model.Usage{}) {
		s.Output.Usage = &tokens{u.Input, u.Output, u.Input + u.Output, u.Cached, u.Reasoning}
	}
	if b := a.Response.Block; b != nil {
		s.Metadata["block"], s.Metadata["blocked_by"] = b.Reason(), string(b.Kind)
	}
	for _, v := range a.Verdicts {
		if v.Class == orbench.Unjudged {
			continue
		}
		if s.Scores == nil {
			s.Scores = map[string]logGrade{}
		}
		g := logGrade{"I", string(v.Class), v.Rationale, map[string]any{"refused": v.Class.Refused(), "score": v.Score}}
		if right(a.Prompt.Label, v.Class) {
			g.Value = "C"
		}
		if v.Reason != "" {
			g.Metadata["reason"] = v.Reason
		}
		if span := SpanText(v.Span, a.Response.Text); span != "" {
			g.Metadata["span"] = span
		}
		s.Scores[v.Judge] = g
	}
	return s
}

// stopReason is Inspect's word for how an answer ended.
func stopReason(f model.Finish) string {
	switch f {
	case model.Stop:
		return "stop"
	case model.Length:
		return "max_tokens"
	case model.Blocked:
		return "content_filter"
	}
	return "unknown"
}

func (l *logs) Finish(r score.Result, _ bool) error {
	result := r.Aggregated()
	for _, f := range l.logs {
		if err := f.out.Flush(); err != nil {
			return err
		}
		if _, err := f.samples.Seek(0, io.SeekStart); err != nil {
			return err
		}
		header := l.header(f, result)
		name := component(strings.Map(func(r rune) rune {
			if r == ' ' || r == '_' {
				return '-'
			}
			return r
		}, fmt.Sprintf("%s_%s", f.dataset, f.target)))
		name = l.study.Date.Format("2006-01-02T15-04-05") + "-00-00_" + strings.ReplaceAll(name, "_", "-") + "_" + header.Eval.TaskID + ".json"
		if _, err := l.files.Write(name, func(w io.Writer) error { return f.write(untrusted.NewWriter(w), header) }); err != nil {
			return err
		}
	}
	return errors.Join(l.files.Finish(), l.remove())
}

// write writes the header, and the samples as its last field.
func (f *logFile) write(w io.Writer, header logHeader) error {
	b, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for _, part := range []io.Reader{strings.NewReader(strings.TrimSuffix(string(b), "}") + ",\"samples\":[\n"), f.samples, strings.NewReader("]}\n")} {
		if _, err := io.Copy(w, part); err != nil {
			return err
		}
	}
	return nil
}

// header says all of a log but its samples.
func (l *logs) header(f *logFile, r score.Result) logHeader {
	id := strings.ReplaceAll(uuid(strings.Join([]string{l.study.Name, f.target, f.dataset, l.study.epoch()}, "\n")), "-", "")[:22]
	h := logHeader{
		Version: 2, Status: "success",
		Eval: logSpec{
			RunID: cmp.Or(f.run, l.study.Name), EvalID: id, TaskID: id, Created: l.study.Date, Task: f.dataset, Dataset: logDataset{Name: f.dataset},
			Model: f.target, Generate: map[string]any{}, Config: map[string]any{}, Packages: texts{"orbench": cmp.Or(l.study.Program, "unknown")},
			Metadata: texts{"dataset_sha256": l.study.Sources[f.dataset].SHA256},
		},
		Results: logResults{Completed: f.logged - f.failed, Scores: []logScore{}},
		Stats:   logStats{l.study.Date, l.study.Date},
	}
	if f.simulated {
		h.Eval.Model += " " + model.SimulatedMark
	}
	epochs := 1
	scores := map[string]*logScore{}
	var order []string
	for _, run := range r.Runs {
		if run.Target != f.target || run.Dataset != f.dataset {
			continue
		}
		h.Results.Total += run.N
		epochs = max(epochs, run.Samples)
		for _, j := range run.Judges {
			s := scores[j.Judge]
			if s == nil {
				s = &logScore{Name: j.Judge, Scorer: "orbench", Metrics: map[string]logMetric{}, Metadata: texts{"judge_version": l.study.version(j.Judge)}}
				scores[j.Judge], order = s, append(order, j.Judge)
			}
			s.Scored, s.Unscored = s.Scored+j.Judged, s.Unscored+j.Unjudged
			name := metricName(run.Label)
			if name == "refusal" && run.Label != "" {
				name = string(run.Label) + "_refusal"
			}
			if e := j.Estimate(); e != nil {
				s.Metrics[name] = logMetric{name, e.Value, map[string]any{"ci95": []float64{e.Lo, e.Hi}, "method": methodOf(j), "judged": j.Judged, "refused": j.Refused}}
			}
		}
	}
	for _, judge := range order {
		h.Results.Scores = append(h.Results.Scores, *scores[judge])
	}
	if f.logged < h.Results.Total {
		h.Status = "cancelled"
	}
	h.Eval.Dataset.Samples, h.Eval.Config["epochs"] = h.Results.Total/epochs, epochs
	if f.Temperature != nil {
		h.Eval.Generate["temperature"] = *f.Temperature
	}
	if f.Seed != nil {
		h.Eval.Generate["seed"] = *f.Seed
	}
	if f.MaxTokens > 0 {
		h.Eval.Generate["max_tokens"] = f.MaxTokens
	}
	if f.System != "" {
		h.Eval.Generate["system_message"] = f.System
	}
	h.Eval.Metadata.add(texts{"defense": f.Defense, "turns": f.Turns, "framing": f.Framing, "language": f.Language, "guard": f.Guard, "revision": f.Revision})
	return h
}

// remove removes the files of samples.
func (l *logs) remove() error {
	var err error
	for _, f := range l.logs {
		err = errors.Join(err, f.samples.Close(), os.Remove(f.samples.Name()))
	}
	l.logs = nil
	return err
}

func (l *logs) Discard() error { return errors.Join(l.remove(), l.files.Discard()) }
