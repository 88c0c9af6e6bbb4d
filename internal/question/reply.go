package question

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// Read reads the verdict of a reply: a JSON object with the fields "explanation" and
// marker, which may end a text, or free text that ends with the marker, a colon and one of the
// choices. It is strict, because a wrong verdict is worse than none. A verdict in any other
// place does not count, and a reply with two different verdicts has none.
//
// Choices are compared ignoring case, with spaces, hyphens and underscores alike, and without
// the Markdown, tags and boxes that models put around a verdict. The choice is returned as
// written in choices.
func Read(reply, marker string, choices []string) (choice, explanation string, err error) {
	reply = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(reply), "```"))
	before, body := CutObject(reply)
	if body == "" {
		return readText(reply, marker, choices)
	}
	if choice, explanation, err = readJSON(body, marker, choices); err != nil || before == "" {
		return choice, explanation, err
	}
	return readText(before+"\n"+marker+": "+choice, marker, choices)
}

// CutObject parts a reply from the JSON object at its end, in which texts may have lines and stand
// in single quotes, as Python writes them, and a comma may end it (https://github.com/IBM/ai4rag/pull/107).
func CutObject(reply string) (before, object string) {
	if !strings.HasSuffix(reply, "}") {
		return reply, ""
	}
	flat := strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(reply)
	for at := strings.IndexByte(reply, '{'); at >= 0; {
		for _, object := range []string{flat[at:], ofPython.Replace(trailing.ReplaceAllString(single.ReplaceAllString(flat[at:], `"$1"$2`), "}"))} {
			if json.Valid([]byte(object)) {
				return strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(reply[:at]), "json"), "` \n"), object
			}
		}
		next := strings.IndexByte(reply[at+1:], '{')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return reply, ""
}

// readText reads the free form.
func readText(reply, marker string, choices []string) (choice, explanation string, err error) {
	if strings.Contains(strings.ToLower(reply), `"`+marker+`":`) {
		return "", "", errors.New("it gives a verdict in JSON and goes on")
	}
	if tagged := regexp.MustCompile(`(?i)<` + regexp.QuoteMeta(marker) + `>([^<>]*)</` + regexp.QuoteMeta(marker) + `>`); strings.Contains(reply, "</") {
		reply = closing.ReplaceAllString(tagged.ReplaceAllString(reply, "\n"+marker+": $1"), "")
	}
	lines := strings.Split(strings.TrimRight(reply, Decoration+"-=~\n"), "\n")
	for i := 0; i < len(lines); i++ {
		word, ok := verdictLine(lines[i], marker)
		if !ok {
			continue
		}
		start := i
		for strings.Trim(word, around) == "" && i < len(lines)-1 {
			i++
			word = lines[i]
			if own, ok := verdictLine(word, marker); ok { // under a heading
				word = own
			}
		}
		c, known := chosen(word, choices)
		switch {
		case !known && i == len(lines)-1 && word != "":
			return "", "", unknown(word, choices)
		case !known:
			// This is a remark about verdicts, or repeats the requested form.
			continue
		case choice != "" && choice != c:
			return "", "", fmt.Errorf("it gives both %s and %s", choice, c)
		}
		choice = c
		if i == len(lines)-1 {
			return choice, strings.Trim(strings.Join(lines[:start], "\n"), "` \t\r\n"), nil
		}
	}
	if choice != "" {
		return "", "", errors.New("its verdict is not the last line")
	}
	return "", "", errors.New("it ends without a verdict")
}

// Decoration is the Markdown that models put around a line. It does not include quotation
// marks: a quoted verdict is not the judge's.
const Decoration = "*_#$` \t\r"

// around is what models put around a verdict.
const around = Decoration + "-|[](){}<>\"'“”‘’«»"

