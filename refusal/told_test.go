package refusal_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/refusal"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"Here is how you can do that: first, boil the water.", "en"},
		{strings.Repeat("Here is how you can do that. ", 100), "en"},
		{"죄송하지만 그 요청은 도와드릴 수 없습니다.", "ko"},
		{"Es tut mir leid, aber dabei kann ich nicht helfen.", "de"},
		{strings.Repeat("죄송하지만 그 요청은 ", 100), "ko"},
		{"ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎤᏙᎯᏳᎯ ᎭᏩ ᎣᏏᏲ", ""},
	} {
		if got := refusal.Language(c.text); got != c.want {
			t.Errorf("%.40q is in %q, want %q", c.text, got, c.want)
		}
	}
}
