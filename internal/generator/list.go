package generator

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// Items reads the items of a response to a request for a list, ignoring the model's
// thinking. A response that the provider blocked has none. Where the token limit ended it, an
// item that may be incomplete is left out.
//
// A provider that supports a schema sends JSON. Others are asked for double brackets,
// which their models use most of the time. So a reply is read in the first of these forms
// that yields an item:
//
//  1. JSON: the strings of lists, and of fields with a matching name ("prompt", "1")
//  2. double brackets [[…]] or guillemets «…», and lines in single brackets
//  3. numbered lines, or else lines with a bullet; a line without a marker continues
//     the item above it, and a heading that ends in a colon is no item
//  4. lines in quotation marks
//
// Introductions, remarks and code fences are left out. A paragraph in none of these forms
// is no item. In the last two forms, neither is an item introduced by a refusal, so a
// refusal yields nothing. Remarks behind an item or below it are cut off. Each item is one
// line: without quotes, Markdown, control characters or double spaces around or in it, and
// never empty.
func Items(response model.Response) (texts []string) {
	for _, item := range rawItems(response) {
		texts = append(texts, item.Text)
	}
	return texts
}

// rawItems are the items of a response with the habits that are mended.
func rawItems(response model.Response) []Item {
	if response.Finish == model.Blocked {
		return nil
	}
	said, cut := response.Text, response.Finish == model.Length
	said = lineEnds.Replace(strings.ToValidUTF8(reply.Reading{}.Reply(said), "\uFFFD"))
	said = codeFence().ReplaceAllString(said, "\n")
	for _, form := range []func(reply string, cut bool) []string{
		jsonItems, doubleBracketed, all(guillemets()), all(bracketLine()), listed(numbered()), listed(bulleted()), all(quotedLine()),
	} {
		var items []Item
		for _, raw := range form(said, cut) {
			var item Item
			text, below := cutBelow(raw)
			if below {
				item.note(RemarkBelow)
			}
			text, behind := cutRemark(cleanItem(text))
			if behind {
				item.note(RemarkBehind)
			}
			if item.Text = cleanItem(text); item.Text != "" {
				items = append(items, item)
			}
		}
		if len(items) > 0 {
			return items
		}
	}
	return nil
}

// The forms of items. The first group of an expression matches the item.
var (
	lineEnds   = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n")
	codeFence  = expression("```(?:[a-z]*\n)?")
	guillemets = expression(`[«‹]([^«»‹›]+)[»›]`)
	// bracketLine and quotedLine each match a line that contains nothing else.
	bracketLine = expression(`(?m)^[ \t]*\[([^\[\]\n'"][^\[\]\n]*)\][ \t,;.]*$`)
	quotedLine  = expression(`(?m)^[ \t]*["“„]([^"“”\n]+)["“”][ \t,;.]*$`)
	// numbered is a line like "1. text", "(1) text" or "**Prompt 1:** text". A year or a
	// measurement does not begin an item.
	numbered = expression(`^[\s>#*_(\[]*(?i:(?:prompt|rewrite|request|item|example|question|seed)[ #]*)?[0-9]{1,3}(?:[*_]*[.):\]]+[*_]*| [-–—])(\D.*|\s.*|)$`)
	bulleted = expression(`^[\s>]*(?:[-*+][ \t]+|[•–—·]\s*)(?:\[[ xX]\] )?(.*)$`)
)

func all(form *regexp.Regexp) func(string, bool) []string {
	return func(reply string, _ bool) []string {
		var items []string
		for _, match := range form.FindAllStringSubmatch(reply, -1) {
			items = append(items, match[1])
		}
		return items
	}
}

var (
	// jsonStart begins a line with JSON that holds strings.
	jsonStart = expression(`(?m)^[ \t]*[\[{][\s\[{]*"`)
	// jsonString is a string. If a colon follows, it is the name of a field.
	jsonString = expression(`("(?:[^"\\]|\\.)*")\s*(:?)`)
	// textField is the name of a field that contains an item.
	textField = expression(`(?i)^(?:|prompt|text|request|rewrite|rewritten|rewritten_prompt|rewritten_request|new_request|question|content|seed|item|query|sentence)[_\- 0-9]*$`)
)

