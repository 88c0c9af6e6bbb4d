package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// wordings are requests of the long wordings, about a prompt and an answer; those that are
// made most come last.
func wordings(t *testing.T, about, answer string) (all []model.Request) {
	t.Helper()
	ref := model.Ref{Provider: "p", Model: "m"}
	examples := generator.Examples(1)
	for _, p := range []generator.Params{{}, {Structured: true, Varied: &generator.Varied{Forms: []generator.Form{generator.Asking}}}} {
		all = append(all,
			generator.SeedRequest(ref, p, orbench.Definition{Category: "c", Text: about}, 20, 1),
			generator.RewriteRequest(ref, p, about, 5, examples, 1),
			generator.RepairRequest(ref, p, about, answer, nil, examples, 1),
			generator.TurnsRequest(ref, p, about, 3, 1),
			generator.MutateRequest(ref, p, generator.Retell, about, answer, 5, 1))
	}
	for _, name := range slices.Backward(policy.Names()) {
		of, err := policy.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range []moderate.Item{{Prompt: about, Answer: &answer}, {Prompt: about}} {
			_, missing := moderate.Moderator{Ref: ref, Structured: true}.Vote(of.Definitions(), item)(model.NoReplies)
			all = append(all, missing...)
		}
	}
	for _, rubric := range []string{"@xstest", "@helpful", ""} {
		for _, structured := range []bool{true, false} {
			j, err := judge.Parse("llm:p/m"+rubric, judge.Options{Structured: func(string) bool { return structured }})
			if err != nil {
				t.Fatal(err)
			}
			_, missing := j.Verdict(judge.Case{Prompt: orbench.Prompt{Messages: []orbench.Message{{Role: orbench.User, Content: about}}}, Response: model.Response{Text: answer}}, model.NoReplies)
			all = append(all, missing...)
		}
	}
	return all
}

// The dictionary has the wordings as they are: what is left of a request is little more than its
// data. Where this fails for a new wording, the next dictionary is due: ORBENCH_UPDATE=1 writes it.
func TestDictionary(t *testing.T) {
	t.Parallel()
	for _, r := range wordings(t, "How do tides move a moored boat?", "The moon pulls at the sea, and the boat rises with it.") {
		request := r.Canonical()
		plain, packed := store.Pack(request)
		if len(plain) == 0 && len(packed) > 400 {
			t.Errorf("%d bytes are left of %d: %.200s", len(packed), len(request), request)
		}
	}
	if !t.Failed() || os.Getenv("ORBENCH_UPDATE") == "" {
		return
	}
	var text bytes.Buffer
	for _, r := range wordings(t, "x", "x") {
		text.Write(append(r.Canonical(), '\n'))
	}
	if err := os.WriteFile(fmt.Sprintf("dictionary-%d.txt", store.DictionaryNumber+1), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Whatever is packed is read as it was, and what is cut short says so.
func TestPack(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	for _, size := range []int{0, 1, 1023, 1024, 5000, 70_000, 3 << 20} {
		text := make([]byte, size)
		for i := range text {
			text[i] = "abcdefgh\x00\xff{}"[random.IntN(12)]
		}
		r := model.Request{Provider: "p", Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: string(text)}}}
		for _, request := range [][]byte{text, r.Canonical()} {
			plain, packed := store.Pack(request)
			if len(plain) > 0 && packed != nil || (packed == nil) != (len(request) < 1024) {
				t.Fatalf("seed %d, %d bytes: packed %v", seed, len(request), packed != nil)
			}
			if got, err := store.Unpack(append(plain, packed...)); err != nil || !bytes.Equal(got, request) {
				t.Errorf("seed %d, %d bytes: %v, read otherwise", seed, len(request), err)
			}
			if packed == nil {
				continue
			}
			if _, err := store.Unpack(packed[:len(packed)-1]); !errors.Is(err, store.ErrChanged) {
				t.Errorf("seed %d, %d bytes, cut short: %v", seed, len(request), err)
			}
		}
	}
}
