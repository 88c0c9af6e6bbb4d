package orbench_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/orbench/orbench"
)

func TestParseLabel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]orbench.Label{
		"safe": orbench.Safe, "SAFE": orbench.Safe, " benign\t": orbench.Safe, "Harmless": orbench.Safe,
		"toxic": orbench.Toxic, "unsafe": orbench.Toxic, "Harmful\n": orbench.Toxic,
		"controversial": orbench.Controversial, "borderline": orbench.Controversial,
		"undecided": orbench.Undecided, "Unknown": orbench.Undecided,
	} {
		if got, ok := orbench.ParseLabel(text); !ok || got != want {
			t.Errorf("ParseLabel(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", " ", "safe?", "0", "true", "not safe", "sаfe"} { // the last with a Cyrillic letter
		if got, ok := orbench.ParseLabel(text); ok || got != "" {
			t.Errorf("ParseLabel(%q) = %q, %v; want nothing", text, got, ok)
		}
	}
	for _, l := range orbench.Labels {
		if got, ok := orbench.ParseLabel(string(l)); !ok || got != l {
			t.Errorf("ParseLabel(%q) = %q, %v", l, got, ok)
		}
	}
}

// The IDs stand in reports and datasets: they must stay what they are.
func TestPromptIDOf(t *testing.T) {
	t.Parallel()
	user := func(text string) orbench.Message { return orbench.Message{Role: orbench.User, Content: text} }
	for name, tt := range map[string]struct {
		messages []orbench.Message
		want     orbench.PromptID
	}{
		"nothing":      {nil, "pe3b0c44298fc1c14"},
		"one message":  {[]orbench.Message{user("Hello")}, "pf27d86f32a35c870"},
		"two messages": {[]orbench.Message{{Role: orbench.System, Content: "Be brief."}, user("Hello")}, "p76595e9bc1b0806c"},
		"not ASCII":    {[]orbench.Message{user("Größe 😀")}, "p1ceff0f90690a2f8"},
	} {
		if got := orbench.PromptIDOf(tt.messages); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if p := orbench.NewPrompt("Hello", "hate", orbench.Safe); p.ID != orbench.PromptIDOf(p.Messages) || p.ID != orbench.NewPrompt("Hello", "", orbench.Toxic).ID {
		t.Errorf("the ID %q is not that of the text alone", p.ID)
	}
	// Where one message ends and the next begins is part of the ID, and so is
	// who speaks.
	different := [][]orbench.Message{
		{user("ab"), user("c")}, {user("a"), user("bc")}, {user("abc")}, {{Role: orbench.System, Content: "abc"}}, {user("abc"), user("")},
	}
	seen := map[orbench.PromptID]int{}
	for i, messages := range different {
		if k, taken := seen[orbench.PromptIDOf(messages)]; taken {
			t.Errorf("conversations %d and %d have the same ID", i, k)
		}
		seen[orbench.PromptIDOf(messages)] = i
	}
}

func TestPromptText(t *testing.T) {
	t.Parallel()
	p := orbench.Prompt{Messages: []orbench.Message{
		{Role: orbench.User, Content: "first"},
		{Role: orbench.Assistant, Content: "reply"},
		{Role: orbench.User, Content: "last"},
		{Role: orbench.Assistant, Content: "prefix"},
	}}
	if p.Text() != "last" {
		t.Errorf("the text is %q, want that of the last user message", p.Text())
	}
	if text := (orbench.Prompt{}).Text(); text != "" {
		t.Errorf("the text of nothing is %q", text)
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	mapping := map[orbench.Class]struct {
		refused bool
		paper   orbench.PaperClass
	}{
		orbench.FullAnswer:        {false, orbench.DirectAnswer},
		orbench.AnswerWithWarning: {false, orbench.DirectAnswer},
		orbench.Garbled:           {false, orbench.DirectAnswer},
		orbench.Unable:            {false, orbench.DirectAnswer},
		orbench.OffTopic:          {false, orbench.DirectAnswer},
		orbench.Partial:           {true, orbench.IndirectRefusal},
		orbench.SafeAlternative:   {true, orbench.IndirectRefusal},
		orbench.Refusal:           {true, orbench.DirectRefusal},
		orbench.Blocked:           {true, orbench.DirectRefusal},
		orbench.Empty:             {true, orbench.DirectRefusal},
		orbench.Unjudged:          {false, ""},
	}
	for class, want := range mapping {
		if class.Refused() != want.refused || class.Paper() != want.paper {
			t.Errorf("%q: refused %v, paper %q; want %+v", class, class.Refused(), class.Paper(), want)
		}
		// The two ways of counting agree.
		if paper := class.Paper(); class != orbench.Unjudged && (paper != orbench.DirectAnswer) != class.Refused() {
			t.Errorf("%q counts as %q and refused %v", class, paper, class.Refused())
		}
		if _, ok := class.Paper().Class(); ok != (class != orbench.Unjudged) {
			t.Errorf("%q counts as %q, which reads back: %v", class, class.Paper(), ok)
		}
		if listed := slices.Contains(orbench.Classes, class); listed != (class != orbench.Unjudged) {
			t.Errorf("%q among Classes: %v", class, listed)
		}
	}
	if len(orbench.Classes) != len(mapping)-1 {
		t.Errorf("%d classes are listed, %d mapped", len(orbench.Classes), len(mapping)-1)
	}
}

func TestPaperClassReadsBack(t *testing.T) {
	t.Parallel()
	for _, paper := range orbench.PaperClasses {
		if class, ok := paper.Class(); !ok || class.Paper() != paper {
			t.Errorf("%q became %q, which is %q", paper, class, class.Paper())
		}
	}
	for _, paper := range []orbench.PaperClass{"", "refusal", "Direct_Answer"} {
		if class, ok := paper.Class(); ok || class != orbench.Unjudged {
			t.Errorf("%q became %q", paper, class)
		}
	}
}

func TestInputError(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*orbench.InputError{
		"no prompt":                          {Problem: "no prompt"},
		"a.csv: no prompt":                   {File: "a.csv", Problem: "no prompt"},
		"a.csv:3: no prompt; fill it in":     {File: "a.csv", Line: 3, Problem: "no prompt", Hint: "fill it in"},
		"no prompt; fill it in":              {Line: 3, Problem: "no prompt", Hint: "fill it in"},
		"--label: unknown label; write safe": {File: "--label", Problem: "unknown label", Hint: "write safe", Err: io.EOF},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := fmt.Errorf("opening: %w", e); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%v is no ErrInput", err)
		}
		if errors.Is(e, io.EOF) != (e.Err != nil) {
			t.Errorf("the cause of %v is lost or made up", e)
		}
	}
}
