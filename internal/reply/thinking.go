package reply

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// form is a form of thinking; see thinking.yaml.
type form struct {
	Name   string   `yaml:"name"`
	Open   []string `yaml:"open"`
	Close  []string `yaml:"close"`
	Closed bool     `yaml:"closed"`
	Lone   bool     `yaml:"lone"`
	Answer []string `yaml:"answer"`
	// closing is Close in any letter case.
	closing *regexp.Regexp
	Entry   `yaml:",inline"`
}

// mark is a mark of a chat template; see marks.yaml.
type mark struct {
	At    string   `yaml:"at"`
	Marks []string `yaml:"marks"`
	Entry `yaml:",inline"`
}

var (
	forms = sync.OnceValue(func() []form {
		all := load[form]("thinking.yaml")()
		for i, f := range all {
			var marks []string
			for _, m := range f.Close {
				marks = append(marks, regexp.QuoteMeta(m))
			}
			all[i].closing = regexp.MustCompile(`(?i)` + strings.Join(marks, `|`))
		}
		return all
	})
	marks = load[mark]("marks.yaml")
	// openers has the bytes with which thinking begins.
	openers = sync.OnceValue(func() string {
		var b strings.Builder
		for _, f := range forms() {
			for _, open := range f.Open {
				b.WriteString(strings.ToLower(open[:1]) + strings.ToUpper(open[:1]) + open[:1])
			}
		}
		return b.String()
	})
	// firstForms are those of the first reading.
	firstForms = sync.OnceValue(func() []form {
		return slices.DeleteFunc(slices.Clone(forms()), func(f form) bool { return !(Reading{Date: First}).knows(f.Entry) })
	})
)

// space is the white space around marks.
const space = " \t\r\n"

// Cut parts an answer from the thinking at its start, and names the form of the thinking;
// empty for none. Thinking later in the text belongs to the answer. The present reading also
// takes the marks of a chat template from both ends.
func (r Reading) Cut(text string) (answer, thinking, name string) {
	known := forms()
	switch {
	case r.old():
		known = firstForms()
	case r.Date != "" && r.Date < Present:
		known = slices.DeleteFunc(slices.Clone(known), func(f form) bool { return !r.knows(f.Entry) })
	}
	var blocks []string
	answer, cut := text, false
	// A model may think again at once; each block is cut.
	for {
		block, rest, f := r.block(answer, known)
		last := f == nil
		if last && !cut {
			block, rest, f = r.lone(answer, known)
		}
		if f == nil {
			break
		}
		if name == "" {
			name = f.Name
		}
		if block = strings.TrimSpace(block); block != "" {
			blocks = append(blocks, block)
		}
		answer, cut = strings.TrimLeft(rest, space), true
		if !r.old() {
			answer = between(bare(answer), f.Answer)
		} else if last {
			break
		}
	}
	if !r.old() {
		answer = bare(answer)
	}
	return answer, strings.Join(blocks, "\n"), name
}

// block cuts one block that begins the text. A block left open takes all of it.
func (r Reading) block(text string, known []form) (block, rest string, of *form) {
	trimmed := strings.TrimLeft(text, space)
	if trimmed == "" || strings.IndexByte(openers(), trimmed[0]) < 0 {
		return "", text, nil
	}
	for i := range known {
		f := &known[i]
		for _, open := range f.Open {
			if !begins(trimmed, open, r.old()) {
				continue
			}
			inside := trimmed[len(open):]
			if !r.old() {
				if at := f.closing.FindStringIndex(inside); at != nil {
					return inside[:at[0]], afterLine(inside, at[1]), f
				}
			} else if before, after, ok := cutAny(inside, f.Close); ok {
				return before, after, f
			}
			if !f.Closed {
				return inside, "", f
			}
		}
	}
	return "", text, nil
}

// lone cuts thinking that has an end and no beginning.
func (r Reading) lone(text string, known []form) (block, rest string, of *form) {
	if !slices.ContainsFunc(closers, func(c string) bool { return strings.Contains(text, c) }) {
		return "", text, nil
	}
	at := len(text)
	for i := range known {
		f := &known[i]
		if !f.Lone || r.old() && f.Name != "think" {
			continue
		}
		before, after, ok := cutAny(text, f.Close)
		if !ok || len(before) >= at || slices.ContainsFunc(f.Open, func(open string) bool { return open != "analysis" && strings.Contains(before, open) }) {
			continue
		}
		// One that is quoted is spoken of.
		if !r.old() && (strings.Count(before, "```")%2 == 1 || strings.HasSuffix(before, "`") || strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'")) {
			continue
		}
		at, block, rest, of = len(before), before, after, f
	}
	return block, rest, of
}

// closers have one in each mark that ends thinking and may stand alone, so that most texts are
// searched for few.
var closers = []string{"</", "|>", "[/", "◁/", "assistantfinal"}

// begins reports whether a text begins so, in any letter case but for the first reading.
func begins(text, with string, exactly bool) bool {
	return len(text) >= len(with) && (text[:len(with)] == with || !exactly && strings.EqualFold(text[:len(with)], with))
}

// cutAny cuts a text around the earliest of some marks.
func cutAny(text string, marks []string) (before, after string, ok bool) {
	at, end := len(text), len(text)
	for _, m := range marks {
		if i := strings.Index(text[:at], m); i >= 0 {
			at, end, ok = i, i+len(m), true
		}
	}
	return text[:at], text[end:], ok
}

// afterLine is a text from a place on, without the rest of the line where a mark before it ends
// in ": ", as that of a signature does.
func afterLine(text string, at int) string {
	if !strings.HasSuffix(text[:at], ": ") {
		return text[at:]
	}
	_, rest, _ := strings.Cut(text[at:], "\n")
	return rest
}

// between takes pairs of marks from around a text.
func between(text string, pairs []string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if begins(text, pairs[i], false) {
			inner := strings.TrimRight(text[len(pairs[i]):], space)
			if n := len(inner) - len(pairs[i+1]); n >= 0 && strings.EqualFold(inner[n:], pairs[i+1]) {
				inner = inner[:n]
			}
			return strings.Trim(inner, space)
		}
	}
	return text
}

// bare is a text without the marks of a chat template at its ends.
func bare(text string) string {
	for {
		trimmed := strings.Trim(text, space)
		if trimmed == "" || !strings.ContainsAny(trimmed[:1]+trimmed[len(trimmed)-1:], "<[>]") {
			return text
		}
		short := trimmed
		for _, m := range marks() {
			for _, s := range m.Marks {
				if m.At == "end" {
					short = strings.TrimSuffix(short, s)
				} else {
					short = strings.TrimPrefix(short, s)
				}
			}
		}
		if short == trimmed {
			return text
		}
		text = strings.Trim(short, space)
	}
}
