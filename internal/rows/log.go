package rows

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// maxSample is the longest sample of another tool's log, in bytes. A sample also has the
// tool's own record of what happened, which is not read.
const maxSample = 16 << 20

// The columns that every answer of a log has, besides those of the log itself. ModelColumn
// is missing if the log does not say which model answered.
const (
	PromptColumn   = "prompt"
	ResponseColumn = "response"
	ModelColumn    = "model"
)

// logged is one answer of another tool's log.
type logged struct {
	// line is as in Row.
	line int
	// fields are the values that the log has beside the answer; nil for all that its sample has.
	fields map[string]json.RawMessage
	// messages are what was asked, nil if the log does not say.
	messages []orbench.Message
	// transcript is the whole conversation where it has calls of tools; there are then no
	// messages and no text in said.
	transcript jsontext.Value
	// said has the answer, with its thinking, how it ended and its tokens.
	said  model.Response
	model string
	// failed says why there is no answer; empty if there is one.
	failed string
}

// object is the answer in the form of a row.
func (a logged) object(number int) (Object, error) {
	o := Object{line: a.line, number: number, fields: map[string]json.RawMessage{}}
	text := a.said.Text
	if t := a.said.Thinking; t != "" {
		// Recorded answers have their thinking in front.
		text = "<think>\n" + strings.ReplaceAll(t, "</think>", "") + "\n</think>\n\n" + text
	}
	values := map[string]any{ResponseColumn: text}
	switch {
	case a.transcript != nil:
		values[PromptColumn] = a.transcript
	case len(a.messages) == 1 && a.messages[0].Role == orbench.User:
		values[PromptColumn] = a.messages[0].Content
	case a.messages != nil:
		values[PromptColumn] = a.messages
	}
	if a.model != "" {
		values[ModelColumn] = a.model
	}
	for name, raw := range a.fields {
		if name := strings.ToLower(strings.TrimSpace(name)); name != PromptColumn && name != ResponseColumn && name != ModelColumn {
			o.fields[name] = raw
		}
	}
	for name, value := range values {
		raw, err := json.Marshal(value)
		if err != nil {
			return Object{}, err
		}
		o.fields[name] = raw
	}
	o.said = &model.Response{Finish: a.said.Finish, Block: a.said.Block, Usage: a.said.Usage.Bounded()}
	return o, nil
}

// place is where a sample is in a log: at a line, or else after number others, or an entry of
// an archive.
type place struct {
	file         string
	line, number int
	entry        string
}

// samples gives the text of the next sample, or io.EOF. The next text may overwrite it.
type samples func() (at place, text []byte, err error)

// openLog reads the answers that parse finds in samples. Failed ones are left out and
// counted. left is asked at the end: it gives the tool, with what the log has or lacks that is
// not read, for a note.
func openLog(file string, in input, choose Chooser, left func() string, next samples, parse func(at place, text []byte) ([]logged, error)) (nextFunc, error) {
	answer := oneByOne(func() ([]logged, error) {
		at, text, err := next()
		if err != nil {
			return nil, err
		}
		answers, err := parse(at, text)
		for i := 0; err == nil && i < len(answers); i++ {
			answers[i].line = at.line
			if answers[i].fields != nil {
				continue
			}
			if i > 0 {
				answers[i].fields = answers[0].fields
			} else if answers[i].fields, err = parseNested(text); err != nil {
				return nil, at.fault(err)
			}
		}
		return answers, err
	})
	number, failed, first := 0, 0, ""
	return OpenObjects(file, choose, func() (Object, error) {
		for {
			a, err := answer()
			if errors.Is(err, io.EOF) {
				if number == 0 {
					problem := "the log has no answers"
					if failed > 0 {
						problem = fmt.Sprintf("every sample of the log failed (%d), the first: %s", failed, first)
					}
					return Object{}, &orbench.InputError{File: file, Problem: problem, Hint: "give a log with at least one answer"}
				}
				note := fmt.Sprintf("%s: %s of %s", file, table.Counted(number, "answer", "answers"), left())
				if failed > 0 {
					note += fmt.Sprintf("; %s, the first: %s", table.Counted(failed, "sample failed and is left out", "samples failed and are left out"), first)
				}
				*in.notes = append(*in.notes, note)
			}
			if err != nil {
				return Object{}, err
			}
			if a.failed == "" {
				number++
				return a.object(number)
			}
			if failed++; failed == 1 {
				first = brief(a.failed)
			}
		}
	})
}

// oneByOne gives the items of lists, of which some may be empty, up to the first error.
func oneByOne[T any](next func() ([]T, error)) func() (T, error) {
	var pending []T
	return func() (item T, err error) {
		for len(pending) == 0 {
			if pending, err = next(); err != nil {
				return item, err
			}
		}
		item, pending = pending[0], pending[1:]
		return item, nil
	}
}

