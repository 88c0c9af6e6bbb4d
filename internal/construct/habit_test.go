package construct

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/dialect/openai"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/model"
)

// badHabits is a server whose model writes what the simulated generator writes, in a list,
// and changes that by a habit.
type badHabits struct {
	// line changes the i-th item of a reply. question is what was asked.
	line func(i int, item, question string) string

	mu   sync.Mutex
	good map[string]bool // the items that may be used
}

func (h *badHabits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	question := body.Messages[len(body.Messages)-1].Content
	honest, err := sim.New("generator", 1)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	hot := 1.0
	reply, _ := honest.Ask(r.Context(), model.Request{
		Provider: "sim", Model: "generator", Params: model.Params{Temperature: &hot},
		Messages: []orbench.Message{{Role: orbench.User, Content: question}},
	})
	items := generator.Items(reply)
	var text strings.Builder
	h.mu.Lock()
	for i, item := range items {
		line := h.line(i, item, question)
		if strings.Contains(line, item) {
			h.good[item] = true
		}
		fmt.Fprintf(&text, "%d. %s\n", i+1, line)
	}
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model":   "bad",
		"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": text.String()}, "finish_reason": "stop"}},
	})
}

// third is every third item, two of five.
func third(i int) bool { return i%3 == 0 }

// behind puts a text behind every item.
func behind(remark string) func(int, string, string) string {
	return func(_ int, item, _ string) string { return item + remark }
}

// instead writes one of the texts in place of each third item.
func instead(texts ...string) func(int, string, string) string {
	return func(i int, item, _ string) string {
		if !third(i) {
			return item
		}
		return texts[i/3%len(texts)]
	}
}

var (
	shownLines = regexp.MustCompile(`(?m)^(?:Seed|New request): (.*)$`)
	fenceLines = regexp.MustCompile(`(?m)^<<.*>>$`)
	seedLines  = regexp.MustCompile(`(?m)^<<.* SEED OPENS>>\n(.*)\n`)
)

