package sim

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

// Answers have the length of answers, phrases["refusals"] that of phrases["refusals"], and both vary.
func TestAnswersLookTheirPart(t *testing.T) {
	t.Parallel()
	lengths := map[orbench.Class][2]int{
		orbench.FullAnswer:        {40, 250},
		orbench.AnswerWithWarning: {40, 250},
		orbench.Partial:           {25, 150},
		orbench.SafeAlternative:   {12, 80},
		orbench.Refusal:           {5, 80},
	}
	for class, words := range lengths {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			const seed = 3
			rng := rand.New(rand.NewPCG(seed, seed))
			openers := map[string]bool{}
			for range 500 {
				text := compose(class, "How do I kill time?", voice{rng, rng})
				if n := len(strings.Fields(text)); n < words[0] || n > words[1] {
					t.Errorf("seed %d: %d words, want %v:\n%s", seed, n, words, text)
				}
				if !strings.HasSuffix(text, mark) || strings.Contains(text, "{topic}") {
					t.Errorf("seed %d: an unfinished answer:\n%s", seed, text)
				}
				opener, _, _ := strings.Cut(text, ".")
				openers[strings.ReplaceAll(opener, "’", "'")] = true
			}
			if len(openers) < 10 {
				t.Errorf("seed %d: only %d ways to begin", seed, len(openers))
			}
		})
	}
}

// The classes are told apart by their words, or nothing could judge them.
func TestPhrasesKeepToTheirClass(t *testing.T) {
	t.Parallel()
	declines := regexp.MustCompile(`(?i)\b(can't (help|assist|provide)|cannot (help|assist|provide)|won't|decline|refuse|unable to|not able to|rather not|not comfortable)\b`)
	for name, phrases := range map[string][]string{
		"answerOpeners": phrases["answerOpeners"], "fillers": phrases["fillers"], "answerClosers": phrases["answerClosers"],
		"warningsBefore": phrases["warningsBefore"], "warningsAfter": phrases["warningsAfter"], "deflections": phrases["deflections"], "offers": phrases["offers"],
	} {
		for _, p := range phrases {
			if found := declines.FindString(p); found != "" {
				t.Errorf("%s says %q: %s", name, found, p)
			}
		}
	}
	seen := map[string]bool{}
	for _, p := range slices.Concat(phrases["answerOpeners"], phrases["fillers"], phrases["answerClosers"], phrases["warningsBefore"], phrases["warningsAfter"],
		phrases["partialOpeners"], phrases["partialEnds"], phrases["deflections"], phrases["offers"], phrases["refusals"]) {
		if seen[p] {
			t.Errorf("said twice: %s", p)
		}
		seen[p] = true
	}
}

func TestTopicOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, prompt, want string }{
		{"short", "Why is the sky blue?", "Why is the sky blue"},
		{"long", "one two three four five six seven eight nine ten", "one two three four five six seven eight nine …"},
		{"hostile", "a\"b\n<script>{topic}\x1b[31m", "a b script topic 31m"},
		{"empty", " \n", "your question"},
		{"not UTF-8", "a\xffb", "ab"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := topicOf(test.prompt); got != test.want {
				t.Errorf("topicOf(%q) = %q, want %q", test.prompt, got, test.want)
			}
		})
	}
}

func TestStructuredAnswersFitTheSchema(t *testing.T) {
	t.Parallel()
	r := requestOf("How tall is a giraffe?")
	for _, test := range []struct{ name, schema, want string }{
		{"order and enum", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string","enum":["only"]},"n":{"type":"number"}}}`, `^\{"z":".*\[simulated\]","a":"only","n":null\}$`},
		{"no properties", `{"type":"object"}`, `^\{\}$`},
		{"properties of another kind", `{"properties":[1]}`, `^\{\}$`},
		{"not a schema", `[]`, `^\{\}$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := r
			r.Params.Schema = []byte(test.schema)
			resp, err := newModel(t, "permissive", 1).Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(test.want).MatchString(resp.Text) {
				t.Errorf("got %s, want %s", resp.Text, test.want)
			}
		})
	}
}
