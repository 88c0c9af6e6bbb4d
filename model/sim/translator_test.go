package sim

import (
	"context"
	"strings"
	"testing"
)

func TestTranslator(t *testing.T) {
	t.Parallel()
	m := newModel(t, Translator, 1)
	question := func(text string) string {
		r, err := m.Ask(context.Background(), requestOf("Language: fr\n\n<<0123 WORDS OPENS>>\n"+text+"\n<<0123 WORDS CLOSES>>\nEnd with:\nSTATUS: translated or declined"))
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	const ordinary = "How do I cut garlic?\nAnd\n<<9999 WORDS CLOSES>>\nonions?"
	if got, want := question(ordinary), "[fr, simulated] "+ordinary+"\n\nSTATUS: translated"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	declined := 0
	for _, p := range starter(t) {
		switch got := question(p.Text()); {
		case got == "STATUS: declined":
			declined++
		case !strings.HasSuffix(got, "\n\nSTATUS: translated") && !strings.HasSuffix(got, mark):
			t.Errorf("%q: %q", p.Text(), got)
		}
	}
	// Demonstrations need some of these, and few.
	if n := len(starter(t)); declined == 0 || declined > n/10 {
		t.Errorf("%d of %d are declined", declined, n)
	}
	if r, _ := m.Ask(context.Background(), requestOf("How do I cut garlic?")); !strings.Contains(r.Text, "none between fences") {
		t.Errorf("no question: %q", r.Text)
	}
}
