package generator

import (
	"slices"
	"strings"

	"github.com/orbench/orbench/similar"
)

// refusing and remarking are beginnings of sentences that a generator writes on its own
// behalf: refusals, and remarks around a list. They are normalized by package similar, so
// that "I'm" is "im". Some users begin a request this way too; such a request is lost.
var (
	refusing = []string{
		"im sorry", "i am sorry", "sorry i", "sorry but", "i apologize", "i apologise", "my apologies", "i cannot", "i can not",
		"i cant help", "i cant assist", "i cant provide", "i cant create", "i cant generate", "i cant write", "i cant fulfill", "i cant do", "i cant comply", "im unable", "i am unable", "im not able", "i am not able", "i wont", "i will not", "i must decline",
		"i must refuse", "as an ai", "as a language model", "as an assistant", "unfortunately i", "im not comfortable",
		"i do not feel comfortable", "i dont feel comfortable", "its not appropriate", "it is not appropriate", "i understand that you",
		"i appreciate your",
	}
	remarking = []string{
		"here are", "here is", "heres", "here you go", "below are", "below is", "the following are", "the following is",
		"the following requests", "the following prompts", "sure here", "certainly here", "of course here", "let me know", "i hope",
		"feel free", "note that", "please note", "note these", "note the", "disclaimer", "these requests", "these prompts", "these rewrites",
		"these questions", "this request", "this prompt", "this rewrite", "each request", "each prompt", "each of these", "all of these",
		"would you like me to", "if you need more", "if you need any", "if you need further", "if youd like", "if you would like", "end of list",
		"end of data", "end of the list", "new request", "new requests", "first request", "second request", "other request", "double brackets",
	}
	// whole are remarks only when nothing follows.
	whole = []string{"sure", "certainly", "of course", "okay", "ok", "none", "n a", "prompt", "request", "example", "examples", "requests", "prompts"}
)

// remarkIn returns the words that show that a text is a refusal, a remark or a heading.
// It returns "" if the text may be a prompt.
func remarkIn(text string) string {
	trimmed := strings.TrimRight(text, "*_ ")
	if strings.HasSuffix(trimmed, ":") {
		return ":"
	}
	start := similar.Normalize(head(text, 80))
	for _, phrases := range [][]string{refusing, remarking} {
		if p := opening(start, phrases); p != "" {
			return p
		}
	}
	if slices.Contains(whole, start) {
		return start
	}
	return ""
}

// opening gives the phrase at the start of a normalized text, if it ends at a word's end,
// or "".
func opening(start string, phrases []string) string {
	for _, p := range phrases {
		if rest, ok := strings.CutPrefix(start, p); ok && (rest == "" || rest[0] == ' ') {
			return p
		}
	}
	return ""
}

// head is the beginning of a text, of at most n bytes.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// comments begin what a generator says of a request behind it or below it.
var comments = expression(`(?i)^[\s(\[{*_>#/=|–—→-]*(?:` +
	`(?:note|nb|explanation|explained|reason|reasoning|rationale|why|comment|remark|context|category|purpose|intent|justification|safety|label|tone|risk|severity|keywords?|triggers?|meaning|focus)\b[^.?!]{0,30}[:=–—]` +
	`|this (?:is (?:an? |only |just |about |not )?(?:\w+ )?(?:safe|harmless|benign|mild|milder|alarming|fine|question|request|prompt|rewrite|harmful|toxic)|request|prompt|rewrite|question|version|wording|sentence|seed|sounds|asks|seeks|may sound|might sound|can be answered|rephrases|focuses|shifts|reframes|keeps|one (?:is|asks|sounds))\b` +
	`|(?:it|the (?:request|prompt|question|rewrite|user|words?|intent)) (?:only |just |still )?(?:sounds|asks|seeks|focuses|is (?:safe|harmless|benign|mild|asking|only|about)|may sound)\b` +
	`|(?:safe|harmless|benign|milder|mild|toxic|alarming|borderline)(?:$|[)\]*_.,:;]| (?:because|since|as|to answer|version|request|prompt|question|one)\b)` +
	`|(?:asks?|sounds|seeks|asking) (?:for|about|only|alarming|scary|bad|how|what|why|knowledge)\b` +
	`|\d+ words\b` +
	`)`)

// ofRemark marks the beginning of a remark that no request has.
var ofRemark = expression(`\s+(?:\||//|#|->|=>|<-|→|←|⇒)\s+\S`)

// sentenceEnd is the end of a sentence within a text, and aside what may follow in marks.
var (
	sentenceEnd = expression(`[.?!]["”’')]*\s+`)
	aside       = expression(`^(?:[(\[{*_|]|(?:--?|[–—→⇒#]|//|=>|->)\s)`)
	// inMarks is a remark at the end of a text in brackets or behind a dash.
	inMarks = expression(`\s+(?:[(\[*_]+([^()\[\]]+)[)\]*_]*\.?|(?:--?|[–—])\s+([^–—]+))$`)
)

// cutRemark cuts off a remark behind a request on one line. It reports whether there was
// one.
func cutRemark(text string) (string, bool) {
	for _, at := range sentenceEnd().FindAllStringIndex(text, -1) {
		rest := text[at[1]:]
		if comments().MatchString(rest) || opening(similar.Normalize(head(rest, 80)), remarking) != "" || aside().MatchString(rest) && !strings.HasSuffix(rest, "?") {
			return strings.TrimSpace(text[:at[1]]), true
		}
	}
	if at := ofRemark().FindStringIndex(text); at != nil && at[0] > 0 {
		return strings.TrimSpace(text[:at[0]]), true
	}
	if at := inMarks().FindStringSubmatchIndex(text); at != nil && at[0] > 0 && comments().MatchString(text[at[0]:]) {
		return strings.TrimSpace(text[:at[0]]), true
	}
	return text, false
}

// cutBelow joins the lines of a request and cuts off the remark below it: what follows a
// line that ends like a sentence, or begins like a remark. It reports whether there was
// one.
func cutBelow(lines string) (string, bool) {
	text := ""
	for line := range strings.SplitSeq(lines, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case text == "":
			text = line
		case len(text) > longestItem:
			return text, true
		case ends(text) || comments().MatchString(line) || remarkIn(line) != "" || line[0] == '(':
			return text, true
		default:
			text += " " + line
		}
	}
	return text, false
}
