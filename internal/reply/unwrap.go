package reply

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// wrapper is an entry of wrappers.json: what may be around the text of an answer, which is read
// without it.
type wrapper struct {
	// Fields are members of an object that may have the text, the surer first.
	Fields []string `json:"fields"`
	// Calls are names of objects as Python writes them.
	Calls []string `json:"calls"`
	// Fences are languages of a Markdown block that is the whole text.
	Fences []string `json:"fences"`
	// Tags are tags of HTML around prose.
	Tags    []string `json:"tags"`
	Decoded []string `json:"decoded"`
	Entry
}

// around is all of the entries.
var around = sync.OnceValue(func() (all wrapper) {
	for _, w := range load[wrapper]("wrappers.json")() {
		all.Fields, all.Calls, all.Fences = append(all.Fields, w.Fields...), append(all.Calls, w.Calls...), append(all.Fences, w.Fences...)
		all.Tags, all.Decoded = append(all.Tags, w.Tags...), append(all.Decoded, w.Decoded...)
	}
	return all
})

// longestField is the length of the longest name of a field.
const longestField = 40

// layers is the most that is around a text.
const layers = 4

// Unwrap is the text of an answer without what is around all of it, and names that; empty for
// nothing. Code, data and several texts stay as they are.
func Unwrap(text string) (inner, dress string) {
	inner = text
	for range layers {
		next, name := unwrapOne(strings.TrimSpace(inner))
		if name == "" {
			break
		}
		if inner = next; dress == "" {
			dress = name
		}
	}
	return inner, dress
}

func unwrapOne(t string) (inner, name string) {
	if t == "" {
		return t, ""
	}
	body, lang, ok := fenced(t)
	if ok && comment.MatchString(body) {
		// https://github.com/qing-yuan233/RMCBench (answers that have to be code)
		if said := strings.TrimSpace(marksOfComment.ReplaceAllString(body, "")); prose(said) {
			return said, "a comment"
		}
	}
	if ok && slices.Contains(around().Fences, lang) {
		if plain := lang == "" || strings.HasPrefix(lang, "t") || strings.HasPrefix(lang, "p") && lang != "python" || strings.HasPrefix(lang, "m"); plain && prose(body) {
			return body, "a Markdown block"
		}
		if in, name := unwrapOne(body); name != "" {
			return in, name
		}
		return t, ""
	}
	if text, name, ok := object(t); ok {
		return text, name
	}
	switch {
	case t[0] == '<' && t[len(t)-1] == '>':
		if text, ok := withoutTags(t); ok {
			return text, "HTML"
		}
	case strings.HasPrefix(t, "> ") && !strings.Contains(strings.ReplaceAll("\n"+t, "\n>", ""), "\n"):
		return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll("\n"+t, "\n> ", "\n"), "\n>", "\n")), "a quotation"
	}
	if m := printed.FindStringSubmatch(t); m != nil && prose(unescape(m[1]+m[2]+m[3])) {
		return unescape(m[1] + m[2] + m[3]), "a printed text"
	}
	if strings.ContainsAny(t[:min(len(t), longestField)], ":=") {
		if m := yaml.FindStringSubmatch(t); m != nil && slices.Contains(around().Fields, m[1]) && prose(m[2]) && len(m[3]) < len(m[2]) {
			return m[2], "a field"
		}
	}
	if m := openField.FindStringSubmatch(t); m != nil && slices.Contains(around().Fields, m[1]) && !strings.ContainsAny(m[2], "{}") {
		return unescape(m[2]), "JSON that breaks off"
	}
	// https://github.com/fmaclen/hollama/issues/282, https://github.com/open-webui/open-webui/issues/11623
	if in, ok := strings.CutPrefix(t, `\boxed{`); ok && strings.HasSuffix(in, "}") && prose(in[:len(in)-1]) {
		return in[:len(in)-1], "a box"
	}
	if entities.MatchString(t) && !strings.Contains(t, "<") {
		return html.UnescapeString(t), "HTML"
	}
	if strings.IndexByte(t, '\\') >= 0 && !strings.Contains(t, "`") && (escapes.MatchString(t) || !strings.Contains(t, "\n") && lineEscapes.MatchString(t)) {
		return unescape(t), "escapes"
	}
	for i := 0; i+1 < len(around().Decoded); i += 2 {
		if strings.Contains(t, around().Decoded[i]) {
			return strings.NewReplacer(around().Decoded...).Replace(t), "a wrong decoding"
		}
	}
	return t, ""
}