// brief is the beginning of a text that others wrote, for an error or a note.
func brief(text string) string { return untrusted.Terminal(untrusted.Excerpt(text, 160)) }

// always is a left of openLog that is the same for all logs of a tool.
func always(left string) func() string { return func() string { return left } }

// logJSON walks over a JSON file that is one object with a long list of samples in it.
type logJSON struct {
	file  string
	limit *bounded
	dec   *jsontext.Decoder
	// number counts the samples.
	number int
}

// openLogJSON opens a JSON file. It passes over all up to the list at the path, but keeps
// the values of the named members of the object itself.
func openLogJSON(file string, in input, path []string, keep ...string) (*logJSON, map[string]jsontext.Value, error) {
	limit := &bounded{in: in, most: maxSample}
	text, err := openText(file, limit)
	if err != nil {
		return nil, nil, err
	}
	l := &logJSON{file: file, limit: limit, dec: jsontext.NewDecoder(&untrusted.FiniteReader{In: text})}
	kept := map[string]jsontext.Value{}
	if _, err := l.dec.ReadToken(); err != nil {
		return nil, nil, l.fault(err)
	}
	for level := 0; level < len(path); {
		limit.Next()
		token, err := l.dec.ReadToken()
		if err != nil {
			return nil, nil, l.fault(err)
		}
		name := token.String()
		switch {
		case token.Kind() == '}':
			return nil, nil, &orbench.InputError{File: file, Problem: "the log has no " + strings.Join(path, "."), Hint: "have the tool write its samples too"}
		case name == path[level]:
			want := jsontext.Kind('{')
			if level++; level == len(path) {
				want = '['
			}
			if got, err := l.dec.ReadToken(); err != nil {
				return nil, nil, l.fault(err)
			} else if got.Kind() != want {
				return nil, nil, &orbench.InputError{File: file, Problem: "the log has no list " + strings.Join(path, "."), Hint: "have the tool write its samples too"}
			}
		case level == 0 && slices.Contains(keep, name):
			value, err := l.dec.ReadValue()
			if err != nil {
				return nil, nil, l.fault(err)
			}
			kept[name] = value.Clone()
		default:
			if err := l.pass(l.dec.StackDepth()); err != nil {
				return nil, nil, err
			}
		}
	}
	return l, kept, nil
}

// pass passes over the tokens up to the end of the value, or list or object, in which the
// walk then is at the given depth.
func (l *logJSON) pass(depth int) error {
	for {
		l.limit.Next()
		if _, err := l.dec.ReadToken(); err != nil {
			return l.fault(err)
		}
		if l.dec.StackDepth() <= depth {
			return nil
		}
	}
}

// next gives the next sample, or io.EOF after the whole file was found well-formed.
func (l *logJSON) next() (at place, text []byte, err error) {
	l.limit.Next()
	if l.dec.PeekKind() != ']' {
		value, err := l.dec.ReadValue()
		if err != nil {
			return at, nil, l.fault(err)
		}
		l.number++
		return place{file: l.file, number: l.number - 1}, value, nil
	}
	if err := l.pass(0); err != nil {
		return at, nil, err
	}
	if _, err := l.dec.ReadToken(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return at, nil, &orbench.InputError{File: l.file, Problem: "something follows the end of the log", Hint: "delete it, or export the log again"}
	}
	return at, nil, io.EOF
}

func (l *logJSON) fault(err error) error { return place{file: l.file, number: l.number}.fault(err) }

// fault describes what a parser found in a sample.
func (p place) fault(err error) error {
	if p.entry != "" {
		return entryFault(p.file, p.entry, "does not have the form of this log: "+err.Error())
	}
	place := ""
	if p.line == 0 {
		place = fmt.Sprintf("sample %d of the log: ", p.number+1)
	}
	// The fault does not wrap the error, which may be the io.EOF that ends a file well.
	e := &orbench.InputError{File: p.file, Line: p.line, Hint: "export or copy the log again"}
	switch {
	case errors.Is(err, errLongRow):
		e.Problem, e.Hint = fmt.Sprintf("%smore than %d bytes", place, maxSample), "leave the sample out of the log"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Problem = place + "the file ends too soon"
	case errors.As(err, new(*jsontext.SyntacticError)), errors.As(err, new(*jsonv2.SemanticError)):
		e.Problem = place + "not in the form of this log: " + brief(err.Error())
	case errors.Is(err, orbench.ErrInput):
		return err
	default:
		return fmt.Errorf("read %s: %w", p.file, err)
	}
	return e
}

// parse reads the text of a sample into a struct.
func (p place) parse(text []byte, into any) error {
	if err := jsonv2.Unmarshal(untrusted.Finite(text), into); err != nil {
		return p.fault(err)
	}
	return nil
}

