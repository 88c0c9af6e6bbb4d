package sim

import (
	"context"
	"strconv"
	"strings"

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

// Ask gives the placeholder of a translation.
func (m *translates) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	return respond(Translator, r, m.reply(r)), nil
}

func (m *translates) reply(r model.Request) string {
	question := lastUser(r.Messages)
	language, words, ok := underTranslation(question)
	if !ok {
		return "This model translates messages, and there is none between fences in the question. " + mark
	}
	rng := source(m.seed, Translator, question, strconv.Itoa(r.Sample))
	if rng.Float64() < mumbles {
		return pick(rng, ramblings) + " " + mark
	}
	marker := markerBefore(question, "translated") + ": "
	if m.lexicon.alarm(words) > shrinksFrom {
		return marker + "declined"
	}
	return "[" + language + ", simulated] " + words + "\n\n" + marker + "translated"
}

// underTranslation finds the language and the message in a translator's question.
func underTranslation(question string) (language, words string, ok bool) {
	head, rest, ok := strings.Cut(question, " WORDS OPENS>>\n")
	at := strings.LastIndex(head, "<<")
	if !ok || at < 0 {
		return "", "", false
	}
	words, _, ok = strings.Cut(rest, "\n"+head[at:]+" WORDS CLOSES>>")
	for line := range strings.Lines(head) {
		if name, is := strings.CutPrefix(line, "Language: "); is {
			language = strings.TrimSpace(name)
			break
		}
	}
	return language, words, ok
}
