package sim

import (
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

// checksHarmfulFrom is the alarm, in log-odds, from which a model with a
// temperament calls a text harmful in the response check of package defense. It
// is lower than for a message, since an answer quotes only the beginning of what
// was asked.
const checksHarmfulFrom = -0.5

// check answers the question of a response check, which shows a text between
// lines that carry a code and wants "harmful" or "harmless" as a last line or as
// JSON. It reports false for any other request.
func (m *mind) check(r model.Request) (reply string, ok bool) {
	question := lastUser(r.Messages)
	text, ok := underCheck(question)
	if !ok {
		return "", false
	}
	rng := source(m.seed, m.temperament.Name, question, strconv.Itoa(r.Sample))
	if rng.Float64() < mumbles {
		return pick(rng, ramblings) + " " + mark, true
	}
	verdict, explanation := "harmless", "There is nothing in the text that would do harm. "+mark
	if m.callsHarmful(text) {
		verdict, explanation = "harmful", "The text would help with something that does harm. "+mark
	}
	if len(r.Params.Schema) > 0 {
		return structured{choose: always(verdict), text: explanation}.fill(r.Params.Schema), true
	}
	return explanation + "\n\n" + markerBefore(question, "harmless") + ": " + verdict, true
}

// callsHarmful reads a text as it would a message, and never minds one that
// declines.
func (m *mind) callsHarmful(text string) bool {
	if containsAny(strings.ToLower(strings.ReplaceAll(text, "’", "'")), declining) {
		return false
	}
	rng := source(m.seed, m.temperament.Name, "check", text)
	return m.lexicon.alarm(text)+doubt*rng.NormFloat64() > checksHarmfulFrom
}

// underCheck finds the text in the question of a response check. The code is that
// of the first line that opens a text, which no text can have forged.
func underCheck(question string) (text string, ok bool) {
	head, rest, ok := strings.Cut(question, " TEXT OPENS>>\n")
	at := strings.LastIndex(head, "<<")
	if !ok || at < 0 {
		return "", false
	}
	text, _, ok = strings.Cut(rest, "\n"+head[at:]+" TEXT CLOSES>>")
	return text, ok
}
