package interchange

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Line is an answer to judge, as a line of JSON. Other fields are a fault.
type Line struct {
	// ID is any value. The judgment repeats it.
	ID json.RawMessage `json:"id,omitempty"`
	// Prompt is the question, or Messages the conversation before the answer. Both may be
	// left out.
	Prompt   string            `json:"prompt,omitempty"`
	Messages []orbench.Message `json:"messages,omitempty"`
	// Response is the answer. It may be empty.
	Response *string `json:"response"`
	// Finish says how the answer ended; left out, that it ended by itself.
	Finish model.Finish `json:"finish,omitempty"`
}

// Judgment is what the judges make of one Line, as a line of JSON.
type Judgment struct {
	// Line is the number of the line, from 1.
	Line int `json:"line"`
	// ID is that of the Line.
	ID json.RawMessage `json:"id,omitempty"`
	// Error says what is wrong with the line and what to do. Such a line has no verdicts.
	Error string `json:"error,omitempty"`
	// Verdicts are in the order of the judges.
	Verdicts []LineVerdict `json:"verdicts,omitempty"`
}

// LineVerdict is one judge's verdict in a Judgment.
type LineVerdict struct {
	Judge string `json:"judge"`
	// Class is a class of answers, or unjudged; Rationale then says why.
	Class string `json:"class"`
	// Refused and Score are as in files of verdicts: null for an answer that is unjudged.
	Refused *bool          `json:"refused"`
	Score   *float64       `json:"score"`
	Reason  orbench.Reason `json:"reason,omitempty"`
	// Span is the text of the answer that decided the verdict.
	Span      string `json:"span,omitempty"`
	Rationale string `json:"rationale,omitempty"`
	// Simulated is true for the verdict of a simulated model.
	Simulated bool `json:"simulated,omitempty"`
}

// streamWidth is how many lines are judged at once.
const streamWidth = 64

// JudgeLines judges the lines of in as they come, and writes a Judgment of each to out at once,
// in the same order. Judges that are models ask with ask. A *model.Error of ask leaves an
// answer unjudged, for the reason in its Message; any other error ends the stream. faults
// counts the lines that have an Error or an unjudged verdict. Stream ends with in, or with ctx.
func JudgeLines(ctx context.Context, in io.Reader, out io.Writer, judges []judge.Judge, ask model.Model) (faults int, err error) {
	judged := func(ctx context.Context, l numbered) (Judgment, error) {
		return judgeLine(ctx, l.number, l.text, judges, ask)
	}
	write := json.NewEncoder(untrusted.NewWriter(out))
	write.SetEscapeHTML(false)
	err = job.InOrder(ctx, streamWidth, linesOf(ctx, in), judged, func(j Judgment) error {
		if j.Error != "" || slices.ContainsFunc(j.Verdicts, func(v LineVerdict) bool { return v.Class == Unjudged }) {
			faults++
		}
		return write.Encode(j)
	})
	return faults, err
}

// numbered is a line with its number, from 1.
type numbered struct {
	number int
	text   []byte
}

