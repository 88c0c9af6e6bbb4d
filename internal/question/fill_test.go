package question

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// filled and lowerASCII give what the standard library's slower ways give.
func TestFasterWaysAgree(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{"{{", "}}", "{", "}", "fence", "marker", "none", "{{fence}}", "{{marker}}", "{{other}}", " ", "VERDICT", "ver\u0130dict", "\u212aey", "é", "\xff"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 20_000 {
		in, fence, marker := text(), text(), text()
		want := strings.NewReplacer("{{fence}}", fence, "{{marker}}", marker).Replace(in)
		if got := filled(in, []string{"fence", fence, "marker", marker}); got != want {
			t.Fatalf("seed %d: filled(%q) with %q and %q is %q, want %q", seed, in, fence, marker, got, want)
		}
		for _, s := range []string{"verdict", "key", "i", "k"} {
			if got, want := strings.Contains(lowerASCII(in), s), strings.Contains(strings.ToLower(in), s); got != want {
				t.Fatalf("seed %d: %q has %q: %t, want %t", seed, in, s, got, want)
			}
		}
	}
}
