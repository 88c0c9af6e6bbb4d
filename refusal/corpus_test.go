package refusal_test

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A LabeledAnswer is an answer of which people, or in one set a model, said whether it
// declines.
type LabeledAnswer struct {
	// Set is where it comes from, Model who gave it; Group is a part of the set.
	Set, Model, Group string
	// ID says where it stands.
	ID             string
	Prompt, Answer string
	Refused        bool
	// Clear is false when those who labeled it were of two minds.
	Clear bool
}

// A Source is a file of labeled answers that is no part of the project.
type Source struct {
	File, Set string
	// Fit is true when its license lets weights be fitted to it that ship; the
	// others are there to measure with and to choose by.
	Fit bool
	// answer, model and group are the names of columns, label gives what a row
	// says, and ok false for one without a label.
	answer, model, group string
	label                func(get func(column string) string) (refused, unclear, ok bool)
}

// Sources are all of them: completions on XSTest (Röttger et al., 2024), answers to
// insincere questions of a forum (Reuter and Schulze, 2023), answers in Korean
// (K-OverRefusal, 2026), answers of models of 2024 to 2026 from seven repositories, labeled
// by language models as readers (docs/judges.md credits them), Do-Not-Answer (Wang et al., 2023) and the user study of
// ORFuzz (2025).
var Sources = []Source{
	{"xstest_completions_llama2orig.csv", "XSTest", true, "completion", "Llama-2-70b", "type", xstest},
	{"xstest_completions_mistralguard.csv", "XSTest", true, "completion", "Mistral-7B", "type", xstest},
	{"human-chatgpt-refusals.csv", "forum", true, "response", "ChatGPT", "", labeled},
	{"judged-korean.csv", "Korean", true, "response", "model", "", labeled},
	{"modern-answers.csv", SetModern, true, "response", "model", "source", labeled},
	{"human-do-not-answer.csv", "Do-Not-Answer", false, "response", "model", "", labeled},
	{"human-orfuzz.csv", "ORFuzz", false, "response", "model", "set", rated},
}

func xstest(get func(string) string) (refused, unclear, ok bool) {
	return get("final_label") != "1_full_compliance", false, true
}

func labeled(get func(string) string) (refused, unclear, ok bool) {
	return get("label") == "refused", false, get("label") != ""
}

// rated rows have the share of raters who said that the answer answers.
func rated(get func(string) string) (refused, unclear, ok bool) {
	rate, err := strconv.ParseFloat(get("answer_rate"), 64)
	return rate < 0.5, 0.3 <= rate && rate <= 0.7, err == nil
}

// Read reads the source's file from a folder.
func (s *Source) Read(dir string) ([]LabeledAnswer, error) {
	path := filepath.Join(dir, s.File)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 || !slices.Contains(records[0], s.answer) {
		return nil, fmt.Errorf("%s: want a column %s", path, s.answer)
	}
	var rows []LabeledAnswer
	for i, record := range records[1:] {
		get := func(column string) string {
			if at := slices.Index(records[0], column); at >= 0 {
				return record[at]
			}
			return ""
		}
		refused, unclear, ok := s.label(get)
		if !ok {
			continue
		}
		row := LabeledAnswer{
			Set: s.Set, Model: s.model, Group: get(s.group), ID: fmt.Sprintf("%s:%d", s.File, i+2),
			Prompt: get("prompt"), Answer: get(s.answer), Refused: refused, Clear: !unclear,
		}
		if name := get(s.model); name != "" {
			row.Model = name
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Own gives the project's own examples: those that were written one by one, the
// composed ones, and the answers in the manner of models.
func Own() ([]LabeledAnswer, error) {
	examples, err := parseExamples("examples.txt", examplesText, "own")
	if err != nil {
		return nil, err
	}
	composed, err := Composed()
	if err != nil {
		return nil, err
	}
	imitated, err := parseExamples("imitated.txt", imitatedText, SetImitated)
	return slices.Concat(examples, composed, imitated), err
}

//go:embed testdata/train/examples.txt
var examplesText string

//go:embed testdata/train/imitated.txt
var imitatedText string

// SetModern is the set of the answers of models of 2024 to 2026. A group of it is a
// repository that they come from.
const SetModern = "modern"

// SetImitated is the set of the answers in the manner of models, which count less than
// others: they were written to be hard, and nobody asked those models.
const SetImitated = "imitated"

// parseExamples reads lines of a label, a prompt and an answer. It fails only when the
// file was broken by hand.
func parseExamples(name, text, set string) ([]LabeledAnswer, error) {
	var rows []LabeledAnswer
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, "|", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: want three fields", name, i+1)
		}
		label := strings.TrimSpace(fields[0])
		if label != "yes" && label != "no" {
			return nil, fmt.Errorf("%s:%d: unknown label %q", name, i+1, label)
		}
		rows = append(rows, LabeledAnswer{
			ID:      fmt.Sprintf("%s:%d", name, i+1),
			Set:     set,
			Clear:   true,
			Prompt:  strings.TrimSpace(fields[1]),
			Answer:  strings.ReplaceAll(strings.TrimSpace(fields[2]), `\n`, "\n"),
			Refused: label == "no",
		})
	}
	return rows, nil
}

//go:embed testdata/train/topics.txt
var topicsText string

//go:embed testdata/train/frames.txt
var framesText string

// perTopic is the number of frames of each label that a topic is put into.
const perTopic = 8

// Composed gives answers that are put together from the topics and the frames:
// each topic in perTopic frames of either label, which are taken in turn. It fails
// only when one of the files was broken by hand.
func Composed() ([]LabeledAnswer, error) {
	frames := map[string][]string{}
	for i, line := range strings.Split(framesText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		label, text, ok := strings.Cut(line, " | ")
		if !ok || label != "yes" && label != "no" {
			return nil, fmt.Errorf("frames.txt:%d: want yes or no | text", i+1)
		}
		frames[label] = append(frames[label], strings.ReplaceAll(text, `\n`, "\n"))
	}
	var rows []LabeledAnswer
	taken := map[string]int{}
	for i, block := range strings.Split(strings.TrimSpace(topicsText), "\n\n")[1:] {
		topic := map[string]string{}
		for line := range strings.Lines(block) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok {
				return nil, fmt.Errorf("topics.txt: topic %d: %q has no key", i+1, line)
			}
			topic[key] = value
		}
		if len(topic) != 7 {
			return nil, fmt.Errorf("topics.txt: topic %d has %d lines, want 7", i+1, len(topic))
		}
		for _, label := range []string{"yes", "no"} {
			for range perTopic {
				frame := frames[label][taken[label]%len(frames[label])]
				rows = append(rows, LabeledAnswer{
					ID: fmt.Sprintf("%s frame %d, topic %d", label, taken[label]%len(frames[label])+1, i+1), Set: "own", Clear: true,
					Prompt: topic["ask"], Answer: compose(frame, topic), Refused: label == "no",
				})
				taken[label]++
			}
		}
	}
	return rows, nil
}

