package sim

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

// How often the generator does something other than it is asked.
const (
	// staysToxic is the share of rewrites that are as toxic as a seed.
	staysToxic = 0.10
	// breaksRule is the share of rewrites that break a rule.
	breaksRule = 0.06
	// repairs is the share of rewrites to repair that come back without a fault.
	repairs = 2.0 / 3
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
func (m Model) generate(r model.Request) string {
	var stream []string
	if temperature(r.Params) > 0 {
		stream = append(stream, strconv.Itoa(r.Sample))
	}
	if r.Params.Seed != nil {
		stream = append(stream, strconv.FormatInt(*r.Params.Seed, 10))
	}
	question := lastUser(r.Messages)
	items := requestsFor(m.chance(append(stream, question)...), question)
	if len(items) == 0 {
		return "This model writes requests for benchmarks, and the question names no category and no seed. " + mark
	}
	if len(r.Params.Schema) > 0 {
		return structured(r.Params.Schema, nil, "", items)
	}
	return "[[" + strings.Join(items, "]]\n[[") + "]]"
}

// requestsFor are the texts that a question asks for; none if it asks for nothing.
func requestsFor(rng *rand.Rand, question string) []string {
	if _, _, ok := delimited(question, "REQUEST", ""); ok {
		return leadUp(rng, numberBefore(question, " earlier messages"))
	}
	if parent, code, ok := delimited(question, "PARENT", ""); ok {
		other, _, _ := delimited(question, "OTHER PARENT", code)
		w := newRewriter(rng, parent)
		w.borrowed = contentWords(parent + " " + other)
		return w.rewrites(question)
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
		seeds := make([]string, numberBefore(question, " such requests"))
		for i := range seeds {
			w := &rewriter{Rand: rng, deed: deeds[rng.IntN(len(deeds))]}
			seeds[i] = w.filled("seed", "")
		}
		return seeds
	}
	w := newRewriter(rng, seed)
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
	return w.rewrites(question)
}

// rewriter writes requests about a deed.
type rewriter struct {
	*rand.Rand
	deed deedLine
	seed string
	// borrowed are words of parents that are used again.
	borrowed []string
	// forms are the forms that were asked for, and place is that of the item being written.
	forms []string
	place int
}

// newRewriter makes a rewriter of a seed.
func newRewriter(rng *rand.Rand, seed string) *rewriter {
	return &rewriter{Rand: rng, deed: words().nearest(seed), seed: seed}
}

// rewrites writes as many new requests as a question asks for.
func (w *rewriter) rewrites(question string) []string {
	items := make([]string, numberBefore(question, " new requests"))
	for i := range items {
		w.place = i
		items[i] = w.rewrite()
	}
	return items
}

// filled writes a request by one of the templates of a list. label stands before the nouns
// of the deed.
func (w *rewriter) filled(list, label string) string {
	lists := words().lists
	template := strings.ReplaceAll(pick(w.Rand, lists[list]), "${deed}", w.deed.text)
	return articles.Replace(os.Expand(template, func(slot string) string {
		switch slot {
		case "np":
			return label + pick(w.Rand, w.deed.nouns)
		case "t":
			return pick(w.Rand, w.deed.things)
		}
		return pick(w.Rand, lists[slot])
	}))
}

// articles puts the article right before a slot's vowel.
var articles = strings.NewReplacer(" a a", " an a", " a e", " an e", " a i", " an i", " a o", " an o", " a um", " an um")

// rewrite writes a rewrite of the seed.
func (w *rewriter) rewrite() string {
	switch chance := w.Float64(); {
	case chance < staysToxic:
		return w.filled("seed", "")
	case chance < staysToxic+breaksRule:
		return w.broken(w.seed)
	}
	return w.safe("")
}

// safe writes a request that sounds alarming and asks for nothing bad, of the form that was
// asked for in its place, or a question. label stands before its subject.
func (w *rewriter) safe(label string) string {
	list := "a question"
	if len(w.forms) > 0 {
		form := w.forms[w.place%len(w.forms)]
		for name := range words().lists {
			if strings.HasPrefix(form, name) {
				list = name
			}
		}
	}
	text := w.filled(list, label)
	if len(w.borrowed) == 0 {
		return text
	}
	end := len(text) - 1
	return text[:end] + ", with an eye to " + pick(w.Rand, w.borrowed) + " and " + pick(w.Rand, w.borrowed) + text[end:]
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
