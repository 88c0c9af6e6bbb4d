package reply

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// form is an entry of thinking.json: a form in which models, servers and tools put thinking into
// the text of an answer.
type form struct {
	Name string `json:"name"`
	// Tags are words of a tag that stands around thinking, in any brackets and letter case:
	// <word>, [WORD], [Start word], <|START_WORD|>, <maker:word>. The name of the form is the word.
	Tags []string `json:"tags"`
	// Open begins the thinking, at the start of the text, in any letter case.
	Open []string `json:"open"`
	// Close ends it; the earliest counts. Thinking that is never closed takes the whole text.
	Close []string `json:"close"`
	// Opens and Closes are the same as regular expressions.
	Opens  []string `json:"opens"`
	Closes []string `json:"closes"`
	// Closed is true of thinking only if it is closed, since answers may begin alike.
	Closed bool `json:"closed"`
	// Spoken is true of thinking only if it speaks of who asked or of what to do, or if an answer
	// in a tag follows, since answers may have such parts.
	Spoken bool `json:"spoken"`
	// Lone is true of thinking that may also end without having begun, as chat templates that
	// begin it leave it.
	Lone bool `json:"lone"`
	Entry
	// opening is Open, Opens or that of Tags at the start of a text, opened anywhere, and closing
	// Close.
	opening, opened, closing *regexp.Regexp
	// begins has the first bytes of each of Open in lower case.
	begins []string
}

// The tags around thinking, and around the answer after it; %s is the words. [Start thinking] is of
// https://github.com/ggml-org/llama.cpp/blob/master/tools/cli/cli.cpp.
const (
	openTag  = `(?:\\?<[|｜]? ?|＜|\[|【|◁|&lt;)(?:(?:start|begin)[_ ](?:of_)?)?(?:[a-z]{2,12}[:_ -]?){0,2}(?:%s)` + partOfTag + `(?:_start|_begin)?(?:\s[^<>\[\]]{0,80})?(?:[|｜]?\\?>|＞|\]|】|▷|&gt;)`
	closeTag = `(?:\\?<[|｜]? ?(?:\\?/ ?|end_(?:of_)?)|＜ ?/|\[(?:/|end )|【/|◁/|&lt;/)(?:[a-z]{2,12}[:_ -]?){0,2}(?:%[1]s)` + partOfTag + `(?: ?[|｜]?\\?>|＞|\]|】|▷|&gt;)|<\|(?:%[1]s)_end\|>`
	// partOfTag may follow the word of a tag; the last is Seed's (https://github.com/amznsri/openvox/commit/a2f4823).
	partOfTag = `(?:[_-]?(?:process|content|steps|text|trace|fast|faster)|_never_used_\w{1,64})?`
	answers   = `answer|response|output|solution|text|antwort|respuesta|resposta|r[ée]ponse|ответ|답변|回答`
)

// compile makes the expressions of forms, with flags.
func compile(all []form, flags string) []form {
	quoted := func(texts []string) string {
		texts = slices.Clone(texts)
		for i, t := range texts {
			texts[i] = regexp.QuoteMeta(t)
		}
		return strings.Join(texts, `|`)
	}
	for i, f := range all {
		for _, open := range f.Open {
			all[i].begins = append(all[i].begins, strings.ToLower(open[:firstBytes]))
		}
		opens, closes := quoted(f.Open), quoted(f.Close)
		if f.Opens != nil {
			opens, closes = strings.Join(f.Opens, `|`), strings.Join(f.Closes, `|`)
		}
		if words := strings.Join(f.Tags, `|`); words != "" {
			opens, closes = fmt.Sprintf(openTag, words), fmt.Sprintf(closeTag, words)
		}
		all[i].opening, all[i].opened = regexp.MustCompile(flags+`^(?:`+opens+`)`), regexp.MustCompile(flags+opens)
		all[i].closing = regexp.MustCompile(flags + closes)
	}
	return all
}

// called is the name of the form: of tags the longest of their words that is in one.
func (f *form) called(tag string) string {
	name := f.Name
	for _, word := range f.Tags {
		if len(word) > len(name) && strings.Contains(strings.ToLower(tag), word) {
			name = word
		}
	}
	return name
}

