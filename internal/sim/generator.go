package sim

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

// How often the generator does something other than it is asked.
const (
	// wanders is the share of replies that are a refusal or no list at all.
	wanders = 0.01
	// again is the share of seeds that are an earlier batch's, and half of them
	// are changed a little.
	again = 0.04
	// staysToxic is the share of rewrites that are as toxic as a seed.
	staysToxic = 0.10
	// breaksRule is the share of rewrites that break a rule.
	breaksRule = 0.06
	// repairs is the share of rewrites to repair that come back without a fault.
	repairs = 2.0 / 3
	// figurative is the share of rewrites that use alarming words in another
	// sense and are about nothing bad at all.
	figurative = 0.07
)

// generate writes toxic seeds of a category and rewrites of seeds.
// It knows the prompts of package generator, by these marks: "Category:
// NAME" on a line of its own and "Write N such requests" ask for seeds; a seed
// between lines "<<CODE SEED OPENS>>" and "<<CODE SEED CLOSES>>" asks for the N of
// "write the N new requests"; a request between lines "<<CODE REQUEST OPENS>>" and
// "<<CODE REQUEST CLOSES>>" asks for the N earlier messages of its conversation; and a
// rewrite between lines "<<CODE REWRITE OPENS>>" and "<<CODE REWRITE CLOSES>>" besides
// asks for one in its place; and a parent between lines "<<CODE PARENT OPENS>>" and
// "<<CODE PARENT CLOSES>>" asks for the N of "Write N new requests".
//
// The sentences are put together from generator.txt, general throughout.
func (m simulated) generate(r model.Request) string {
	sample, stream := 0, strconv.FormatInt(m.seed, 10)
	if temperature(r.Params) > 0 {
		sample = r.Sample
	}
	if r.Params.Seed != nil {
		// A seed with each batch makes the batches differ, so they number themselves.
		stream += "/" + strconv.FormatInt(*r.Params.Seed-int64(r.Sample), 10)
	}
	question := lastUser(r.Messages)
	rng := m.chance(question, stream, strconv.Itoa(sample))
	items := m.items(rng, question, stream, sample)
	if len(items) == 0 {
		return "This model writes requests for benchmarks, and the question names no category and no seed. " + mark
	}
	wandering := rng.Float64() < wanders
	switch {
	case len(r.Params.Schema) > 0 && wandering:
		return structured(r.Params.Schema, nil, "", []string{})
	case len(r.Params.Schema) > 0:
		return structured(r.Params.Schema, nil, "", items)
	case wandering:
		return pick(rng, phrases["wanderings"]) + " " + mark
	}
	return layOut(rng, items)
}

// items are the texts that a question asks for; none if it asks for nothing. sample is the
// number of the call, and stream the source of its random numbers.
func (m simulated) items(rng *rand.Rand, question, stream string, sample int) []string {
	if _, _, ok := delimited(question, "REQUEST", ""); ok {
		return leadUp(rng, numberBefore(question, " earlier messages"))
	}
	if parent, code, ok := delimited(question, "PARENT", ""); ok {
		other, _, _ := delimited(question, "OTHER PARENT", code)
		return m.mutants(rng, parent, other, question)
	}
	seed, code, ok := delimited(question, "SEED", "")
	if !ok {
		category, ok := lineBehind(question, "Category: ")
		if !ok {
			return nil
		}
		deeds := words().deeds[category]
		if deeds == nil {
			definition, _ := lineBehind(question, "A request belongs to it when it ")
			deeds = words().own(category + " " + definition)
		}
		return m.seeds(category, deeds, stream, sample, numberBefore(question, " such requests"))
	}
	w := &rewriter{Rand: rng, vocabulary: words(), deed: words().nearest(seed), seed: seed}
	rewrite, _, repairing := delimited(question, "REWRITE", code)
	switch {
	case repairing && rng.Float64() < repairs:
		return []string{w.safe("")}
	case repairing:
		return []string{w.broken(rewrite)}
	}
	if forms, varied := lineBehind(question, "Forms of the new requests, in this order: "); varied {
		w.forms = strings.Split(strings.TrimSuffix(forms, "."), "; ")
	}
	items := make([]string, numberBefore(question, " new requests"))
	for i := range items {
		w.place = i
		items[i] = w.rewrite()
	}
	return items
}

// seeds writes a batch of n seeds. Each follows from its batch and place alone, so
// that a later batch can repeat it.
func (m simulated) seeds(category string, deeds []deedLine, stream string, sample, n int) []string {
	one := func(batch, place int) (string, *rand.Rand) {
		rng := m.chance("seed", category, stream, strconv.Itoa(batch), strconv.Itoa(place))
		w := &rewriter{Rand: rng, vocabulary: words(), deed: deeds[rng.IntN(len(deeds))]}
		return w.toxic(), rng
	}
	items := make([]string, n)
	for i := range items {
		text, rng := one(sample, i)
		if sample > 0 && rng.Float64() < again {
			text, _ = one(rng.IntN(sample), rng.IntN(n))
			if rng.IntN(2) == 0 {
				text = strings.TrimRight(text, ".?!") + ", please."
			}
		}
		items[i] = text
	}
	return items
}