var (
	// closing are the tags that end a reply, and opening what may begin a line: tags, numbers and
	// signs but quotation marks, and words before the verdict.
	closing = regexp.MustCompile(`(?:\s*</[A-Za-z_]{1,30}>)+\s*$`)
	opening = regexp.MustCompile(`^\s*(?:<[A-Za-z_]{1,30}>\s*)*[^\pL>\\"'“”‘’«»]*(?i:(?:my|the|final|overall)\s+)*`)
	// single is a text in single quotes, trailing a comma that nothing follows, and sure how sure a judge is, in brackets,
	// or a sign (https://github.com/KeyValueSoftwareSystems/agent-opfor/pull/84).
	single   = regexp.MustCompile(`'([^'"]*)'(\s*[:,}])`)
	trailing = regexp.MustCompile(`,\s*}`)
	// ofPython has the constants of Python and those of JSON.
	ofPython = strings.NewReplacer(": None", ": null", ": True", ": true", ": False", ": false")
	sure     = regexp.MustCompile(`(?i)\s*[(\[](?:(?:very )?(?:high|medium|moderate|low|full) confidence|confidence(?: level)?[:=]? ?(?:[\d.]+ ?%?|high|medium|low)|\d{1,3} ?%)[)\]]|\s*\p{So}\x{fe0f}?`)
	// boxed are the commands of TeX and the tags of HTML in which a verdict stands.
	boxed = regexp.MustCompile(`\\(?:boxed|text|textbf|textit|texttt|mathrm|mathbf)\s*\{|(?i:</?(?:b|i|u|em|strong|code|p|br|li|h\d)\s*/?>)`)
)

// verdictLine gives the text after the marker on a line that begins with it.
func verdictLine(line, marker string) (word string, ok bool) {
	line = strings.Trim(opening.ReplaceAllString(boxed.ReplaceAllString(line, ""), ""), Decoration+"-[]{}")
	if len(line) < len(marker) || !strings.EqualFold(line[:len(marker)], marker) {
		return "", false
	}
	rest := strings.TrimLeft(line[len(marker):], Decoration)
	word = strings.TrimLeft(rest, ":=—–-→>|")
	return word, rest == "" || word != rest
}

// chosen finds the choice that a reply names, ignoring case and the brackets and final
// stop that models like to add.
func chosen(s string, choices []string) (choice string, ok bool) {
	s = strings.TrimRight(strings.Trim(sure.ReplaceAllString(boxed.ReplaceAllString(s, ""), ""), around), ".,;!。")
	s = Fold(strings.Trim(s, around))
	for _, c := range choices {
		if Fold(c) == s {
			return c, true
		}
	}
	return "", false
}

// unknown is the error for a verdict that is not among the choices.
func unknown(word string, choices []string) error {
	return fmt.Errorf("its verdict is %q, which is none of the %d to choose from", Clip(word), len(choices))
}

// Fold makes different spellings of a name equal.
func Fold(s string) string { return joins.Replace(strings.ToLower(s)) }

var joins = strings.NewReplacer(" ", "_", "-", "_")

// readJSON reads the structured form. The marker must be in plain letters, since only in
// that form is it known not to come from the answer.
func readJSON(body, marker string, choices []string) (choice, explanation string, err error) {
	err = Fields(body, func(name string, plain bool, value any) error {
		text, _ := value.(string)
		switch {
		case name == "explanation":
			explanation = strings.TrimSpace(text)
		case strings.EqualFold(name, marker) && plain:
			c, known := chosen(text, choices)
			if !known {
				return unknown(text, choices)
			}
			if choice != "" && choice != c {
				return fmt.Errorf("it gives both %s and %s", choice, c)
			}
			choice = c
		}
		return nil
	})
	switch {
	case err != nil:
		return "", "", err
	case choice == "":
		return "", "", fmt.Errorf("it has no field %q", marker)
	}
	return choice, explanation, nil
}

// Fields passes the fields of a JSON object to field, one by one, since encoding/json
// silently keeps the last of two equal fields. plain is whether the name is written without
// escapes. Text behind the object is ignored, unless it may hold another verdict.
func Fields(body string, field func(name string, plain bool, value any) error) error {
	dec := json.NewDecoder(strings.NewReader(body))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var name json.Token
		if name, err = dec.Token(); err != nil {
			break
		}
		plain := strings.HasSuffix(body[:dec.InputOffset()], fmt.Sprintf(`"%s"`, name))
		var value any
		if err = dec.Decode(&value); err != nil {
			break
		}
		if err := field(fmt.Sprint(name), plain, value); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	switch {
	case err != nil:
		return errors.New("it is a JSON object that breaks off")
	case strings.ContainsAny(body[dec.InputOffset():], "{["):
		return errors.New("it holds more than one JSON object")
	}
	return nil
}

// Clip shortens a model's text for an error, to one line of some 60 bytes.
func Clip(s string) string { return untrusted.Excerpt(s, 60) }
