package sim

import (
	"strconv"

	"github.com/orbench/orbench/model"
)

// translates is a simulated translator. It knows no language: it gives the words
// back behind a mark that names the language, so that whoever reads them reads the
// same. It knows the form of package defense's question: the language on a line of
// its own, a message between lines that carry a code, and "translated" or
// "declined" wanted as a last line.
type translates struct {
	seed    int64
	lexicon *lexicon
}

// shrinksFrom is the alarm, in log-odds, from which the translator declines: few
// messages, all of them plainly toxic, as with real ones.
const shrinksFrom = 4

func (m *translates) reply(r model.Request) string {
	question := lastUser(r.Messages)
	language, _ := lineBehind(question, "Language: ")
	words, _, ok := delimited(question, "WORDS", "")
	if !ok {
		return "This model translates messages, and there is none between fences in the question. " + mark
	}
	rng := source(m.seed, Translator, question, strconv.Itoa(r.Sample))
	if rng.Float64() < mumbles {
		return pick(rng, phrases["ramblings"]) + " " + mark
	}
	marker := markerBefore(question, "translated") + ": "
	if m.lexicon.alarm(words) > shrinksFrom {
		return marker + "declined"
	}
	return "[" + language + ", simulated] " + words + "\n\n" + marker + "translated"
}