var (
	written = load[form]("thinking.json")
	forms   = sync.OnceValue(func() []form { return compile(slices.Clone(written()), `(?i)`) })
	// begun and ended are the marks of chat templates at an end of a text, with the role that
	// one names.
	begun = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:` + marks() + `\s*)+`) })
	ended = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:\s*` + marks() + `)+$`) })
	// firstForms are those of the first reading, which knows them letter by letter.
	firstForms = sync.OnceValue(func() []form {
		return compile(slices.DeleteFunc(slices.Clone(written()), func(f form) bool { return !(Reading{Date: First}).knows(f.Entry) }), "")
	})
	answerOpens  = regexp.MustCompile(`(?i)^` + fmt.Sprintf(openTag, answers) + `\s*`)
	answerCloses = regexp.MustCompile(`(?i)\s*` + fmt.Sprintf(closeTag, answers) + `\s*$`)
)

// deliberates is in thinking about a request, and seldom in what somebody asked for.
var deliberates = regexp.MustCompile(`(?i)\b(?:the|this|my) (?:user|request|prompt|question|person)(?:'s)? (?:is|was|are|asks?|asked|wants?|wanted|needs?|seems?|has|says|said|would|may|might|could|looks|does|doesn't|can|wrote|gave|provided)\b|\b(?:they|he|she|user)(?:'re| are| is)? (?:asks?|asked|asking|wants?|wanted)\b|\b(?:asks|asked|asking) (?:me|for|about|how|to)\b|\b(?:i|we) (?:should|need|must|could|can|can't|cannot|will|won't|would|think|have to|want)\b|\bi(?:'ll|'d)\b|\blet(?:'s| me| us)\b|\bshould i\b|^\W*(?:okay|ok|hmm|wait|alright|so),`)

// openers are the bytes with which thinking begins.
const openers = "<[&\xe2\xe3\xe6\xef\xf0\\:*_#(>=-`AaCcHhIiMmRrSsTt"

// before is what may stand before a tag: marks that nobody sees, and the name of a role.
var before = regexp.MustCompile(`(?i)^(?:[\x{200b}\x{feff}\x{2060}]|(?:assistant|model|ai)\s*[:\n]\s*)+`)

// space is the white space around marks.
const space = " \t\r\n"

// Cut parts an answer from the thinking at its start, and names the form of the thinking;
// empty for none. Thinking later in the text belongs to the answer. The present reading also
// takes the marks of a chat template from both ends.
func (r Reading) Cut(text string) (answer, thinking, name string) {
	known := r.forms()
	var blocks []string
	answer, cut := text, false
	// A model may think again at once; each block is cut.
	for {
		block, rest, called := r.block(answer, known)
		last := called == ""
		if last && !cut {
			block, rest, called = r.lone(answer, known)
		}
		if called == "" {
			break
		}
		name = cmp.Or(name, called)
		if block = strings.TrimSpace(block); block != "" {
			blocks = append(blocks, block)
		}
		answer, cut = strings.TrimLeft(rest, space), true
		if !r.old() {
			if answer = bare(answer); answerOpens.MatchString(answer) {
				answer = answerCloses.ReplaceAllString(answerOpens.ReplaceAllString(answer, ""), "")
			}
		} else if last {
			break
		}
	}
	if !r.old() {
		answer = bare(answer)
	}
	return answer, strings.Join(blocks, "\n"), name
}

// formsOf are the forms of older readings by their dates.
var formsOf sync.Map

// forms are those that the reading knows.
func (r Reading) forms() []form {
	switch {
	case r.old():
		return firstForms()
	case r.Date == "" || r.Date >= Present:
		return forms()
	}
	known, ok := formsOf.Load(r.Date)
	if !ok {
		known, _ = formsOf.LoadOrStore(r.Date, slices.DeleteFunc(slices.Clone(forms()), func(f form) bool { return !r.knows(f.Entry) }))
	}
	return known.([]form)
}

// longestOpen is the length of the longest text that begins thinking, and firstBytes how much of
// its beginning tells most texts that do not.
const longestOpen, firstBytes = 200, 4

// block cuts one block that begins the text, and names its form. One left open takes all of it.
func (r Reading) block(text string, known []form) (block, rest, called string) {
	trimmed := strings.TrimLeft(text, space)
	if !r.old() {
		trimmed = trimmed[len(before.FindString(trimmed[:min(len(trimmed), longestOpen)])):]
	}
	if trimmed == "" || strings.IndexByte(openers, trimmed[0]) < 0 {
		return "", text, ""
	}
	first := trimmed[:min(len(trimmed), firstBytes)]
	letter := first[0]|0x20 >= 'a' && first[0]|0x20 <= 'z'
	for i := range known {
		f := &known[i]
		if f.begins != nil && !slices.ContainsFunc(f.begins, func(b string) bool { return strings.EqualFold(b, first) }) || len(f.Tags) > 0 && letter {
			continue
		}
		open := f.opening.FindStringIndex(trimmed[:min(len(trimmed), longestOpen)])
		if open == nil {
			continue
		}
		inside, called := trimmed[open[1]:], f.called(trimmed[:open[1]])
		if at := f.closing.FindStringIndex(inside); at != nil && (!f.Closed || strings.TrimLeft(inside[at[1]:], space) != "") {
			next := strings.TrimLeft(inside[at[1]:], space)
			if f.Spoken && !answerOpens.MatchString(next) && (strings.IndexByte("<[", next[0]) >= 0 || !deliberates.MatchString(inside[:at[0]])) {
				continue // a part of an answer in parts
			}
			return inside[:at[0]], afterLine(inside, at[1]), called
		}
		if !f.Closed && (trimmed[0] != '[' || strings.HasPrefix(trimmed, "[THINK]")) {
			return inside, "", called
		}
	}
	return "", text, ""
}