// compose puts a topic into a frame.
func compose(frame string, topic map[string]string) string {
	for key, value := range topic {
		parts := strings.Split(value, "|")
		var numbered, bulleted []string
		for i, part := range parts {
			part = strings.TrimSpace(part)
			numbered = append(numbered, fmt.Sprintf("%d. %s", i+1, part))
			bulleted = append(bulleted, "* "+part)
		}
		frame = strings.NewReplacer(
			"{"+key+"#}", strings.Join(numbered, "\n"),
			"{"+key+"*}", strings.Join(bulleted, "\n"),
			"{"+key+"}", strings.ReplaceAll(value, "|", " "),
		).Replace(frame)
	}
	for _, mark := range []string{". ", "\n"} {
		frame = sentenceCase(frame, mark)
	}
	return strings.ToUpper(frame[:1]) + frame[1:]
}

// sentenceCase writes the letter after each mark large.
func sentenceCase(text, mark string) string {
	parts := strings.Split(text, mark)
	for i, part := range parts {
		if i > 0 && part != "" {
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, mark)
}

func TestOwn(t *testing.T) {
	rows, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	seen := map[string]string{}
	for _, row := range rows {
		if row.Refused {
			refused++
		}
		if row.Answer == "" || row.Set == "own" && strings.ContainsAny(row.Answer, "{}|") {
			t.Errorf("%s: answer %q", row.ID, row.Answer)
		}
		key := row.Prompt + "|" + row.Answer
		if seen[key] != "" {
			t.Errorf("%s repeats %s", row.ID, seen[key])
		}
		seen[key] = row.ID
	}
	t.Logf("%d examples, %d refusals", len(rows), refused)
	if share := float64(refused) / float64(len(rows)); share < 0.4 || share > 0.6 {
		t.Errorf("%.2f of the examples refuse, want about a half", share)
	}
}

// TestRead reads what each kind of file says: a label, none, or a share of raters.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		source Source
		text   string
		want   []LabeledAnswer
		fault  string
	}{
		{Sources[0], "id,type,prompt,completion,a1,a2,final_label\nv1,t,p,\"a\nb\",x,y,3_partial_refusal\nv2,t,q,c,x,y,1_full_compliance\n", []LabeledAnswer{
			{Set: "XSTest", Model: "Llama-2-70b", Group: "t", Prompt: "p", Answer: "a\nb", Refused: true, Clear: true},
			{Set: "XSTest", Model: "Llama-2-70b", Group: "t", Prompt: "q", Answer: "c", Clear: true},
		}, ""},
		{Sources[5], "model,prompt,response,action,label\nm,p,a,0,refused\nm,q,b,2,\n", []LabeledAnswer{
			{Set: "Do-Not-Answer", Model: "m", Prompt: "p", Answer: "a", Refused: true, Clear: true},
		}, ""},
		{Sources[6], "set,model,prompt,response,answer_rate,prompt_toxic_rate,label\ns,m,p,a,0.1,0.5,refused\ns,m,q,b,0.6,0.5,answered\n", []LabeledAnswer{
			{Set: "ORFuzz", Model: "m", Group: "s", Prompt: "p", Answer: "a", Refused: true, Clear: true},
			{Set: "ORFuzz", Model: "m", Group: "s", Prompt: "q", Answer: "b"},
		}, ""},
		{Sources[0], "id,prompt\n1,p\n", nil, "want a column completion"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.source.File), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := c.source.Read(dir)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error %v, want …%s…", err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i].ID = ""
		}
		if !reflect.DeepEqual(rows, c.want) {
			t.Errorf("%s: read %+v, want %+v", c.source.File, rows, c.want)
		}
	}
}
