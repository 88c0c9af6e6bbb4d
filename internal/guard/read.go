package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/question"
)

// read reads a guard's reply to a question, ignoring its thinking. The error says in a
// clause why it cannot be read.
func (g Guard) read(about About, reply string) (Assessment, error) {
	if !g.Format.Tells(about) {
		return Assessment{}, fmt.Errorf("the guard format %q cannot tell %s", g.Format, about)
	}
	reply = strings.TrimSpace(reply)
	t := g.Format.traits()
	switch t.Reply {
	case "lines":
		a, err := readLines(t.Lines, about, reply)
		if g.Format == Qwen3Guard && about == PromptHarm {
			a.Refusal = nil // no answer was shown
		}
		return a, err
	case "first line":
		return readFirstLine(t.Lines[0], about, reply)
	case "object":
		return readSafeguard(about, reply)
	case "labels":
		return g.readLabels(about, reply)
	}
	var a Assessment
	word, err := readWord(t.Lines[0], reply, t.Reply == "score")
	if err != nil {
		return a, err
	}
	a.set(about, (word == t.Lines[0].Yes) != g.OfToxic())
	return a, nil
}

// readLines reads lines of the form "Response refusal: yes". PolyGuard and Qwen3Guard have
// lines of hazards too.
func readLines(lines []line, about About, reply string) (Assessment, error) {
	var a Assessment
	seen := map[string]string{}
	for label, value := range labeledLines(reply) {
		if label == "categories" || strings.HasSuffix(label, " violations") {
			a.addHazards(value)
			continue
		}
		at := slices.IndexFunc(lines, func(l line) bool { return l.Label == label })
		if at < 0 {
			continue
		}
		l := lines[at]
		value = strings.ToLower(value)
		if before, again := seen[label]; again && before != value {
			return Assessment{}, fmt.Errorf("it gives both %s and %s for %s", question.Clip(before), question.Clip(value), label)
		}
		seen[label] = value
		asked := l.About
		switch {
		case asked == "" && about == PromptHarm:
			asked = PromptHarm
		case asked == "":
			asked = AnswerHarm
		}
		between := l.Between != "" && value == l.Between
		a.Controversial = a.Controversial || between
		switch {
		case value == l.Yes, value == l.No, between:
			a.set(asked, value == l.Yes)
		case value != l.Nothing:
			return Assessment{}, fmt.Errorf("it gives %q for %s, neither %s nor %s", question.Clip(value), label, l.Yes, l.No)
		}
	}
	if a.Of(about) == nil {
		return Assessment{}, fmt.Errorf("it says nothing on %s", about)
	}
	return a, nil
}

// labeledLines gives the lines of a reply with the form "Label: value", the labels in
// lower case.
func labeledLines(reply string) iter.Seq2[string, string] {
	return func(yield func(label, value string) bool) {
		for line := range strings.Lines(reply) {
			label, value, ok := strings.Cut(line, ":")
			if ok && !yield(strings.ToLower(strings.TrimSpace(label)), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// hazardCode is the form of Llama Guard's codes: S1 to S14 of MLCommons, and O1 and so on
// for custom categories.
var hazardCode = regexp.MustCompile(`^[A-Z][0-9]{1,2}$`)

// readFirstLine reads a word for yes or no in the first line, and in a second line the codes
// of what is harmful.
func readFirstLine(l line, about About, reply string) (Assessment, error) {
	var a Assessment
	word, rest, _ := strings.Cut(reply, "\n")
	rest = strings.TrimSpace(rest)
	verdict := strings.ToLower(strings.TrimSpace(word))
	if verdict != l.Yes && verdict != l.No {
		return a, fmt.Errorf("its first line is %q, neither %s nor %s", question.Clip(word), l.No, l.Yes)
	}
	for line := range strings.Lines(rest) {
		if other := strings.ToLower(strings.TrimSpace(line)); (other == l.Yes || other == l.No) && other != verdict {
			return a, fmt.Errorf("it gives both %s and %s", l.No, l.Yes)
		}
	}
	a.set(about, verdict == l.Yes)
	if verdict == l.Yes {
		codes, _, _ := strings.Cut(rest, "\n")
		for code := range strings.SplitSeq(codes, ",") {
			if hazardCode.MatchString(strings.TrimSpace(code)) {
				a.addHazards(code)
			}
		}
	}
	return a, nil
}

// readWord reads the first word of a reply, which must be that for yes or no. With scored set, the word may
// instead be between <score> tags, once, or in the "score" field of a JSON object.
func readWord(l line, reply string, scored bool) (string, error) {
	if scored {
		reply = strings.ToLower(reply)
	}
	var object struct{ Score string }
	if scored && json.Unmarshal([]byte(reply), &object) == nil {
		reply = object.Score
	}
	if _, rest, ok := strings.Cut(reply, "<score>"); ok && scored {
		score, after, closed := strings.Cut(rest, "</score>")
		if !closed || strings.Contains(after, "<score>") {
			return "", errors.New("it does not hold one closed score")
		}
		reply = strings.TrimSpace(score)
	}
	word := strings.TrimLeft(reply, question.Decoration)
	end := strings.IndexFunc(word, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	if end >= 0 {
		word = word[:end]
	}
	if word = strings.ToLower(word); word == l.Yes || word == l.No {
		return word, nil
	}
	return "", fmt.Errorf("it begins with %q, neither Yes nor No", question.Clip(reply))
}