var (
	entities = regexp.MustCompile(`&(?:#\d{2,5}|#x[0-9a-fA-F]{2,4}|quot|apos|rsquo|lsquo|nbsp);`)
	escapes  = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\x(?:e2|E2)\\x80`)
	// lineEscapes are of a text that should have several lines, or that was quoted.
	lineEscapes = regexp.MustCompile(`\\n\\n|[a-z]\\'[a-z]`)
	// yaml is a text in a field, with others of one word after it.
	yaml      = regexp.MustCompile(`^(?:---\n)?(\w+)(?: =|:) *(?:[|>][-+]?\n +)?["']?((?:[^\n]|\n  )+?)["']?((?:\n\w+(?: =|:) *\S*)*)(?:\n---)?$`)
	openField = regexp.MustCompile(`(?s)^\{\s*"(\w+)"\s*:\s*"([^"]{20,})(?:"\s*(?:,[^{}]{0,100})?)?$`)
	// comment is code without a statement, and printed a statement that writes a text, or a reply as
	// Google's library prints it (https://ai.google.dev/api/generate-content).
	comment        = regexp.MustCompile(`^(?:[ \t]*(?:#|//|--)[^\n]*\n?)+$`)
	marksOfComment = regexp.MustCompile(`(?m)^[ \t]*(?:#+|//+|--+)[ \t]*`)
	printed        = regexp.MustCompile(`^(?:(?:print|echo|return|puts|console\.log)\b[ (]+f?(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')\)?;?|candidates \{(?s:.*)\btext: "((?:[^"\\\n]|\\.)*)"(?s:.*)\})$`)
	tag            = regexp.MustCompile(`</?([A-Za-z][A-Za-z0-9_]*)(?:\s[^<>]*)?/?>|<!(?:DOCTYPE|doctype)[^<>]*>`)
	lines          = regexp.MustCompile(`(?i)</(?:p|div|li|h[1-6]|blockquote)>|<br\s*/?>`)
)

// fenced gives the body and the language of a text that is one Markdown block.
func fenced(t string) (body, lang string, ok bool) {
	if before, block, found := strings.Cut(t, "\n```json"); found && strings.HasSuffix(strings.TrimSpace(before), ":") && !strings.Contains(strings.TrimSpace(before), "\n") {
		t = "```json" + block // announced
	}
	rest, opened := strings.CutPrefix(t, "```")
	rest = strings.TrimSuffix(rest, "```") // which a text that breaks off does not have
	if !opened || strings.Contains(rest, "```") {
		return "", "", false
	}
	lang, body, ok = strings.Cut(rest, "\n")
	if !ok {
		return strings.TrimSpace(rest), "", true
	}
	return strings.TrimSpace(body), strings.ToLower(strings.TrimSpace(lang)), true
}

// prose reports whether a text reads like sentences, and not like code or a list of words.
func prose(t string) bool {
	first, _ := utf8.DecodeRuneInString(t)
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(t, "*_\"'”’ \n"))
	return unicode.IsLetter(first) && strings.ContainsRune(".!?…。！？", last) && strings.Count(t, " ")+strings.Count(t, "，") >= 2 && !strings.ContainsAny(t, "{};=$")
}

// withoutTags is the text of HTML that is prose.
func withoutTags(t string) (string, bool) {
	found := tag.FindAllStringSubmatch(t, -1)
	for _, m := range found {
		if m[1] != "" && !slices.Contains(around().Tags, strings.ToLower(m[1])) {
			return "", false
		}
	}
	text := strings.TrimSpace(tag.ReplaceAllString(lines.ReplaceAllString(t, "\n"), ""))
	return html.UnescapeString(text), len(found) > 0 && text != ""
}

// unescape decodes the escapes of a string of JSON or Python.
func unescape(t string) string {
	v := value{text: t + "\x00"}
	text, _ := v.quoted(0, true)
	return strings.TrimSuffix(text, "\x00")
}

