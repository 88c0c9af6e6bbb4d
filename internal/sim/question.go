package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/model"
)

// delimited gives the text between a question's lines "<<CODE NAME OPENS>>" and
// "<<CODE NAME CLOSES>>", with the code as the lines have it. Where code is "" it is
// that of the first such line, which no text can have forged.
func delimited(question, name, code string) (text, found string, ok bool) {
	if code == "" {
		head, _, opens := strings.Cut(question, " "+name+" OPENS>>\n")
		at := strings.LastIndex(head, "<<")
		if !opens || at < 0 {
			return "", "", false
		}
		code = head[at:]
	}
	_, rest, _ := strings.Cut(question, code+" "+name+" OPENS>>\n")
	text, _, ok = strings.Cut(rest, "\n"+code+" "+name+" CLOSES>>")
	return text, code, ok
}

// lineBehind gives the rest of the line that begins with some words.
func lineBehind(s, words string) (rest string, ok bool) {
	_, rest, ok = strings.Cut("\n"+s, "\n"+words)
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSpace(rest), ok
}

// markerBefore reads the word that the question wants before a choice: that of its
// last line with a colon that names the choice.
func markerBefore(question, choice string) string {
	for _, line := range slices.Backward(strings.Split(question, "\n")) {
		marker, form, ok := strings.Cut(line, ":")
		if ok && strings.Contains(form, choice) && !strings.ContainsAny(marker, " \t") {
			return marker
		}
	}
	return "VERDICT"
}

// mostItems bounds what a prompt may ask for.
const mostItems = 1000

// numberBefore gives the number before the last place of some words, from 1 to
// mostItems.
func numberBefore(s, words string) int {
	at := strings.LastIndex(s, words)
	if at < 0 {
		return 1
	}
	n, _ := strconv.Atoi(s[strings.LastIndexByte(s[:at], ' ')+1 : at])
	return max(1, min(n, mostItems))
}

// mumbles is the share of replies without a readable verdict, but for the judge's.
const mumbles = 0.01

// ramble gives the chance behind a reply to some texts, and for the share of them a reply
// without a verdict. Each sample of a question rambles by itself, so that asking again
// repairs it.
func (m Model) ramble(share float64, r model.Request, texts ...string) (*rand.Rand, string) {
	rng := m.chance(append(texts, strconv.Itoa(r.Sample))...)
	if rng.Float64() < share {
		return rng, pick(rng, phrases["ramblings"]) + " " + mark
	}
	return rng, ""
}

// conclude words a verdict with its explanation, as JSON where that is wanted, or in the
// layout of a marker and a verdict. choice is one of the verdicts that the question names.
func conclude(r model.Request, layout, choice, verdict, explanation string) string {
	explanation += " " + mark
	if len(r.Params.Schema) > 0 {
		return structured(r.Params.Schema, func([]string) string { return verdict }, explanation, nil)
	}
	return explanation + "\n\n" + fmt.Sprintf(layout, markerBefore(lastUser(r.Messages), choice), verdict)
}

// misplaced is the reply to what does not hold what the model is for.
func misplaced(does string) string {
	return "This model " + does + ", and there is none between fences in the question. " + mark
}

// containsAny reports whether a text holds one of some phrases.
func containsAny(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// lowerFirst makes a sentence go on behind other words.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || strings.HasPrefix(s, "I ") {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// structured gives a JSON object that fits a schema of an object with properties that
// are words to choose from, text or lists of text, which is what structured
// requests here consist of. A property of another type becomes null. A schema that
// cannot be read gives an empty object.
func structured(schema json.RawMessage, choose func(enum []string) string, text string, list []string) string {
	var object struct {
		Properties json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &object) // what cannot be read has no properties
	// A decoder gives the properties in their written order, which a map loses:
	// explanations come before verdicts.
	dec := json.NewDecoder(bytes.NewReader(object.Properties))
	var members []string
	for opens, _ := dec.Token(); opens == json.Delim('{') && dec.More(); {
		name, _ := dec.Token()
		var property struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		}
		if dec.Decode(&property) != nil {
			return "{}"
		}
		var value any
		switch {
		case len(property.Enum) > 0:
			value = choose(property.Enum)
		case property.Type == "string":
			value = text
		case property.Type == "array":
			value = list
		}
		members = append(members, string(encode(name))+":"+string(encode(value)))
	}
	return "{" + strings.Join(members, ",") + "}"
}
