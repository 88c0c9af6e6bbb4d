package interchange

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// verdicts writes one flat row for each verdict, and one for each answer that no judge
// has seen.
type verdicts struct {
	file     *folder.File
	buffer   *bufio.Writer
	rows     Rows
	study    Study
	versions map[string]string
}

// createVerdicts makes a file of verdicts in the format of path's ending.
func createVerdicts(path string, of folder.Subject, s Study) (Writer, error) {
	if !slices.Contains(Endings, strings.ToLower(filepath.Ext(path))) {
		return nil, &orbench.InputError{
			Setting: "out", Problem: path + " must end in " + strings.Join(Endings, " or "), Hint: "name such a file",
		}
	}
	file, err := folder.CreateFile(path, of)
	if err != nil {
		return nil, err
	}
	v := &verdicts{file: file, buffer: bufio.NewWriter(file), study: s, versions: map[string]string{}}
	for _, j := range s.Judges {
		v.versions[j.Name()] = s.version(j.Name())
	}
	columns := table.RowsOf(verdictColumns, func(c verdictColumn) Column { return c.Column })
	if v.rows, err = NewRows(v.buffer, path, columns); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return v, nil
}

func (v *verdicts) Add(a *score.AnswerRow) error {
	row := verdictRow{AnswerRow: a, how: v.study.of(a), sha256: v.study.Sources[a.Dataset].SHA256}
	if len(a.Verdicts) == 0 {
		return v.write(row)
	}
	for i := range a.Verdicts {
		row.verdict, row.version = a.Verdicts[i], v.versions[a.Verdicts[i].Judge]
		if err := v.write(row); err != nil {
			return err
		}
	}
	return nil
}

func (v *verdicts) write(row verdictRow) error {
	return v.rows.Write(table.RowsOf(verdictColumns, func(c verdictColumn) any { return c.of(row) }))
}

func (v *verdicts) Finish(_ score.Result, unfinished bool) error {
	if err := v.rows.Close(); err != nil {
		return err
	}
	if err := v.buffer.Flush(); err != nil {
		return err
	}
	return v.file.Finish(unfinished)
}

func (v *verdicts) Discard() error { return v.file.Discard() }

// verdictRow is a verdict on an answer. verdict names no judge if none has seen the answer.
type verdictRow struct {
	*score.AnswerRow
	how             score.About
	sha256, version string
	verdict         score.JudgeVerdict
}

type verdictColumn struct {
	Column
	of func(verdictRow) any
}

// verdictColumns are the columns of a file of verdicts. All files have all of them, so
// that files of several runs can be read as one table.
var verdictColumns = []verdictColumn{
	{text("run"), func(r verdictRow) any { return known(r.how.Run) }},
	{text("target"), func(r verdictRow) any { return known(targetOf(r.AnswerRow)) }},
	{text("dataset"), func(r verdictRow) any { return known(r.Dataset) }},
	{text("dataset_sha256"), func(r verdictRow) any { return known(r.sha256) }},
	{text("prompt_id"), func(r verdictRow) any { return known(string(r.Prompt.ID)) }},
	{text("label"), func(r verdictRow) any { return known(string(r.Prompt.Label)) }},
	{text("category"), func(r verdictRow) any { return known(string(r.Prompt.Category)) }},
	{count("sample"), func(r verdictRow) any { return int64(max(r.Sample, 1)) }},
	{text("status"), func(r verdictRow) any { return known(string(r.Status)) }},
	{text("finish"), func(r verdictRow) any { return known(string(r.Response.Finish)) }},
	{text("failure"), func(r verdictRow) any { return known(r.Failure) }},
	{text("prompt"), func(r verdictRow) any { return known(r.Asked().Transcript()) }},
	{text("response"), func(r verdictRow) any {
		if r.Response.Finish == "" {
			return nil
		}
		return r.Response.Text
	}},
	{text("thinking"), func(r verdictRow) any { return known(r.Response.Thinking) }},
	{text("judge"), func(r verdictRow) any { return known(r.verdict.Judge) }},
	{text("judge_version"), func(r verdictRow) any { return known(r.version) }},
	{text("class"), func(r verdictRow) any {
		if r.verdict.Judge == "" {
			return nil
		}
		return ClassText(r.verdict.Class)
	}},
	{truth("refused"), ofVerdict(func(r verdictRow) any { return r.verdict.Class.Refused() })},
	{Column{"score", reflect.Float64}, ofVerdict(func(r verdictRow) any { return r.verdict.Score })},
	{text("reason"), ofVerdict(func(r verdictRow) any { return known(string(r.verdict.Reason)) })},
	{text("span"), ofVerdict(func(r verdictRow) any { return known(SpanText(r.verdict.Span, r.Response.Text)) })},
	{text("rationale"), func(r verdictRow) any { return known(r.verdict.Rationale) }},
	{text("provider"), func(r verdictRow) any { return known(r.how.Asked.Provider) }},
	{text("model"), func(r verdictRow) any { return known(r.how.Asked.Model) }},
	{text("served_as"), func(r verdictRow) any { return known(r.Response.Model) }},
	{text("revision"), func(r verdictRow) any { return known(r.how.Asked.Revision) }},
	{text("system"), func(r verdictRow) any { return known(r.how.Asked.System) }},
	{Column{"temperature", reflect.Float64}, func(r verdictRow) any { return Given(r.how.Asked.Temperature) }},
	{count("max_tokens"), func(r verdictRow) any { return known(int64(r.how.Asked.MaxTokens)) }},
	{count("seed"), func(r verdictRow) any { return Given(r.how.Asked.Seed) }},
	{text("framing"), func(r verdictRow) any { return known(r.how.Asked.Framing) }},
	{text("turns"), func(r verdictRow) any { return known(r.how.Asked.Turns) }},
	{text("defense"), func(r verdictRow) any { return known(r.how.Asked.Defense) }},
	{text("guard"), func(r verdictRow) any { return known(r.how.Asked.Guard) }},
	{count("input_tokens"), func(r verdictRow) any { return known(int64(r.Response.Usage.Input)) }},
	{count("output_tokens"), func(r verdictRow) any { return known(int64(r.Response.Usage.Output)) }},
	{count("latency_ms"), func(r verdictRow) any { return known(r.Response.Latency.Milliseconds()) }},
	{truth("simulated"), func(r verdictRow) any { return r.Simulated || r.verdict.Simulated }},
}

func text(name string) Column  { return Column{name, reflect.String} }
func count(name string) Column { return Column{name, reflect.Int64} }
func truth(name string) Column { return Column{name, reflect.Bool} }

// ofVerdict gives nil for a row without a verdict, or whose judge could not tell.
func ofVerdict(of func(verdictRow) any) func(verdictRow) any {
	return func(r verdictRow) any {
		if r.verdict.Class == orbench.Unjudged {
			return nil
		}
		return of(r)
	}
}

// Given is what a pointer points to, nil for none.
func Given[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

// known is a value, or nil for the empty text and for 0.
func known[T comparable](value T) any {
	var none T
	if value == none {
		return nil
	}
	return value
}

// Unjudged is what files call the class of an answer on which a judge could not decide.
const Unjudged = "unjudged"

// ClassText is what files call a class.
func ClassText(c orbench.Class) string { return cmp.Or(string(c), Unjudged) }

// SpanText is the text of a span, empty if the span marks nothing in the text.
func SpanText(s orbench.Span, text string) string {
	if s.Start < 0 || s.End > len(text) || s.Start >= s.End {
		return ""
	}
	return text[s.Start:s.End]
}
