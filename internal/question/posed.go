package question

import (
	"regexp"
	"strings"
)

// opens is the line that opens a text in the wordings of every version.
var opens = regexp.MustCompile(`(?m)^<<([0-9a-f]{16}) [^\n>]+ OPENS>>\n`)

// Taken is a posed question taken apart again.
type Taken struct {
	// Wording is what was asked, without the texts and their code.
	Wording string
	// Texts are what it was asked about, in their order.
	Texts []string
}

// Take takes apart what Pose made. It reports false for a text that is no such question.
func Take(posed string) (t Taken, ok bool) {
	first := opens.FindStringSubmatch(posed)
	if first == nil {
		return t, false
	}
	// None of the texts holds the code, so whatever does is the wording's.
	code := first[1]
	var wording strings.Builder
	for rest, more := posed, true; more; {
		var before string
		before, rest, more = strings.Cut(rest, "<<"+code+" ")
		wording.WriteString(before)
		if !more {
			break
		}
		name, body, opened := strings.Cut(rest, " OPENS>>\n")
		text, after, closed := strings.Cut(body, "\n<<"+code+" "+name+" CLOSES>>")
		if !opened || !closed {
			return Taken{}, false
		}
		wording.WriteString(name)
		t.Texts, rest = append(t.Texts, text), after
	}
	t.Wording = strings.ReplaceAll(wording.String(), code, "")
	return t, true
}