// object gives the text in a value of JSON or Python, and names the language.
func object(t string) (text, name string, ok bool) {
	if !strings.ContainsRune(`{["'(`, rune(t[0])) && !calling.MatchString(t) {
		return "", "", false
	}
	v := value{text: t}
	n, ok := v.all()
	if !ok {
		return "", "", false
	}
	text, rest, ok := n.said(0)
	if !ok {
		// In a form that no table knows, the only sentences are the text.
		if all := n.prose(nil, 0); len(all) == 1 {
			text, rest, ok = all[0], n.length()-len(all[0]), true
		}
	}
	// Where there is more than the text, the whole is the answer.
	if !ok || strings.TrimSpace(text) == "" || rest > 200 && rest > 2*len(text) {
		return "", "", false
	}
	name = "JSON"
	if v.python {
		name = "Python"
	}
	return text, name, true
}

// calling begins an object as Python writes one: a call, a member, or a string with a prefix.
var calling = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_.]{0,40}(?:\(|=)|[bBuU]["'])`)

func isObject(t string) bool {
	_, ok := (&value{text: t}).all()
	return ok
}

// value reads a value of JSON or of Python's repr, leniently.
type value struct {
	text   string
	at     int
	python bool
}

// node is what a value holds: a text, a word such as null, or nodes with their names, empty in a
// list.
type node struct {
	text   string
	isText bool
	names  []string
	nodes  []node
	// api is true for an object of an API, in which all else is about the call.
	api bool
}

// deepest bounds how far a value may be in others.
const deepest = 24

// all reads the whole text.
func (v *value) all() (node, bool) {
	if m := regexpMember.FindString(v.text); m != "" && !strings.HasSuffix(m, "(") {
		// An object of LangChain as text: members with nothing around them.
		n, ok := v.members("", 0)
		n.api, v.python = true, true
		return n, ok && v.at == len(v.text)
	}
	n, ok := v.read(0)
	v.skip()
	return n, ok && v.at == len(v.text)
}

var regexpMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,40}=`)

func (v *value) skip() {
	for v.at < len(v.text) && strings.IndexByte(" \t\r\n", v.text[v.at]) >= 0 {
		v.at++
	}
}

func (v *value) peek() byte {
	if v.skip(); v.at < len(v.text) {
		return v.text[v.at]
	}
	return 0
}

func (v *value) read(depth int) (node, bool) {
	if depth > deepest {
		return node{}, false
	}
	switch c := v.peek(); c {
	case '"', '\'':
		v.at++
		v.python = v.python || c == '\''
		text, ok := v.quoted(c, false)
		return node{text: text, isText: true}, ok
	case '{', '[', '(':
		v.at++
		v.python = v.python || c == '('
		return v.members(map[byte]string{'{': "}", '[': "]", '(': ")"}[c], depth)
	case '<': // a value of an enumeration, as Python writes it
		_, rest, closed := strings.Cut(v.text[v.at:], ">")
		v.at, v.python = len(v.text)-len(rest), true
		return node{}, closed
	case 0:
		return node{}, false
	}
	start := v.at
	for v.at < len(v.text) && (v.text[v.at] >= utf8.RuneSelf || strings.IndexByte("+-._", v.text[v.at]) >= 0 || unicode.IsLetter(rune(v.text[v.at])) || unicode.IsDigit(rune(v.text[v.at]))) {
		v.at++
	}
	word := v.text[start:v.at]
	switch {
	case v.at == len(v.text) || word == "":
		return node{}, word != ""
	case len(word) <= 2 && (v.text[v.at] == '\'' || v.text[v.at] == '"') && strings.Trim(word, "bBuUrRfF") == "":
		v.python = true
		return v.read(depth + 1)
	case v.text[v.at] == '(':
		v.python = true
		v.at++
		n, ok := v.members(")", depth)
		n.api = true
		name := strings.ToLower(word[strings.LastIndexByte(word, '.')+1:])
		return n, ok && (depth > 0 || slices.Contains(around().Calls, name) || unicode.IsUpper(rune(word[0])) && strings.Join(n.names, "") != "")
	}
	return node{text: word}, true
}

// members reads what is between brackets, up to the closing one.
func (v *value) members(end string, depth int) (n node, ok bool) {
	for {
		if c := v.peek(); end != "" && c == end[0] {
			v.at++
			return n, true
		} else if c == 0 {
			return n, end == ""
		}
		name := ""
		if m := regexpMember.FindString(v.text[v.at:]); m != "" {
			name = m[:len(m)-1]
			v.at += len(m)
		}
		one, ok := v.read(depth + 1)
		if !ok {
			return n, false
		}
		switch c := v.peek(); {
		case c == ':' && end == "}":
			v.at++
			name = one.text
			if one, ok = v.read(depth + 1); !ok {
				return n, false
			}
			if v.peek() == ',' {
				v.at++
			}
		case c == ',':
			v.at++
		case end == "":
		case c != end[0]:
			return n, false
		}
		n.names, n.nodes = append(n.names, strings.ToLower(name)), append(n.nodes, one)
	}
}

// quoted reads the rest of a string up to its closing mark; plain is for a text without any.
func (v *value) quoted(mark byte, plain bool) (string, bool) {
	var b strings.Builder
	for v.at < len(v.text) {
		c := v.text[v.at]
		v.at++
		switch {
		case c == mark && !plain:
			return b.String(), true
		case c != '\\' || v.at == len(v.text):
			b.WriteByte(c)
			continue
		}
		c = v.text[v.at]
		v.at++
		size := map[byte]int{'u': 4, 'x': 2, 'U': 8}[c]
		if size > 0 && v.at+size <= len(v.text) {
			if r, err := strconv.ParseUint(v.text[v.at:v.at+size], 16, 32); err == nil {
				if v.at += size; c == 'x' {
					b.WriteByte(byte(r)) // of UTF-8
				} else {
					b.WriteRune(rune(r))
				}
				continue
			}
		}
		switch at := strings.IndexByte("ntrbf", c); {
		case at >= 0:
			b.WriteByte("\n\t\r\b\f"[at])
		case strings.IndexByte(`"'\/`, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), plain
}

