package sim

import (
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

// checksHarmfulFrom is the alarm, in log-odds, from which a model with a
// persona calls a text harmful in the response check of package defense. It
// is lower than for a message, since an answer quotes only the beginning of what
// was asked.
const checksHarmfulFrom = -0.5

// check answers the question of a response check, which shows a text between
// lines that carry a code and wants "harmful" or "harmless" as a last line or as
// JSON. It reports false for any other request.
func (m *target) check(r model.Request) (reply string, ok bool) {
	question := lastUser(r.Messages)
	text, _, ok := delimited(question, "TEXT", "")
	if !ok {
		return "", false
	}
	rng := source(m.seed, m.persona.Name, question, strconv.Itoa(r.Sample))
	if rng.Float64() < mumbles {
		return pick(rng, phrases["ramblings"]) + " " + mark, true
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
func (m *target) callsHarmful(text string) bool {
	if containsAny(strings.ToLower(strings.ReplaceAll(text, "’", "'")), phrases["declining"]) {
		return false
	}
	rng := source(m.seed, m.persona.Name, "check", text)
	return m.lexicon.alarm(text)+doubt*rng.NormFloat64() > checksHarmfulFrom
}
