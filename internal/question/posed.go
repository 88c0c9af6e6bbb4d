package question

import (
	"regexp"
	"strings"
)

// opens matches the line that opens a text, in the wordings of every version.
var opens = regexp.MustCompile(`(?m)^<<([0-9a-f]{16}) [^\n>]+ OPENS>>\n`)

// Taken is a posed question divided into its parts again.
type Taken struct {
	// Wording is the question, without the texts and their code.
	Wording string
	// Texts are the texts that the question was about, in their order.
	Texts []string
}

// Take divides a question made by Pose into its parts. It reports false for any other
// text.
func Take(posed string) (t Taken, ok bool) {
	if !strings.Contains(posed, " OPENS>>\n") {
		return t, false // seen sooner than by the pattern
	}
	first := opens.FindStringSubmatch(posed)
	if first == nil {
		return t, false
	}
	// No text contains the code, so a line with the code belongs to the wording.
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
