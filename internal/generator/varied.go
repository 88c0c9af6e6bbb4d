package generator

import (
	"regexp"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// Varied asks for variety: forms of requests, and other beginnings and topics than before.
type Varied struct {
	// Forms are the forms of the rewrites, in their order.
	Forms []Form
	Made  Made
}

// Made is what was made before, shown so that it is not made again.
type Made struct {
	// Openings are beginnings, and Topics words that many texts have.
	Openings, Topics []string
}

// Form is the form of a request.
type Form string

// The forms.
const (
	Asking      Form = "question"
	Writing     Form = "writing"
	Translation Form = "translation"
	Summary     Form = "summary"
	Role        Form = "role"
	Explanation Form = "explanation"
	OtherForm   Form = "other"
)

// wanted describes the forms to a generator.
var wanted = map[Form]string{
	Asking:      "a question",
	Writing:     "something to write, such as a talk, a notice or a letter",
	Translation: "a sentence to translate",
	Summary:     "something to summarize or to list",
	Role:        "something that the one who answers is to say in the role of a trade",
	Explanation: "something to explain, describe or compare",
}

// cycle is the order in which forms are asked for. Three of eight are questions, which
// users type most.
var cycle = []Form{Asking, Writing, Asking, Role, Explanation, Asking, Summary, Translation}

// FormsFrom are n forms, from a place in their cycle on.
func FormsFrom(place uint64, n int) []Form {
	forms := make([]Form, n)
	for i := range forms {
		forms[i] = cycle[(place+uint64(i))%uint64(len(cycle))]
	}
	return forms
}

// beginnings are those of the forms, in the order in which they are looked for.
var beginnings = []struct {
	Form
	begins func() *regexp.Regexp
}{
	{Translation, expression(`(?i)^(?:please |can you |could you )?(?:translate|render|put (?:(?:this|the) )?(?:\w+ )?into)\b`)},
	{Summary, expression(`(?i)^(?:please |can you |could you )?(?:summari[sz]e|sum up|list|outline|name|give me (?:a |the )?(?:list|summary|\w+ points))\b`)},
	{Writing, expression(`(?i)^(?:please |can you |could you |help me )?(?:write|draft|compose|prepare|design|create|make|give me|plan|sketch)\b`)},
	{Role, expression(`(?i)^(?:as an? |you are |speaking as|in the role of|from the (?:view|perspective) of)`)},
	{Explanation, expression(`(?i)^(?:please |can you |could you )?(?:explain|describe|compare|tell me|trace|discuss|show|teach|walk me)\b`)},
	{Asking, expression(`\?\W*$`)},
}

// FormOf is the form of a request in English, by its first words.
func FormOf(text string) Form {
	for _, f := range beginnings {
		if f.begins().MatchString(text) {
			return f.Form
		}
	}
	return OtherForm
}

// forms describes the forms to a generator.
func (v Varied) forms() string {
	var all []string
	for _, f := range v.Forms {
		all = append(all, wanted[f])
	}
	return strings.Join(all, "; ")
}

// texts are the untrusted texts of what was made.
func (m Made) texts() []string { return append(append([]string{}, m.Openings...), m.Topics...) }

// show writes what was made between fences, or nothing.
func (m Made) show(fence string) string {
	if len(m.texts()) == 0 {
		return ""
	}
	what, avoid, topics := "beginnings and topics", "Begin in other ways, and choose other topics.", "Topics: "+untrusted.OneLine(strings.Join(m.Topics, "; "))+"\n"
	if m.Topics == nil {
		what, avoid, topics = "beginnings", "Begin in other ways.", ""
	}
	return "Others have made many already. Between the next two lines with the code " + fence + " stand " + what + " of those. " + avoid + "\n\n" +
		"<<" + fence + " MADE BEFORE OPENS>>\n" +
		"Beginnings: " + untrusted.OneLine(strings.Join(m.Openings, "; ")) + "\n" + topics +
		"<<" + fence + " MADE BEFORE CLOSES>>\n\n"
}