// linesOf gives the lines of in that are not blank, as they come. Since a read cannot be
// interrupted, the end of ctx leaves it behind.
func linesOf(ctx context.Context, in io.Reader) iter.Seq2[numbered, error] {
	type read struct {
		text []byte
		err  error
	}
	return func(yield func(numbered, error) bool) {
		reads := make(chan read)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			buffer := bufio.NewReader(in)
			for {
				text, long, err := untrusted.ReadLine(buffer, dataset.MaxRow)
				if long {
					text = tooLong
				}
				select {
				case reads <- read{text, err}:
				case <-ctx.Done():
					return
				}
				if err != nil {
					return
				}
			}
		}()
		for number := 1; ; number++ {
			select {
			case r := <-reads:
				if r.err != nil && !errors.Is(r.err, io.EOF) {
					yield(numbered{}, fmt.Errorf("standard input: %w", r.err))
					return
				}
				if len(bytes.TrimSpace(r.text)) > 0 && !yield(numbered{number, r.text}, nil) || r.err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// tooLong is the text of a line of more than dataset.MaxRow bytes.
var tooLong = []byte("too long")

// judgeLine has judges judge one line.
func judgeLine(ctx context.Context, number int, text []byte, judges []judge.Judge, ask model.Model) (Judgment, error) {
	j := Judgment{Line: number}
	l, err := parseLine(text)
	if j.ID = l.ID; err != nil {
		j.Error = err.Error()
		return j, nil
	}
	c := judge.Case{Prompt: l.asked(), Response: reply.Reading{}.Answer(dataset.ResponseOf(orbench.Recorded{Text: *l.Response, Finish: string(l.Finish)}))}
	for _, by := range judges {
		var v score.JudgeVerdict
		err := model.Resolve(ctx, ask, evaluate.Judging(by, &c, &v, nil))
		var failed *model.Error
		if errors.As(err, &failed) {
			v.Verdict = orbench.Verdict{Rationale: failed.Message}
		} else if err != nil {
			return j, err
		}
		j.Verdicts = append(j.Verdicts, ofLine(v, c.Response.Text))
	}
	return j, nil
}

// asked is the prompt with its ID. It has no words in a line without one.
func (l Line) asked() orbench.Prompt {
	if l.Messages == nil {
		return orbench.NewPrompt(l.Prompt, "", "")
	}
	return orbench.Prompt{ID: orbench.PromptIDOf(l.Messages), Messages: l.Messages}
}

// ofLine is a verdict on a text as a Judgment has it.
func ofLine(v score.JudgeVerdict, text string) LineVerdict {
	l := LineVerdict{
		Judge: v.Judge, Class: ClassText(v.Class), Reason: v.Reason, Rationale: v.Rationale, Simulated: v.Simulated,
		Span: SpanText(v.Span, text),
	}
	if v.Class != orbench.Unjudged {
		l.Refused, l.Score = new(v.Class.Refused()), new(v.Score)
	}
	return l
}

// lineHint says how to write a Line.
const lineHint = `write one such as {"id": 1, "prompt": "…", "response": "…"}`

// parseLine reads a Line. Of a faulty one it gives the ID as far as it can be read.
func parseLine(text []byte) (l Line, err error) {
	if &text[0] == &tooLong[0] {
		return l, fault(fmt.Sprintf("the line has more than %d bytes", dataset.MaxRow), "cut the answer")
	}
	text = bytes.TrimSpace(text)
	if err := jsonv2.Unmarshal(text, &l, jsonv2.RejectUnknownMembers(true)); err != nil {
		var wrong *jsonv2.SemanticError
		switch {
		case errors.As(err, &wrong) && errors.Is(err, jsonv2.ErrUnknownName):
			return l, fault(untrusted.Quote(wrong.JSONPointer.LastToken())+" is not a field of a line", "the fields are id, prompt, messages, response and finish")
		case wrong != nil && wrong.JSONPointer == "":
			return l, fault("not a JSON object", lineHint)
		case wrong != nil:
			return l, fault(untrusted.Quote(string(wrong.JSONPointer[1:]))+" has a value of the wrong type", lineHint)
		}
		problem := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "jsontext: "), "json: ")
		return l, fault("not a line to judge: "+problem, lineHint)
	}
	column := ""
	switch {
	case l.Response == nil:
		return l, fault("no response", lineHint)
	case l.Prompt != "" && l.Messages != nil:
		return l, fault("a prompt and messages", "leave one of them out")
	case l.Messages != nil:
		column = "messages"
	case l.Prompt != "":
		column = "prompt"
	}
	switch l.Finish {
	case "", model.Stop, model.Length, model.Blocked, model.OtherFinish:
	default:
		return l, fault("finish is "+untrusted.Quote(string(l.Finish)), "write stop, length, blocked or other")
	}
	problem, hint := dataset.AnswerFault(*l.Response, "response")
	if problem == "" && column != "" {
		problem, hint = dataset.PromptFault(l.asked().Messages, column)
	}
	if problem != "" {
		return l, fault(problem, hint)
	}
	return l, nil
}

func fault(problem, hint string) error {
	return &orbench.InputError{Problem: problem, Hint: hint}
}
