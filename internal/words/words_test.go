package words

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestEach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Plainly: a Zebra's stripes.": "plainly|a|zebra|s|stripes",
		"ÜNÏCODE1 x2":                 "ünïcode1|x2",
		"東京 to 大阪":                    "東|京|to|大|阪",
		"":                            "",
		" .,! ":                       "",
		strings.Repeat("a", 70):       strings.Repeat("a", 64),
	} {
		var words []string
		Each(text, nil, func(word []byte) { words = append(words, string(word)) })
		if got := strings.Join(words, "|"); got != want {
			t.Errorf("the words of %q are %s, want %s", text, got, want)
		}
	}
}

// What a search of all blocks finds is what the texts have.
func TestLists(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	lists, texts := New(), map[int]string{}
	for n := 0; len(texts) < 500; n += 1 + random.IntN(300) {
		texts[n] = fmt.Sprintf("w%d w%d all", random.IntN(1000), random.IntN(30))
		lists.Add(uint32(n), texts[n])
	}
	var blocks [][]byte
	var firsts []string
	if err := lists.Write(512, func(first string, block []byte) error {
		firsts, blocks = append(firsts, first), append(blocks, slices.Clone(block))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(blocks) < 5 || !slices.IsSorted(firsts) {
		t.Fatalf("%d blocks, which begin with %q", len(blocks), firsts)
	}
	most := slices.Max(slices.Collect(maps.Keys(texts)))
	for _, query := range []string{"all", "w1", "w1*", "w99*", "w*", "x*", "*", "w2000"} {
		word, prefix := strings.CutSuffix(query, "*")
		has := make([]uint64, most/64+1)
		for _, block := range blocks {
			if !Find(block, word, prefix, has) {
				t.Fatal("a block is damaged")
			}
		}
		for n, text := range texts {
			want := slices.ContainsFunc(strings.Fields(text), func(w string) bool { return w == word || prefix && strings.HasPrefix(w, word) })
			if got := has[n/64]>>(n%64)&1 != 0; got != want {
				t.Errorf("%s in %q: %t", query, text, got)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	lists := New()
	lists.Add(3, "one two")
	lists.Add(9, "two three")
	if err := lists.Write(1<<10, func(_ string, block []byte) error {
		f.Add(block, "two", true)
		return nil
	}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, block []byte, word string, prefix bool) {
		Find(block, word, prefix, make([]uint64, 2))
	})
}
