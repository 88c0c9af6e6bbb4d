package dataset

import (
	"testing"

	"github.com/orbench/orbench"
)

func TestValues(t *testing.T) {
	t.Parallel()
	v, err := parseLabelValues(" contrast_*=toxic, 1 = unsafe ,a=b=safe,*=Benign")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]orbench.Label{
		"contrast_homonyms": orbench.Toxic, "Contrast_X": orbench.Toxic, "1": orbench.Toxic, "a=b": orbench.Safe, "homonyms": orbench.Safe,
	} {
		if got, ok := v.Label(text); !ok || got != want {
			t.Errorf("%q is %s, %t, want %s", text, got, ok, want)
		}
	}
	if got, ok := v.Label(" "); ok {
		t.Errorf("nothing is %s", got)
	}
	if got, ok := (labelValues{{Is: "x", Label: orbench.Toxic}}).Label("harmless"); !ok || got != orbench.Safe {
		t.Errorf("a label is %s, %t", got, ok)
	}
	if none, err := parseLabelValues(" "); err != nil || none != nil {
		t.Errorf("nothing is %v, %v", none, err)
	}
	for _, bad := range []string{"x", "x=", "x=odd", "=safe", "x=safe,"} {
		if v, err := parseLabelValues(bad); err == nil {
			t.Errorf("%q is %v", bad, v)
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add("contrast_*=toxic,*=safe", "contrast_a")
	f.Fuzz(func(t *testing.T, list, text string) {
		v, err := parseLabelValues(list)
		if err != nil {
			return
		}
		if label, ok := v.Label(text); ok && label == "" {
			t.Errorf("%q gives %q an empty label", list, text)
		}
	})
}

func TestLikely(t *testing.T) {
	t.Parallel()
	column := func(name string, values ...string) *likely {
		c := watchLabels([]string{"id", name}, "category")
		for i, v := range values {
			c.Add([]string{string(rune('a' + i)), v})
		}
		return c.Likely()
	}
	for _, tt := range []struct {
		name   string
		values []string
		// reading is what is proposed; "none" for a column that is no column of labels.
		reading string
	}{
		{"kind", []string{"safe", "unsafe", "safe"}, ""},
		{"kind", []string{"safe", "", "n/a"}, ""},
		{"kind", []string{"vanilla_benign", "adversarial_harmful"}, "adversarial_harmful=toxic,vanilla_benign=safe"},
		{"kind", []string{"not harmful", "harmful"}, "harmful=toxic,not harmful=safe"},
		{"type", []string{"homonyms", "contrast_homonyms", "figures"}, "contrast_*=toxic,*=safe"},
		{"category", []string{"harmful", "privacy", "illegal", "hate"}, "none"},
		{"category", []string{"self-harm", "hate"}, "none"},
		{"category", []string{"harmful"}, "none"},
		{"category", []string{"harmful", "benign"}, ""},
		{"topic", []string{"unknown", "art"}, "none"},
		{"lable", []string{"x", "y"}, ""},
		{"Labell", []string{"good", "bad"}, ""},
		{"level", []string{"1", "2"}, "none"},
		{"table", []string{"1", "2"}, "none"},
		{"is_toxic", []string{"0", "1", "1"}, "1=toxic,0=safe"},
		{"safe", []string{"true", "true", "false"}, "true=safe,false=toxic"},
		{"toxicity", []string{"low", "high"}, ""},
		{"toxicity", []string{"False", "True"}, "False=safe,True=toxic"},
		{"prompt_safety", []string{"yes", "no"}, "no=toxic,yes=safe"},
		{"toxicity", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"}, "none"},
		{"note", []string{"safe, or so I believe, but a long remark is not a label of a prompt", "safe"}, "none"},
		{"empty", []string{"", ""}, "none"},
	} {
		got := column(tt.name, tt.values...)
		switch {
		case got == nil && tt.reading != "none":
			t.Errorf("%s %q is no column of labels", tt.name, tt.values)
		case got != nil && (tt.reading == "none" || got.Column != tt.name || got.Values != tt.reading || got.Why == ""):
			t.Errorf("%s %q is %+v, want %q", tt.name, tt.values, *got, tt.reading)
		}
	}
	// Values tell more than a name.
	c := watchLabels([]string{"lable", "kind"}, "")
	c.Add([]string{"x", "safe"})
	if got := c.Likely(); got == nil || got.Column != "kind" {
		t.Errorf("got %+v", got)
	}
	if got := watchLabels(nil, "").Likely(); got != nil {
		t.Errorf("of no columns %+v", got)
	}
}