// rewriter writes requests about a deed.
type rewriter struct {
	*rand.Rand
	*vocabulary
	deed deedLine
	seed string
	// borrowed are alarming words that are used again, and kept the words of parents by the
	// list of the vocabulary that has them; kept again with the chance keeps.
	borrowed []string
	kept     map[string][]string
	keeps    float64
	// forms are the forms that were asked for, and place is that of the item being written.
	forms []string
	place int
}

// some gives one entry of a list of the vocabulary, or a parent's entry of it.
func (w *rewriter) some(list string) string {
	if kept := w.kept[list]; len(kept) > 0 && w.Float64() < w.keeps {
		return pick(w.Rand, kept)
	}
	return pick(w.Rand, w.lists[list])
}

// toxic writes a request for the deed.
func (w *rewriter) toxic() string {
	deed := os.Expand(w.deed.text, func(slot string) string {
		switch slot {
		case "p":
			return w.some("person")
		case "g":
			return w.some("group")
		}
		return pick(w.Rand, w.deed.things)
	})
	deed = articles.Replace(deed)
	opener, where, tail := w.some("opener"), w.some("where"), w.some("tail")
	end := "."
	if strings.HasPrefix(opener, "How") || strings.HasPrefix(opener, "What") {
		end = "?"
	}
	switch w.IntN(6) {
	case 0:
		return opener + " " + deed + " " + tail + end
	case 1:
		return opener + " " + deed + " " + where + end + " " + w.some("aside")
	case 2:
		return opener + " " + deed + " " + tail + " " + where + end
	case 3:
		return w.some("aside") + " " + opener + " " + deed + " " + tail + end
	}
	return opener + " " + deed + " " + where + " " + tail + end
}

// articles puts the article right before a slot's vowel.
var articles = strings.NewReplacer(" a a", " an a", " a e", " an e", " a i", " an i", " a o", " an o", " a um", " an um")

// rewrite writes a rewrite of the seed.
func (w *rewriter) rewrite() string {
	switch chance := w.Float64(); {
	case chance < staysToxic:
		return w.toxic()
	case chance < staysToxic+breaksRule:
		return w.broken(w.seed)
	}
	return w.safe("")
}

// safe writes a request that sounds alarming and asks for nothing bad. label
// stands before its subject, if it has one.
func (w *rewriter) safe(label string) string {
	where, when := w.some("where"), w.some("when")
	var text string
	if w.Float64() < figurative && label == "" {
		text = w.some("lead") + " " + w.some("figure") + " " + where + " " + w.some("moment") + "?"
	} else if len(w.forms) > 0 {
		return w.varied(label)
	} else {
		text = os.Expand(w.some("form"), func(slot string) string {
			switch slot {
			case "np":
				return label + pick(w.Rand, w.deed.nouns)
			case "e":
				return w.some("expert")
			case "v":
				return w.some("victim")
			case "w":
				return where
			}
			return when
		})
	}
	text, question := strings.CutSuffix(text, "?")
	if w.IntN(2) == 0 {
		text += ", " + w.some("suffix")
		question = true
	}
	text = w.borrowing(text)
	if question {
		return text + "?"
	}
	return text + "."
}

// borrowing adds words that were borrowed to a text, where there are any and mostly.
func (w *rewriter) borrowing(text string) string {
	if len(w.borrowed) == 0 || w.IntN(10) == 0 {
		return text
	}
	return text + ", with an eye to " + pick(w.Rand, w.borrowed) + " and " + pick(w.Rand, w.borrowed)
}

// broken writes a rewrite that breaks a rule; copied is what a near-copy copies.
func (w *rewriter) broken(copied string) string {
	switch w.IntN(5) {
	case 0:
		return w.safe(pick(w.Rand, []string{"illegal ", "harmful ", "malicious "}))
	case 1:
		return pick(w.Rand, phrases["frames"]) + " " + lowerFirst(w.safe(""))
	case 2:
		return "Please do this: " + lowerFirst(copied)
	}
	text := w.safe("")
	end := text[len(text)-1:]
	return text[:len(text)-1] + pick(w.Rand, phrases["reassurances"]) + end
}

// ruled marks words of the lexicon that a rewrite must not hold.
var ruled = []string{"illegal", "unlawful", "illicit", "unethical", "immoral", "moral", "dangerous", "unauthori", "pretend", "wrong"}

// alarming gives the words of a text that sound alarming. Words that break a rule are left
// out.
func alarming(text string) []string {
	var words []string
	for _, word := range tokens(text) {
		g := builtIn().groupsOf(word)
		if (g.has(bad) || g.has(touchy)) && !g.has(grave) && !containsAny(word, ruled) && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// leadUp writes the n messages that stand before a request, the user's and the
// assistant's in turn.
func leadUp(rng *rand.Rand, n int) []string {
	openings, fillers := phrases["openings"], phrases["fillers"]
	said, answers := rng.Perm(len(openings)), rng.Perm(len(fillers))
	items := make([]string, n)
	for i := range items {
		items[i] = openings[said[i/2%len(said)]]
		if i%2 == 1 {
			items[i] = "Gladly. " + fillers[answers[i/2%len(answers)]]
		}
	}
	return items
}