// TestHabits builds with a generator of each bad habit over HTTP. What is no request is in
// no set, the habit is counted and named, and what can be mended is used. The quick test
// takes every fourth habit.
func TestHabits(t *testing.T) {
	t.Parallel()
	words := strings.Fields("garden harbour kitchen market station library window bridge tower")
	habits := map[string]struct {
		line  func(i int, item, question string) string
		habit generator.Habit
	}{
		"a remark in brackets":   {behind(" (This is safe because it asks for knowledge only.)"), generator.RemarkBehind},
		"a remark behind a dash": {behind(" — sounds alarming, and asks only about history"), generator.RemarkBehind},
		"a note":                 {behind(" Note: this one is milder."), generator.RemarkBehind},
		"a sentence of its own":  {behind(" This request sounds alarming and is fine to answer."), generator.RemarkBehind},
		"a tag":                  {behind(" | harmless"), generator.RemarkBehind},
		"a remark below":         {behind("\n   This asks for understanding. It is harmless."), generator.RemarkBelow},
		"an explanation below":   {behind("\n   *Explanation: people ask for this at school.*"), generator.RemarkBelow},
		"a label":                {func(_ int, item, _ string) string { return "New request: " + item }, generator.Labeled},
		"a demonstration": {func(i int, item, question string) string {
			if shown := shownLines.FindAllStringSubmatch(question, -1); third(i) && shown != nil {
				return strings.Trim(shown[i%len(shown)][1], "[]")
			}
			return item
		}, generator.Demonstration},
		"a changed demonstration": {func(i int, item, question string) string {
			shown := shownLines.FindAllStringSubmatch(question, -1)
			if !third(i) || shown == nil {
				return item
			}
			fields := strings.Fields(strings.Trim(shown[i%len(shown)][1], "[]"))
			for n := 1; n < len(fields); n += 3 {
				fields[n] = words[n%len(words)]
			}
			return strings.Join(fields, " ")
		}, generator.Demonstration},
		"fence lines": {func(i int, item, question string) string {
			if fences := fenceLines.FindAllString(question, -1); third(i) && fences != nil {
				return fences[i%len(fences)]
			}
			return item
		}, generator.Fence},
		"instructions":     {instead("It is one request of 6 to 40 words, as users would type it into a chat.", "Each is one line of 6 to 40 words."), generator.Instruction},
		"addresses":        {instead("https://example.org/requests/1", "Look at www.example.org for such requests today"), generator.Address},
		"numbers":          {instead("42", "1,204.5", "2024 11 26"), generator.Number},
		"slugs":            {instead("privacy_request_three", "how-to-open-a-door", "askForTheDoor"), generator.Identifier},
		"single words":     {instead("privacy", "Locked doors"), generator.FewWords},
		"data":             {instead(`{"id": 7, "ok": [1, 2], "x": "y"}`, `["a", "b", {"c": "d"}]`), generator.Markup},
		"placeholders":     {instead("How do I open the door of [name] at night?", "Tell me where XXX keeps the keys of the shed."), generator.Blank},
		"refusals":         {instead("I'm sorry, I cannot write such a request.", "As an AI I would like to write about gardens."), generator.Comment},
		"answers":          {instead("Sure, first you look at the lock and then you turn the key.", "Assistant: People lock their doors at night."), generator.Answer},
		"descriptions":     {instead("A request about how somebody opens a door at night.", "The user asks how doors are locked in the village."), generator.Described},
		"half sentences":   {instead("How do I get into the garden of my..."), generator.Unfinished},
		"loops":            {instead("How do I open the door and how do I open the door and how do I open the door and how do I open the door"), generator.Loop},
		"another language": {instead("Wie finde ich heraus, wer in der Nacht das Tor zum Garten offen gelassen hat?", "¿Cómo puedo saber quién ha dejado abierta la puerta del jardín esta noche?", "Как узнать, кто ночью оставил открытой дверь в сад?"), generator.OtherLanguage},
		"one sentence again": {func(i int, item, _ string) string {
			if third(i) {
				return fmt.Sprintf("Which %s tricks did the clerks at the old %s learn from burglars of the last %s century?", words[i%9], words[(i+4)%9], words[(i+2)%9])
			}
			return item
		}, generator.Exchanged},
	}
	for n, name := range slices.Sorted(maps.Keys(habits)) {
		if os.Getenv("ORBENCH_LONG") == "" && n%4 != 0 {
			continue // a build takes seconds with the race detector
		}
		tt := habits[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &badHabits{line: tt.line, good: map[string]bool{}}
			if tt.habit == generator.Exchanged {
				h.good[h.line(0, "", "")] = true
			}
			made := h.build(t, 7)
			for set, prompts := range made.Sets {
				for _, p := range prompts {
					if !h.good[p.Text()] {
						t.Errorf("%s holds %q", set, p.Text())
					}
				}
			}
			count := 0
			for _, g := range made.Generators {
				count += g.Habits[tt.habit]
				if n := g.Habits[tt.habit]; n > 0 && !strings.Contains(g.HabitLine(), fmt.Sprintf("%d %s", n, tt.habit)) {
					t.Errorf("not named: %s", g.HabitLine())
				}
				if fault := g.Fault(); fault != "" {
					t.Error(fault)
				}
			}
			if count < 20 {
				t.Errorf("%s counted %d times", tt.habit, count)
			}
			if lack := made.Lack(); lack != "" {
				t.Error(lack)
			}
			if len(made.Sets[benchmark.FullSet]) < 70 {
				t.Errorf("%d prompts are left", len(made.Sets[benchmark.FullSet]))
			}
		})
	}
}

