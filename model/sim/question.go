package sim

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// layOut writes items as a list: most often in the double brackets that were
// asked for, and else in the other forms that models use.
func layOut(rng *rand.Rand, items []string) string {
	form := rng.IntN(20)
	if form == 0 {
		b, err := json.Marshal(items)
		if err == nil {
			return string(b)
		}
	}
	var b strings.Builder
	if rng.IntN(6) == 0 {
		b.WriteString("Here are " + strconv.Itoa(len(items)) + " requests:\n\n")
	}
	for i, item := range items {
		switch form {
		case 0, 1, 2:
			b.WriteString(strconv.Itoa(i+1) + ". " + item + "\n")
		case 3:
			b.WriteString("- " + item + "\n")
		case 4:
			b.WriteString("« " + item + " »\n")
		case 5:
			b.WriteString("[[" + item + "]] ")
		case 6:
			b.WriteString(strconv.Itoa(i+1) + ". [[" + item + "]]\n")
		case 7:
			b.WriteString(strconv.Itoa(i+1) + ") \"" + item + "\"\n")
		default:
			b.WriteString("[[" + item + "]]\n")
		}
	}
	if form != 5 && rng.IntN(12) == 0 {
		b.WriteString("\nLet me know if you would like more of them. " + mark)
	}
	return strings.TrimSpace(b.String())
}

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
	text, ok = cutBetween(question, code+" "+name+" OPENS>>\n", "\n"+code+" "+name+" CLOSES>>")
	return text, code, ok
}

// cutBetween gives what stands between two texts.
func cutBetween(s, left, right string) (inner string, ok bool) {
	_, rest, ok := strings.Cut(s, left)
	if !ok {
		return "", false
	}
	inner, _, ok = strings.Cut(rest, right)
	return inner, ok
}

// lineBehind gives the rest of the line that begins with some words.
func lineBehind(s, words string) (rest string, ok bool) {
	_, rest, ok = strings.Cut("\n"+s, "\n"+words)
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSpace(rest), ok
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

// fill puts words into the {slots} of a sentence.
func fill(sentence string, word func(slot string) string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(sentence, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		slot, after, _ := strings.Cut(rest, "}")
		b.WriteString(word(slot))
		sentence = after
	}
}

// lowerFirst makes a sentence go on behind other words.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || strings.HasPrefix(s, "I ") {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}
