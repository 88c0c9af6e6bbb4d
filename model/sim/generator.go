package sim

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/model"
)

//go:embed grammar.txt
var grammarText string

// maker is a simulated generator of seeds and rewrites. It knows the form of
// package generator's prompts: "Category: …" and "Write N such requests" for
// seeds, a seed between fences for rewrites, and a broken rewrite beside it for
// mending.
type maker struct {
	seed    int64
	grammar *grammar
	lexicon *lexicon
}

// grammar holds what requests are made of.
type grammar struct {
	// acts are by category, in the order of the file.
	acts  map[string][]act
	all   []act
	slots map[string][]string
}

// act is a deed and the subject that it belongs to.
type act struct{ deed, subject string }

func parseGrammar(text string) (*grammar, error) {
	g := &grammar{acts: map[string][]act{}, slots: map[string][]string{}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, entries, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("grammar.txt:%d: no name before a colon", i+1)
		}
		for entry := range strings.SplitSeq(entries, ",") {
			entry = strings.TrimSpace(entry)
			if deed, subject, ok := strings.Cut(entry, " = "); ok {
				a := act{deed, subject}
				g.acts[name] = append(g.acts[name], a)
				g.all = append(g.all, a)
			} else {
				g.slots[name] = append(g.slots[name], entry)
			}
		}
	}
	return g, nil
}

const (
	// repeats is the share of seeds that a generator has given before.
	repeats = 0.03
	// staysToxic is the share of rewrites that are no milder than their seed.
	staysToxic = 0.06
	// breaksRule is the share of rewrites that break a rule of the lint, and
	// breaksAgain that of mended ones.
	breaksRule, breaksAgain = 0.05, 0.3
	// balks is the share of replies that hold no list.
	balks = 0.01
)

// Ask makes what the question wants, or says that it wants nothing.
func (m *maker) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	question := lastUser(r.Messages)
	rng := source(m.seed, Generator, question, strconv.Itoa(r.Sample))
	text := "This model makes requests for benchmarks, and was asked for none. " + mark
	seed, rewriting := fenced(question, "SEED")
	_, mending := fenced(question, "REWRITE")
	switch {
	case rewriting && rng.Float64() < balks:
		text = pick(rng, []string{"I am sorry, I would rather not write these.", "Sure, gladly! What should they be about?"})
	case mending:
		text = "[[" + m.rewrite(rng, seed, nil, breaksAgain) + "]]"
	case rewriting:
		text = m.rewrites(rng, question, seed)
	case strings.Contains(question, "\nCategory: "):
		text = m.seeds(rng, question)
	}
	// The mark stands in the model's name only: in a list it would be an item's.
	return respond(Generator, r, text), nil
}

// seeds gives a batch.
func (m *maker) seeds(rng *rand.Rand, question string) string {
	_, rest, _ := strings.Cut(question, "\nCategory: ")
	category, rest, _ := strings.Cut(rest, "\n")
	acts := m.grammar.acts[strings.TrimSpace(category)]
	if len(acts) == 0 {
		acts = m.grammar.all
	}
	items := make([]string, 0, numberBefore(rest, " such requests"))
	for range cap(items) {
		chance := rng
		if rng.Float64() < repeats {
			// One of a few seeds that come again in every batch.
			chance = source(m.seed, Generator, category, strconv.Itoa(rng.IntN(40)))
		}
		items = append(items, m.toxic(chance, acts[chance.IntN(len(acts))]))
	}
	return list(rng, items)
}

// slot draws an entry of a slot.
func (m *maker) slot(rng *rand.Rand, name string) string { return pick(rng, m.grammar.slots[name]) }

// toxic words a toxic request about an act.
func (m *maker) toxic(rng *rand.Rand, a act) string {
	parts := []string{m.slot(rng, "toxic opener"), a.deed, m.slot(rng, "place"), m.slot(rng, "person"), m.slot(rng, "aim")}
	if rng.IntN(3) == 0 {
		parts[3], parts[4] = parts[4], parts[3]
	}
	return strings.Join(parts, " ") + "."
}

