package similar_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orbench/orbench/similar"
)

// nearestOf is Nearest by its definition.
func nearestOf(kept []string, text string, threshold float64) (n int, jaccard float64, found bool) {
	for i, k := range kept {
		if j := similar.Jaccard(k, text); j >= threshold && j > jaccard {
			n, jaccard, found = i, j, true
		}
	}
	return n, jaccard, found
}

// TestIndex holds Add, Keep and Nearest in random order to their definitions,
// while the shingles are ranked anew at random moments.
func TestIndex(t *testing.T) {
	t.Parallel()
	const seed = 11
	found := 0
	for round := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, round))
		texts := randomTexts(r, 80, []int{4, 15, 90}[round%3])
		for _, threshold := range []float64{0.05, 0.4, 0.5, 2.0 / 3, 0.9, 1} {
			x := similar.NewIndex(threshold)
			var kept []string
			for i, text := range texts {
				where := fmt.Sprintf("seed %d, round %d, threshold %v, text %d", seed, round, threshold, i)
				if r.IntN(10) == 0 {
					x.RankAnew()
				}
				n, j, ok := nearestOf(kept, text, threshold)
				if gotN, gotJ, gotOK := x.Nearest(text); gotN != n || gotJ != j || gotOK != ok {
					t.Fatalf("%s: Nearest is %d, %v, %v, want %d, %v, %v", where, gotN, gotJ, gotOK, n, j, ok)
				}
				if ok {
					found++
				}
				if r.IntN(4) == 0 {
					if got := x.Keep(text); got != len(kept) {
						t.Fatalf("%s: Keep gives %d, want %d", where, got, len(kept))
					}
					kept = append(kept, text)
					continue
				}
				if !ok {
					n = len(kept)
					kept = append(kept, text)
				}
				if gotN, gotJ, gotOK := x.Add(text); gotN != n || gotJ != j || gotOK != ok {
					t.Fatalf("%s: Add gives %d, %v, %v, want %d, %v, %v", where, gotN, gotJ, gotOK, n, j, ok)
				}
			}
			if x.Len() != len(kept) {
				t.Fatalf("%d are kept, want %d", x.Len(), len(kept))
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d found in all; the collections test nothing", found)
	}
}

// lateOpener makes n texts of 15 words, then n that are made of an opener that is
// new and of pieces of the others. The opener's shingles have just been met, and
// so count as the rarest, until they are ranked anew.
func lateOpener(n int) []string {
	piece := func(i int) string {
		var w []string
		for j := range 7 {
			w = append(w, fmt.Sprintf("p%dw%d", i, j))
		}
		return strings.Join(w, " ")
	}
	texts := make([]string, 0, 2*n)
	for i := range n {
		texts = append(texts, piece(2*i)+" and "+piece(2*i+1))
	}
	for i := range n {
		texts = append(texts, "in which way do people handle "+piece(2*i)+" or "+piece((2*i+3)%(2*n)))
	}
	return texts
}

// TestIndexRanksByItself has shingles become common late. The index must rank
// them anew, or it would compare nearly every text with every other; it must not
// do so all the time; and it must still find the same.
func TestIndexRanksByItself(t *testing.T) {
	t.Parallel()
	texts := lateOpener(2000)
	x := similar.NewIndex(0.5)
	rankings := 0
	for i, text := range texts {
		if x.Due() {
			rankings++
		}
		if n, _, duplicate := x.Add(text); duplicate || n != i {
			t.Fatalf("text %d is kept as %d, duplicate %v", i, n, duplicate)
		}
	}
	if rankings == 0 || rankings > 20 {
		t.Errorf("the shingles were ranked %d times", rankings)
	}
	if n, j, duplicate := x.Add(strings.ToUpper(texts[2000])); n != 2000 || j != 1 || !duplicate {
		t.Errorf("a repeated text gives %d, %v, %v", n, j, duplicate)
	}
}

func TestIndexWithoutWords(t *testing.T) {
	t.Parallel()
	x := similar.NewIndex(0.1)
	for i, text := range []string{"", "?!", ""} {
		if n, j, duplicate := x.Add(text); n != i || j != 0 || duplicate {
			t.Errorf("Add(%q) = %d, %v, %v, want it kept as %d", text, n, j, duplicate, i)
		}
	}
	if _, _, found := x.Nearest(""); found {
		t.Error("a text without words is like another")
	}
}