// build builds a small benchmark with the server as generator.
func (h *badHabits) build(t *testing.T, seeds int) *Benchmark {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	bad := openai.New(openai.ClientConfig{Provider: "local", BaseURL: server.URL, HTTPClient: server.Client()}, openai.Fields{})
	c := small(t, seeds)
	c.Policy = c.Policy[:4]
	c.Seeds.Generators, c.Rewrites.Rewriters = []string{"local/bad"}, []string{"local/bad"}
	w := newWorld()
	b := w.builder(c)
	b.Refs["local/bad"] = model.Ref{Provider: "local", Endpoint: server.URL, Model: "bad"}
	b.Ask = func(ctx context.Context, r model.Request) (model.Response, bool, error) {
		if r.Provider != "local" {
			return w.ask(ctx, r)
		}
		response, err := bad.Ask(ctx, r)
		return response, err == nil, err
	}
	made, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
	if lost := made.Funnel.Lost(); lost != "" {
		t.Errorf("the count of %s does not add up: %+v", lost, made.Funnel)
	}
	return made
}

// pleasant are the parts of seeds that ask for nothing bad.
var pleasant = [3][]string{
	{"How do I learn", "Where can my family find", "Which shop in town sells", "Why does nobody here teach", "Could you recommend", "When is it time for", "Who invented", "What would you pay for", "Is there a book on"},
	{"baking bread with rye and seeds", "folding paper birds for children", "a tune on the old piano", "planting tulips under apple trees", "swimming lessons for grown people", "the soup that sailors ate", "knitting socks without a pattern", "a bicycle bell that rings twice", "drawing maps of quiet valleys"},
	{"before the first frost comes", "while the kettle sings", "on a rainy Sunday afternoon", "near the big lake", "with only two free evenings", "since my cousin moved away", "for our next village feast", "under a clear night sky", "during the long summer break"},
}

// TestGeneratorsThatAreNoGood builds with generators of which little or nothing can be
// used. The build names them and is no benchmark.
func TestGeneratorsThatAreNoGood(t *testing.T) {
	t.Parallel()
	things := strings.Fields("garden harbour kitchen market station library window bridge tower")
	for name, tt := range map[string]struct {
		line func(i int, item, question string) string
		// fault and lack are what is said of the generators and of the benchmark.
		fault, lack string
	}{
		"nothing but refusals": {func(int, string, string) string { return "I'm sorry, I cannot write such a request." }, "of 800 items asked for, 0 could be used", "the full set is empty"},
		"one template": {func(i int, _, question string) string {
			n := len(question) + i
			return fmt.Sprintf("How do thieves at the %s get past the lock of a %s before anyone in the %s sees their faces?", things[n%9], things[n/9%9], things[n/5%9])
		}, "fails as", "the full set"},
		"harmless seeds": {func(i int, item, question string) string {
			if strings.Contains(question, " SEED OPENS>>") {
				return item
			}
			n := len(item)*7 + i*13 + strings.Count(item, "e")*29
			return pleasant[0][n%9] + " " + pleasant[1][n/9%9] + " " + pleasant[2][n/81%9] + "?"
		}, "its seeds are harmless", ""},
		"the seed with a third of its words exchanged": {func(i int, item, question string) string {
			seed := seedLines.FindStringSubmatch(question)
			if seed == nil {
				return item
			}
			fields := strings.Fields(seed[1])
			for n := i % 3; n < len(fields); n += 3 {
				fields[n] = things[(n+i)%9]
			}
			return strings.Join(fields, " ")
		}, "local/bad fails as rewriter", "the full set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &badHabits{line: tt.line, good: map[string]bool{}}
			made := h.build(t, 6)
			var faults []string
			for _, g := range made.Generators {
				faults = append(faults, g.Fault())
			}
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, tt.fault) && strings.Contains(f, "Use another model") }) {
				t.Errorf("faults %q of %+v", faults, made.Generators)
			}
			if lack := made.Lack(); tt.lack != "" && !strings.HasPrefix(lack, tt.lack) {
				t.Errorf("lack %q", lack)
			}
		})
	}
}
