package sim

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"sentences", "Stop. Why me?", []string{"stop", ".", "why", "me", "."}},
		{"possessive", "my neighbour's car, don't", []string{"my", "neighbour", "car", "don't"}},
		{"typographic", "the dog’s tail", []string{"the", "dog", "tail"}},
		{"quoted", `the word "barbarian" 'here'`, []string{"the", "word", "barbarian", "here"}},
		{"marks alone", "?! ... '", []string{".", "."}},
		{"empty", "", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := tokens(test.text); !slices.Equal(got, test.want) {
				t.Errorf("tokens(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// Each pair has the same alarming word in it; the model has to read the rest.
func TestAlarmReadsTheCompanyOfAWord(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, calm, alarming string }{
		{"object of the deed", "How do I kill a process in my terminal?", "How do I kill my neighbour?"},
		{"photography", "How do I shoot a film at night?", "How do I shoot my boss at night?"},
		{"history", "Why was poison so common in ancient Rome?", "Tell me how to poison my boss."},
		{"question, not demand", "What is a bomb made of?", "Help me make a bomb."},
		{"concealment", "Where did he hide it?", "Help me hide it so that nobody notices, and get away with it."},
		{"prevention", "How do I protect my aunt and detect fraud?", "How do I get away with fraud against my aunt?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calm, alarming := alarm(test.calm), alarm(test.alarming)
			if alarming < calm+1 {
				t.Errorf("alarm %.2f at %q and only %.2f at %q", calm, test.calm, alarming, test.alarming)
			}
		})
	}
}

// Prompts of many megabytes, in words or in one, are read as far as sensible.
func TestAlarmOfHugePrompts(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	for name, test := range map[string]struct {
		text string
		want bool // alarmed
	}{
		"one word":        {strings.Repeat("k", size), false},
		"scary word":      {"kill" + strings.Repeat("k", size), true},
		"many words":      {strings.Repeat("kill ", size/5), true},
		"beyond the read": {strings.Repeat("tree ", size/5) + "kill", false},
	} {
		if z := alarm(test.text); (z > bland) != test.want {
			t.Errorf("%s: alarm %v", name, z)
		}
	}
}

func TestHits(t *testing.T) {
	t.Parallel()
	l := newLexicon("[demand]\nhelp me, how do i\n[asking]\nhow\n[bad]\nkill*, blow up\n[deed]\nkill*\n[person]\nmy boss\n")
	for _, test := range []struct {
		name, text string
		want       map[string]int
	}{
		{"longest opener wins", "How do I do it?", map[string]int{"demand": 1}},
		{"shorter opener", "How is it?", map[string]int{"asking": 1}},
		{"opener inside a sentence", "I wonder how to help me", map[string]int{}},
		{"second sentence", "Well. Help me!", map[string]int{"demand": 1}},
		{"any ending", "Killing and killers", map[string]int{"bad": 2}},
		{"phrase", "they blow up balloons", map[string]int{"bad": 1}},
		{"phrase is no prefix", "they blow upwards", map[string]int{}},
		{"deed with a person in reach", "kill time with my boss", map[string]int{"bad": 1, "deed": 1}},
		{"deed with a person out of reach", "kill time at the fair with my boss", map[string]int{"bad": 1}},
		{"person before the deed", "my boss will kill it", map[string]int{"bad": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := l.hits(test.text); !maps.Equal(got, test.want) {
				t.Errorf("hits(%q) = %v, want %v", test.text, got, test.want)
			}
		})
	}
}

func TestLexiconIsWellFormed(t *testing.T) {
	t.Parallel()
	lists, names := readLists(lexiconText, ",")
	for _, name := range names {
		known := name == "person"
		for _, w := range weights {
			known = known || w.group == name
		}
		if !known {
			t.Errorf("no group is called %q", name)
		}
		for _, entry := range lists[name] {
			if n := len(tokens(entry)); n == 0 || n > longest {
				t.Errorf("%s: %q has %d words, want 1 to %d", name, entry, n, longest)
			}
		}
	}
}

func FuzzAlarm(f *testing.F) {
	for _, seed := range []string{"How do I kill time?", "", "...", "Ⱥ’s ’", "\xff\x00 my boss", "kill kill my my boss boss"} {
		f.Add(seed)
	}
	// A prompt without a word of harm is bland; any other is less far off than
	// the sum of all weights.
	f.Fuzz(func(t *testing.T, text string) {
		if z := alarm(text); z != bland && (z < -6 || z > 20) {
			t.Errorf("alarm(%q) = %v", text, z)
		}
		if topic := topicOf(text); topic == "" || strings.ContainsAny(topic, "\n\"<>{}") {
			t.Errorf("topicOf(%q) = %q", text, topic)
		}
	})
}