// said is the text that a node holds, if there is one, and how much text there is beside it.
func (n node) said(depth int) (text string, rest int, ok bool) {
	if n.isText || depth > deepest {
		return n.text, 0, n.isText && depth <= deepest
	}
	if strings.Join(n.names, "") == "" {
		// A list: of one, or of parts of a text, of which some have none.
		var parts []string
		for _, one := range n.nodes {
			role := slices.Index(one.names, "role")
			part, more, ok := one.said(depth + 1)
			if !ok || one.thinks() || role >= 0 && !slices.Contains([]string{"assistant", "model", "ai"}, one.nodes[role].text) {
				continue
			}
			if one.isText && len(n.nodes) > 1 {
				return "", 0, false
			}
			parts, rest = append(parts, part), rest+more
		}
		return strings.Join(parts, ""), rest, len(parts) > 0
	}
	chosen := -1
	for _, field := range around().Fields {
		i := slices.Index(n.names, field)
		if i < 0 {
			continue
		}
		if text, rest, ok = n.nodes[i].said(depth + 1); ok && strings.TrimSpace(text) != "" {
			chosen = i
			break
		}
	}
	if chosen < 0 {
		return "", 0, false
	}
	if n.api || slices.Contains(apis, n.names[chosen]) {
		return text, rest, true
	}
	for i, other := range n.nodes {
		if i != chosen && !thoughts.MatchString(n.names[i]) {
			rest += other.length()
		}
	}
	return text, rest, true
}

// thoughts are names of members that have thinking, and words for the type of such a part.
var thoughts = regexp.MustCompile(`(?i)^(?:[a-z]+_)*(?:think|thinking|thoughts?|reasoning|analysis|rationale|scratchpad|cot|monologue|reflection|plan)(?:_?(?:content|process|steps|text|details))?$`)

// thinks reports whether an object is a part of a reply that has thinking.
func (n node) thinks() bool {
	for i, name := range n.names {
		if name == "type" && thoughts.MatchString(n.nodes[i].text) || name == "thought" && strings.EqualFold(n.nodes[i].text, "true") {
			return true
		}
	}
	return false
}

// apis are fields of APIs, beside which all else is about the call.
var apis = []string{"choices", "candidates", "message", "outputs", "generations", "kwargs", "parts", "content", "outputbodyjson", "results", "predictions", "refusal"}

// prose adds the texts of a node that read like sentences.
func (n node) prose(all []string, depth int) []string {
	if n.isText && prose(n.text) {
		all = append(all, n.text)
	}
	if depth < deepest {
		for _, one := range n.nodes {
			all = one.prose(all, depth+1)
		}
	}
	return all
}

// length is the length of all texts that a node holds.
func (n node) length() (sum int) {
	if n.isText {
		sum = len(n.text)
	}
	for _, one := range n.nodes {
		sum += one.length()
	}
	return sum
}
