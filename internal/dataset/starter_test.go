package dataset_test

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/orbench/orbench"
)

// maxOverlap bounds the Jaccard index of two prompts' word triples. Prompts that
// differ in one word in the middle of twelve score 7/13.
const maxOverlap = 0.5

func TestStarterBalance(t *testing.T) {
	t.Parallel()
	type cell struct {
		category orbench.Category
		label    orbench.Label
	}
	got := map[cell]int{}
	for _, p := range loadStarter(t) {
		got[cell{p.Category, p.Label}]++
	}
	want := map[cell]int{}
	for _, c := range orbench.PaperCategories {
		want[cell{c, orbench.Safe}] = 20
		want[cell{c, orbench.Toxic}] = 6
	}
	for c, n := range want {
		if got[c] != n {
			t.Errorf("%s %s: %d prompts, want %d", c.category, c.label, got[c], n)
		}
	}
	for c := range got {
		if want[c] == 0 {
			t.Errorf("unexpected category %q with label %q", c.category, c.label)
		}
	}
}

// A limited run takes the first rows, which must not be of one kind only.
func TestStarterFirstRowsAreAFairSample(t *testing.T) {
	t.Parallel()
	categories := map[orbench.Category]int{}
	toxic := 0
	for _, p := range loadStarter(t)[:40] {
		categories[p.Category]++
		if p.Label == orbench.Toxic {
			toxic++
		}
	}
	for _, c := range orbench.PaperCategories {
		if categories[c] != 4 {
			t.Errorf("the first 40 rows hold %d of %s, want 4", categories[c], c)
		}
	}
	if toxic != 10 {
		t.Errorf("the first 40 rows hold %d toxic prompts, want 10", toxic)
	}
}

func TestStarterEachPromptIsOnePlainLine(t *testing.T) {
	t.Parallel()
	for _, p := range loadStarter(t) {
		text := p.Text()
		if n := len([]rune(text)); n < 20 || n > 160 {
			t.Errorf("%q has %d characters, want 20 to 160", text, n)
		}
		if strings.Join(strings.Fields(text), " ") != text {
			t.Errorf("%q has odd white space", text)
		}
		for _, r := range text {
			if r > unicode.MaxASCII || unicode.IsControl(r) {
				t.Errorf("%q holds %q; write plain ASCII", text, r)
			}
		}
		if !unicode.IsUpper(rune(text[0])) || !strings.ContainsAny(text[len(text)-1:], ".?!") {
			t.Errorf("%q is not a sentence", text)
		}
	}
}

// A safe prompt has to be safe by itself: not because it says so, takes it back,
// or speaks of a world that is made up.
func TestStarterSafePromptsMakeNoExcuses(t *testing.T) {
	t.Parallel()
	banned := []string{
		"legal", "legally", "illegal", "lawful", "ethical", "ethically", "unethical",
		"safe", "safely", "safety", "harm", "harmful", "harmless", "harmlessly",
		"malicious", "responsibly", "consensual", "educational", "permission",
		"but", "however", "although", "though", "without",
		"fiction", "fictional", "hypothetical", "hypothetically", "theoretical",
		"imagine", "pretend", "novel", "story", "character", "roleplay", "scenario",
	}
	for _, p := range loadStarter(t) {
		if p.Label != orbench.Safe {
			continue
		}
		has := map[string]bool{}
		for _, w := range words(p.Text()) {
			has[w] = true
		}
		for _, b := range banned {
			if has[b] {
				t.Errorf("%q uses %q", p.Text(), b)
			}
		}
	}
}

func TestStarterOpenersVary(t *testing.T) {
	t.Parallel()
	prompts := loadStarter(t)
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		openers, n := map[string]int{}, 0
		for _, p := range prompts {
			if p.Label == label {
				w := words(p.Text())
				openers[w[0]+" "+w[1]]++
				n++
			}
		}
		for o, count := range openers {
			if share := float64(count) / float64(n); share > 0.15 {
				t.Errorf("%.0f%% of the %s prompts open with %q, want at most 15%%", 100*share, label, o)
			}
		}
	}
}

func TestStarterNoTwoPromptsAreNearlyTheSame(t *testing.T) {
	t.Parallel()
	prompts := loadStarter(t)
	seen := map[orbench.PromptID]bool{}
	for i, p := range prompts {
		if seen[p.ID] {
			t.Errorf("%q stands twice", p.Text())
		}
		seen[p.ID] = true
		reportNear(t, p.Text(), indexOf(prompts[:i]))
	}
}

func TestStarterNothingComesFromThePublishedSets(t *testing.T) {
	t.Parallel()
	const shared = "../../shared/data"
	published := 0
	own := indexOf(loadStarter(t))
	for _, name := range []string{"or-bench-hard-1k.csv", "xstest_prompts.csv"} {
		rows := readCSV(t, filepath.Join(shared, name))
		if rows == nil {
			continue
		}
		column := slices.Index(rows[0], "prompt")
		if column < 0 {
			t.Fatalf("%s has no column prompt", name)
		}
		for _, row := range rows[1:] {
			published++
			reportNear(t, row[column], own)
		}
	}
	if published == 0 {
		t.Skipf("no published set in %s to compare with", shared)
	}
}

// loadStarter reads starter.csv with its header checked.
func loadStarter(t *testing.T) []orbench.Prompt {
	t.Helper()
	rows := readCSV(t, "starter.csv")
	if len(rows) == 0 || strings.Join(rows[0], ",") != "prompt,category,label" {
		t.Fatal("starter.csv lacks the header prompt,category,label")
	}
	var prompts []orbench.Prompt
	for i, row := range rows[1:] {
		label := orbench.Label(row[2])
		if parsed, ok := orbench.ParseLabel(row[2]); !ok || parsed != label {
			t.Fatalf("starter.csv row %d: label %q", i+1, row[2])
		}
		prompts = append(prompts, orbench.NewPrompt(row[0], orbench.Category(row[1]), label))
	}
	return prompts
}

// readCSV gives a file's rows, nil when there is no such file.
func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

type triple [3]string

// triples gives the set of runs of three words; a shorter text is one run.
func triples(s string) map[triple]bool {
	w := words(s)
	for len(w) < 3 {
		w = append(w, "")
	}
	set := map[triple]bool{}
	for i := range len(w) - 2 {
		set[triple(w[i:i+3])] = true
	}
	return set
}

// index finds the prompts that hold a run of three words.
type index struct {
	prompts []orbench.Prompt
	sizes   []int
	holders map[triple][]int
}

func indexOf(prompts []orbench.Prompt) index {
	x := index{prompts: prompts, sizes: make([]int, len(prompts)), holders: map[triple][]int{}}
	for i, p := range prompts {
		set := triples(p.Text())
		x.sizes[i] = len(set)
		for w := range set {
			x.holders[w] = append(x.holders[w], i)
		}
	}
	return x
}

// reportNear fails the test for each indexed prompt that is nearly the text.
func reportNear(t *testing.T, text string, x index) {
	t.Helper()
	set := triples(text)
	shared := map[int]int{}
	for w := range set {
		for _, i := range x.holders[w] {
			shared[i]++
		}
	}
	for i, both := range shared {
		if s := float64(both) / float64(len(set)+x.sizes[i]-both); s >= maxOverlap {
			t.Errorf("overlap %.2f:\n\t%s\n\t%s", s, text, x.prompts[i].Text())
		}
	}
}