// jsonItems finds the items of a reply that contains JSON, complete or cut.
func jsonItems(reply string, _ bool) (items []string) {
	start := jsonStart().FindStringIndex(reply)
	if start == nil {
		return nil
	}
	text := reply[start[0]:]
	field := ""
	for _, at := range jsonString().FindAllStringSubmatchIndex(text, -1) {
		var s string
		if json.Unmarshal([]byte(text[at[2]:at[3]]), &s) != nil {
			continue
		}
		before := strings.TrimRight(text[:at[0]], " \t\n")
		switch {
		case at[4] < at[5]:
			field = s
		case strings.HasSuffix(before, "["), strings.HasSuffix(before, ","), strings.HasSuffix(before, ":") && textField().MatchString(field):
			items = append(items, s)
		}
	}
	return items
}

// doubleBracketed finds texts in double brackets. Models sometimes forget a closing
// bracket, so an item also ends where the next one begins and, unless the reply was cut
// there, at the end of its line.
func doubleBracketed(reply string, cut bool) (items []string) {
	parts := strings.Split(reply, "[[")
	for i, part := range parts[1:] {
		item, last := part, i == len(parts)-2
		if end := strings.LastIndex(part, "]]"); end >= 0 {
			item = part[:end]
		} else {
			line, _, _ := strings.Cut(part, "\n")
			item = strings.TrimRight(line, "] \t,;")
			if last && cut && !strings.HasSuffix(line, "]") {
				continue
			}
		}
		items = append(items, strings.Split(item, "], [")...)
	}
	return items
}

// longestItem is the length in bytes at which an item stops growing, since a longer text
// is no prompt.
const longestItem = 4096

// listed finds the items of a list whose lines begin with a marker.
func listed(marker *regexp.Regexp) func(string, bool) []string {
	return func(reply string, cut bool) []string {
		var items []string
		open := false // whether the last item may go on
		for line := range strings.SplitSeq(reply, "\n") {
			match := marker.FindStringSubmatch(line)
			switch {
			case match != nil:
				items, open = append(items, match[1]), true
			case len(items) == 0 && opening(similar.Normalize(head(strings.TrimSpace(line), 80)), refusing) != "":
				return nil
			case strings.TrimSpace(line) == "" || numbered().MatchString(line) || bulleted().MatchString(line):
				open = false
			case open && len(items[len(items)-1]) < longestItem:
				items[len(items)-1] += "\n" + line
			}
		}
		if cut && open && !ends(items[len(items)-1]) {
			items = items[:len(items)-1]
		}
		return slices.DeleteFunc(items, func(item string) bool { return strings.HasSuffix(strings.TrimRight(item, "*_ "), ":") })
	}
}

// ends reports whether an item ends like a sentence.
func ends(item string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(item, "*_ "))
	return strings.ContainsRune(`.?!"”»`, last)
}

// wrapped are the marks around an item, removed one layer at a time: list markers,
// emphasis, brackets, and quotation marks followed by a remark.
var wrapped = []func() *regexp.Regexp{
	numbered, bulleted,
	expression(`^\*\*([^*]*)(?:\*\*)?$`), expression(`^([^*]+)\*\*$`),
	expression(`^\*([^*]+)\*$`), expression(`^_+([^_]+)_+$`), expression("^`([^`]+)`$"), expression(`^\[([^\[\]]*)\]$`),
	expression(`^"([^"]+)"[,;.]?(?:\s*[-–—(].*)?$`),
	expression(`^[“„]([^“”]+)[“”][,;.]?(?:\s*[-–—(].*)?$`),
	expression(`^['‘](.+?)['’][,;.]?(?:\s*[-–—(].*)?$`),
}

// mostLayers bounds how many layers of marks are removed from an item.
const mostLayers = 4

// cleanItem makes one plain line of an item. It gives "" if the item has no letter or
// digit.
func cleanItem(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == '\u200b', r == '\ufeff', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for range mostLayers {
		before := s
		for _, marks := range wrapped {
			if match := marks().FindStringSubmatch(s); match != nil {
				s = strings.TrimSpace(match[1])
				break
			}
		}
		if s == before {
			break
		}
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return s
}
