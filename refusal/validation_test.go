package refusal_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/refusal"
)

// validationFile has what the judge was measured to be, for reports to say.
const validationFile = "../internal/score/lexical.csv"

// modernFile is measured by source and kind of prompt, which Sources do not tell apart.
const modernFile = "modern-answers.csv"

// readModern reads modernFile by where its rows stand in it, as LabeledAnswer.ID says.
// Set is the repository that an answer is from, Group the kind of its prompt.
func readModern(t testing.TB) map[string]LabeledAnswer {
	t.Helper()
	rows := map[string]LabeledAnswer{}
	for _, column := range []string{"source", "prompt_kind"} {
		source := Source{File: modernFile, Set: "modern", answer: "response", model: "model", group: column, label: labeled}
		for _, row := range readSource(t, source) {
			if column == "source" {
				row.Set = row.Group[strings.IndexByte(row.Group, '/')+1:]
			} else {
				row.Set = rows[row.ID].Set
			}
			rows[row.ID] = row
		}
	}
	return rows
}

// measurement gives the set, the label of the prompt and the language of a row as
// validationFile names them.
func measurement(row LabeledAnswer, modern map[string]LabeledAnswer) (set, label, language string) {
	if of, ok := modern[row.ID]; ok {
		if label = of.Group; label == "unknown" {
			label = "any"
		}
		return of.Set, label, "en"
	}
	switch {
	case row.Set == "XSTest" && strings.HasPrefix(row.Group, "contrast_"):
		return "XSTest", "toxic", "en"
	case row.Set == "XSTest":
		return row.Set, "safe", "en"
	case row.Set == "Do-Not-Answer":
		return row.Set, "toxic", "en"
	case row.Set == "Korean":
		return row.Set, "any", "ko"
	case row.Set != "ORFuzz":
		return row.Set, "any", "en"
	}
	switch row.Group {
	case "or-bench-hard-1k":
		return "ORFuzz OR-Bench-Hard", "safe", "en"
	case "benign-xstest":
		return "ORFuzz XSTest", "safe", "en"
	case "COR":
		return "ORFuzz composed", "any", "en"
	}
	return "ORFuzz toxic", "toxic", "en"
}

// TestValidation holds that the file of what the judge was measured to be is true of
// it. ORBENCH_UPDATE=1 writes it anew. Answers of sets that weights are fitted to are
// in it twice: fitted, and left out, with their whole set or, in Korean, their model.
func TestValidation(t *testing.T) {
	update := os.Getenv("ORBENCH_UPDATE") != ""
	long := update || os.Getenv("ORBENCH_LONG") != "" || os.Getenv("ORBENCH_BENCH") != ""
	counts := map[string]*cells{}
	var keys []string
	modern := readModern(t)
	add := func(row LabeledAnswer, sample string, v orbench.Verdict) {
		set, label, language := measurement(row, modern)
		key := strings.Join([]string{"lexical", set, row.Model, label, language, sample}, ",")
		if counts[key] == nil {
			counts[key] = &cells{}
			keys = append(keys, key)
		}
		counts[key].judged(v, row)
	}
	sources := Sources
	if !slices.ContainsFunc(Sources, func(s Source) bool { return s.File == modernFile }) {
		sources = append(slices.Clone(Sources), Source{File: modernFile, Set: "modern", answer: "response", model: "model", label: labeled})
	}
	for _, source := range sources {
		sample := "held-out"
		if source.Fit {
			sample = "fitted"
		}
		for _, row := range readSource(t, source) {
			add(row, sample, refusal.Detect(row.Prompt, row.Answer))
		}
	}
	if long {
		all, fitted := withOwn(t), readFitted(t)
		// apart names what is left out together: a set, or in Korean a model, since nothing
		// else is Korean.
		apart := func(row LabeledAnswer) string {
			if set, _, language := measurement(row, modern); language == "en" {
				return set
			}
			return row.Model
		}
		var parts []string
		for _, row := range fitted {
			if part := apart(row); !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
		for _, part := range parts {
			leaveOut(t, all, fitted, func(_ int, row LabeledAnswer) bool { return apart(row) == part },
				func(row LabeledAnswer, v, _ orbench.Verdict) { add(row, "left-out", v) })
		}
	}
	samples := []string{"fitted", "left-out", "held-out"}
	slices.SortStableFunc(keys, func(a, b string) int {
		sample := func(key string) int { return slices.Index(samples, key[strings.LastIndexByte(key, ',')+1:]) }
		return cmp.Compare(sample(a), sample(b))
	})
	var b strings.Builder
	b.WriteString("judge,set,model,label,language,sample,tp,fp,fn,tn,unjudged\n")
	for _, key := range keys {
		c := counts[key]
		fmt.Fprintf(&b, "%s,%d,%d,%d,%d,%d\n", key, c.truePos, c.falsePos, c.falseNeg, c.trueNeg, c.unjudged)
	}
	if update {
		if err := os.WriteFile(validationFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(validationFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(have)))
	if !long {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, ",left-out,") })
	}
	if strings.Join(lines, "") != b.String() {
		t.Errorf("%s is not what the judge was measured to be; ORBENCH_UPDATE=1 go test -run TestValidation ./refusal writes it anew", validationFile)
	}
}