// cannotRead is the fault of a sample with something that is not text.
func (p place) cannotRead(sample, what string) error {
	return &orbench.InputError{
		File: p.file, Line: p.line, Problem: fmt.Sprintf("sample %s has %s, which orbench cannot read", untrusted.Quote(sample), untrusted.Quote(what)),
		Hint: "leave the sample out of the log",
	}
}

// openLogLines is openLog for a log of one JSON object a line.
func openLogLines(file string, in input, choose Chooser, left func() string, parse func(at place, text []byte) ([]logged, error)) (nextFunc, error) {
	next, err := samplesOf(file, in)
	if err != nil {
		return nil, err
	}
	return openLog(file, in, choose, left, next, parse)
}

// samplesOf gives the lines of a text as samples.
func samplesOf(file string, in io.Reader) (samples, error) {
	next, err := linesOf(file, in, maxSample)
	if err != nil {
		return nil, err
	}
	return func() (place, []byte, error) {
		line, text, err := next()
		at := place{file: file, line: line}
		if errors.Is(err, errLongRow) {
			err = at.fault(err)
		}
		return at, text, err
	}, nil
}

// textOf gives the text of a value; null and a missing value are the empty text.
func textOf(v jsontext.Value) (string, bool) { return jsonText(json.RawMessage(v), false) }

// unknownForm is what a value has that is said by nobody.
const unknownForm = "a content of an unknown form"

// ask gives the messages of a prompt. If they have something that is not text, other names
// it.
func ask(v jsontext.Value) (asked []orbench.Message, other string) {
	var s saying
	if len(v) > 0 && !s.add(v, "user", 0) {
		return nil, unknownForm
	}
	asked, other = s.asked()
	if s.replied { // the beginning of an answer
		asked = append(asked, orbench.Message{Role: orbench.Assistant, Content: s.reply})
	}
	return asked, other
}

// askText gives the messages of a prompt that is a text, or the JSON of a list of messages.
func askText(text string) (asked []orbench.Message, other string) {
	if v := jsontext.Value(text); v.Kind() == '[' {
		var s saying
		if s.add(v, "nobody", 0) && !s.foreign && (s.user != "" || s.other != "") {
			return ask(v)
		}
	}
	return []orbench.Message{{Role: orbench.User, Content: text}}, ""
}

// replied is the answer that a message gives, with the word for its end. A call of a tool is no
// answer; what else is not text, other names.
func (a logged) replied(v jsontext.Value, end string) (logged, string) {
	var s saying
	if len(v) > 0 && !s.add(v, "assistant", 0) {
		return a, unknownForm
	}
	return a.heard(s, end), s.other
}

// usageOf reads the tokens of an answer, as APIs and tools name them.
func usageOf(v jsontext.Value) model.Usage {
	counts, _ := parseNested(v)
	count := func(names ...string) int {
		for _, name := range names {
			if n, err := strconv.Atoi(string(counts[name])); err == nil {
				return n
			}
		}
		return 0
	}
	return model.Usage{
		Input: count("input_tokens", "prompt_tokens", "prompt"), Output: count("output_tokens", "completion_tokens", "completion"),
		Cached:    count("input_tokens_cache_read", "prompt_tokens_details.cached_tokens", "cached"),
		Reasoning: count("reasoning_tokens", "completion_tokens_details.reasoning_tokens", "completionDetails.reasoning"),
	}
}

// heard is the answer that an assistant gives at last.
func (a logged) heard(s saying, end string) logged {
	a.said.Text, a.said.Thinking = s.reply, s.thinking
	if a.said.Finish, a.said.Block = endOf(s, end); s.tool {
		a.said.Text, a.said.Thinking, a.said.Finish = "", "", model.Called
	}
	return a
}

// without makes the answer of a sample that has a fault in its place: a block where the fault
// tells of one, else a failure of the named sample.
func (a logged) without(name, fault string, codes ...string) logged {
	block := cmp.Or(reply.Faulted(fault), reply.Fault(0, fault, codes...))
	if a.failed = name + ": " + fault; block != nil {
		a.failed, a.said = "", model.Response{Text: fault, Finish: model.Blocked, Block: block, Usage: a.said.Usage}
	}
	return a
}

// pathsIn gives the paths of the names that the first object of a text has, one or two
// levels deep, such as /results/version. The text may break off.
func pathsIn(head []byte) map[string]bool {
	found := map[string]bool{}
	dec := jsontext.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	for {
		_, err := dec.ReadToken()
		if err != nil || dec.StackDepth() == 0 {
			return found
		}
		if kind, _ := dec.StackIndex(1); kind == '{' && dec.StackDepth() <= 2 {
			found[string(dec.StackPointer())] = true
		}
	}
}

// has accepts a text whose first object has all of the paths; see pathsIn.
func has(paths ...string) func(map[string]bool) bool {
	return func(found map[string]bool) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return !found[p] })
	}
}
