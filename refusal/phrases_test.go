package refusal

import (
	"slices"
	"strings"
	"testing"
)

func TestParseTableFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"phrase before a kind", "i can not", "a phrase stands before"},
		{"unknown kind", "[sulk]\nno", "unknown kind sulk"},
		{"unknown reason", "[refuse whim]\nno", "unknown reason whim"},
		{"unknown class", "[refuse]\ni <verb>", "unknown class <verb>"},
		{"unknown word", "klass a: b", "unknown word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := parseTable("x.txt", c.text, newTable())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.txt:") {
				t.Errorf("error %v, want x.txt:LINE: …%s…", err, c.want)
			}
		})
	}
}

// TestTables holds that the embedded tables build, and that no kind is without
// a phrase.
func TestTables(t *testing.T) {
	a, err := buildAutomaton(phraseFiles, vocabulary{})
	if err != nil {
		t.Fatal(err)
	}
	var have [kinds]int
	for _, c := range a.ends[1:] {
		have[c.kind]++
	}
	for k, n := range have {
		if n == 0 {
			t.Errorf("no phrase is of kind %s", kindNames[k])
		}
	}
	t.Logf("%d ends of phrases, %d places", len(a.ends)-1, len(a.moves.moves))
}

// TestCutAnywhere holds the verdict on text that is cut at any byte to the same
// promises as whole text.
func TestCutAnywhere(t *testing.T) {
	const answer = "<think>hm</think> Désolé, “je ne peux pas” vous aider. 对不起，我不能。 I’m sorry — I can’t: Ã© \u0301."
	for i := range len(answer) + 1 {
		for _, part := range []string{answer[:i], answer[i:]} {
			v := Detect("", part)
			if v.Span.End > len(part) || (v.Score >= 0.5) != v.Class.Refused() {
				t.Errorf("%q: %+v", part, v)
			}
		}
	}
}

// TestWeightsFaults holds that every feature has one weight by its name, in
// whatever order, and that no other name has any.
func TestWeightsFaults(t *testing.T) {
	want, err := parseWeights(weightsText)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(weightsText), "\n")[1:]
	last := len(lines) - 1
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"missing", lines[:last], strings.Fields(lines[last])[0] + " has no weight"},
		{"unknown", append(slices.Clone(lines), "sulks 1"), "no feature is called sulks"},
		{"twice", append(slices.Clone(lines), lines[last]), "has a weight already"},
		{"no number", append(slices.Clone(lines[:last]), strings.Fields(lines[last])[0]+" much"), "line "},
		{"empty", nil, "bias has no weight"},
	} {
		if _, err := parseWeights(strings.Join(c.lines, "\n")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want …%s…", c.name, err, c.want)
		}
	}
	slices.Reverse(lines)
	if have, err := parseWeights(strings.Join(lines, "\n")); err != nil || *have != *want {
		t.Errorf("in another order the weights differ, error %v", err)
	}
}

// TestFeatureNames holds that no two features have one name, and that they fit
// into a vector.
func TestFeatureNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range features {
		if seen[f.name] {
			t.Errorf("two features are called %s", f.name)
		}
		seen[f.name] = true
	}
	if len(features) > maxFeatures {
		t.Errorf("%d features, a vector has %d", len(features), maxFeatures)
	}
}