// rewrites gives the safe requests made of a seed.
func (m *maker) rewrites(rng *rand.Rand, question, seed string) string {
	var borrowed []string
	if examples, ok := fenced(question, "EXAMPLES", "OPEN", "CLOSE"); ok {
		borrowed = m.alarming(examples)
	}
	items := make([]string, 0, numberBefore(question, " new requests"))
	for range cap(items) {
		items = append(items, m.rewrite(rng, seed, borrowed, breaksRule))
	}
	return list(rng, items)
}

// rewrite words a safe request about what a seed is about. borrowed are words to
// use in it, and breaks is the chance that it breaks a rule.
func (m *maker) rewrite(rng *rand.Rand, seed string, borrowed []string, breaks float64) string {
	a := m.actOf(seed)
	if rng.Float64() < staysToxic {
		return m.toxic(rng, a)
	}
	parts := []string{m.slot(rng, "safe opener"), a.subject, "at", m.slot(rng, "place"), m.slot(rng, "era")}
	for range min(2, len(borrowed)) {
		parts = append(parts, "and", pick(rng, borrowed))
	}
	parts = append(parts, m.slot(rng, "reason"))
	text := strings.Join(parts, " ") + "?"
	if rng.Float64() < breaks {
		return pick(rng, []string{"Imagine a novel: ", "In a hypothetical world, ", "Legally and safely speaking, "}) +
			strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// actOf finds the act that a seed is about, or one by chance that is always the
// same for a seed of other words.
func (m *maker) actOf(seed string) act {
	for _, a := range m.grammar.all {
		if strings.Contains(seed, a.deed) || strings.Contains(seed, a.subject) {
			return a
		}
	}
	return m.grammar.all[hashOf(seed)%uint64(len(m.grammar.all))]
}

// alarming gives the words of the examples' new requests that a temperament would
// notice, each once: what a model refused is to be refused again.
func (m *maker) alarming(examples string) []string {
	var words []string
	for line := range strings.Lines(examples) {
		request, ok := strings.CutPrefix(line, "New request: ")
		if !ok || builtInExample(request) {
			continue
		}
		for _, w := range tokens(request) {
			found := m.lexicon.groupsOf(w)
			if (found.has(grave) || found.has(bad)) && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// builtInExample reports whether a demonstration is one that every build has.
func builtInExample(request string) bool {
	return containsAny(request, []string{"insider trading", "computer worms", "stalkers look for", "terraced house", "bouncers"})
}

// list writes items in one of the forms that models use.
func list(rng *rand.Rand, items []string) string {
	var b strings.Builder
	switch rng.IntN(10) {
	case 0:
		for i, item := range items {
			fmt.Fprintf(&b, "%d. %s\n", i+1, item)
		}
	case 1:
		b.WriteString("Here they are:\n\n")
		for _, item := range items {
			b.WriteString("- " + item + "\n")
		}
	case 2:
		return string(encode(items))
	case 3:
		for _, item := range items {
			b.WriteString("[[" + item + "]] ")
		}
	default:
		for _, item := range items {
			b.WriteString("[[" + item + "]]\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// fenced finds the text between the lines "<<CODE NAME OPENS>>" and "<<CODE NAME
// CLOSES>>", or with the words given in place of OPENS and CLOSES.
func fenced(question, name string, words ...string) (text string, ok bool) {
	opens, closes := "OPENS", "CLOSES"
	if len(words) == 2 {
		opens, closes = words[0], words[1]
	}
	head, rest, ok := strings.Cut(question, " "+name+" "+opens+">>\n")
	at := strings.LastIndex(head, "<<")
	if !ok || at < 0 {
		return "", false
	}
	text, _, ok = strings.Cut(rest, "\n"+head[at:]+" "+name+" "+closes+">>")
	return text, ok
}

// numberBefore reads the number in "Write N…" before some words; 1 where there is
// none, and no more than 100.
func numberBefore(text, words string) int {
	head, _, ok := strings.Cut(text, words)
	if !ok {
		return 1
	}
	n, err := strconv.Atoi(head[strings.LastIndexByte(head, ' ')+1:])
	if err != nil || n < 1 {
		return 1
	}
	return min(n, 100)
}
