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

// measurement gives the set and the label of a row's prompt as validationFile names
// them. Korean is apart, without a label: what is known of it says nothing about
// answers in English.
func measurement(row LabeledAnswer) (set, label string) {
	switch {
	case row.Set == "XSTest" && strings.HasPrefix(row.Group, "contrast_"):
		return "XSTest", "toxic"
	case row.Set == "XSTest":
		return row.Set, "safe"
	case row.Set == "Do-Not-Answer":
		return row.Set, "toxic"
	case row.Set != "ORFuzz":
		return row.Set, "any"
	}
	switch row.Group {
	case "or-bench-hard-1k":
		return "ORFuzz OR-Bench-Hard", "safe"
	case "benign-xstest":
		return "ORFuzz XSTest", "safe"
	case "COR":
		return "ORFuzz composed", "any"
	}
	return "ORFuzz toxic", "toxic"
}

// TestValidation holds that the file of what the judge was measured to be is true of
// it. ORBENCH_UPDATE=1 writes it anew. Answers of sets that weights are fitted to are
// in it twice: fitted, and left out, with their whole set or, in Korean, their model.
func TestValidation(t *testing.T) {
	update := os.Getenv("ORBENCH_UPDATE") != ""
	long := update || os.Getenv("ORBENCH_LONG") != "" || os.Getenv("ORBENCH_BENCH") != ""
	counts := map[string]*cells{}
	var keys []string
	add := func(row LabeledAnswer, sample string, v orbench.Verdict) {
		set, label := measurement(row)
		key := strings.Join([]string{"lexical", set, row.Model, label, sample}, ",")
		if counts[key] == nil {
			counts[key] = &cells{}
			keys = append(keys, key)
		}
		counts[key].judged(v, row)
	}
	for _, source := range Sources {
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
		// Of the Korean answers one model's are left out at a time: nothing else is Korean.
		for _, of := range []struct{ set, model string }{{"XSTest", ""}, {"forum", ""}, {"Korean", "Llama"}, {"Korean", "Hyper"}} {
			leaveOut(t, all, fitted, func(_ int, row LabeledAnswer) bool {
				return row.Set == of.set && strings.HasPrefix(row.Model, of.model)
			},
				func(row LabeledAnswer, v, _ orbench.Verdict) { add(row, "left-out", v) })
		}
	}
	samples := []string{"fitted", "left-out", "held-out"}
	slices.SortStableFunc(keys, func(a, b string) int {
		sample := func(key string) int { return slices.Index(samples, key[strings.LastIndexByte(key, ',')+1:]) }
		return cmp.Compare(sample(a), sample(b))
	})
	var b strings.Builder
	b.WriteString("judge,set,model,label,sample,tp,fp,fn,tn,unjudged\n")
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