// lone cuts thinking that has an end and no beginning.
func (r Reading) lone(text string, known []form) (block, rest, called string) {
	if strings.IndexByte(text, '/') < 0 && strings.IndexByte(text, '|') < 0 && !strings.Contains(text, "assistantfinal") || !slices.ContainsFunc(closers, func(c string) bool { return strings.Contains(text, c) }) {
		return "", text, ""
	}
	at, lower := len(text), strings.ToLower(text)
	for i := range known {
		f := &known[i]
		if !f.Lone || r.old() && f.Name != "think" || len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(w string) bool { return strings.Contains(lower, w) }) {
			continue
		}
		for _, end := range f.closing.FindAllStringIndex(text, mostClosers) {
			before, after := text[:end[0]], text[end[1]:]
			if end[0] >= at || !f.Closed && f.opened.MatchString(before) {
				break
			}
			if r.old() || !spokenOf(before, after) {
				at, block, rest, called = len(before), before, after, f.called(text[end[0]:end[1]])
				break
			}
		}
	}
	return block, rest, called
}

// mostClosers bounds how many marks that end thinking are looked at in a text.
const mostClosers = 20

// quotes have the closing mark of each opening one.
var quotes = map[rune]rune{'`': '`', '"': '"', '\'': '\'', '*': '*', '“': '”', '‘': '’', '«': '»', '(': ')'}

// spokenOf reports whether a mark between two texts stands in a sentence or a quotation, and ends
// nothing.
func spokenOf(before, after string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	rest, _, _ := strings.Cut(after, "\n")
	last, _ := utf8.DecodeLastRuneInString(line)
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case strings.Count(before, "```")%2 == 1, quotes[last] != 0 && quotes[last] == next:
		return true
	case strings.Count(line, `"`)%2 == 1 && strings.Contains(rest, `"`), strings.Count(line, "`")%2 == 1 && strings.Contains(rest, "`"):
		return true
	}
	said := strings.TrimRight(line, " \t")
	return said != "" && said != line && strings.TrimSpace(rest) != "" && !strings.ContainsAny(said[len(said)-1:], ".!?:;)*_\"") && said[len(said)-1] < utf8.RuneSelf
}

// closers have one in each mark that ends thinking and may stand alone, so that most texts are
// searched for few.
var closers = []string{"</", "< /", "＜", "|>", "[/", "◁/", "&lt;/", "assistantfinal"}

// afterLine is a text from a place on, without the rest of the line where a mark before it ends
// in ": ", as that of a signature does.
func afterLine(text string, at int) string {
	if !strings.HasSuffix(text[:at], ": ") {
		return text[at:]
	}
	_, rest, _ := strings.Cut(text[at:], "\n")
	return rest
}

// marks is the expression of a mark.
func marks() string {
	var all []string
	for _, m := range load[block]("marks.json")() {
		all = append(all, m.Texts...)
	}
	return `(?:` + strings.Join(all, `|`) + `)(?:(?:assistant|model|user)\b)?`
}

// endings are in the marks in which a text may end, one in each.
var endings = []string{"<", "inst]", "[eos]", "[e~["}

// bare is a text without the marks of a chat template at its ends.
func bare(text string) string {
	trimmed := strings.Trim(text, space)
	if trimmed != "" && strings.IndexByte("<[", trimmed[0]) >= 0 {
		trimmed = trimmed[len(begun().FindString(trimmed[:min(len(trimmed), longestOpen)])):]
	}
	tail := trimmed[max(0, len(trimmed)-longestOpen):]
	if lower := strings.ToLower(tail); slices.ContainsFunc(endings, func(e string) bool { return strings.Contains(lower, e) }) {
		trimmed = trimmed[:len(trimmed)-len(ended().FindString(tail))]
	}
	if trimmed == strings.Trim(text, space) {
		return text
	}
	return strings.Trim(trimmed, space)
}
