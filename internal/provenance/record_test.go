package provenance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/provenance"
)

func TestCleanCommand(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"orbench eval --base-url openai=https://REDACTED@host/v1": {"orbench", "eval", "--base-url", "openai=https://me:hunter2@host/v1"},
		"orbench eval --base-url 'https://host/v1?key=REDACTED'":  {"orbench", "eval", "--base-url", "https://host/v1?key=hunter2"},
		"orbench eval --system 'a b' --max-tokens 8":              {"orbench", "eval", "--system", "a b", "--max-tokens", "8"},
		"orbench eval --name REDACTED":                            {"orbench", "eval", "--name", "sk-proj-abcdefghijklmnop"},
		"orbench eval --system 'say REDACTED'":                    {"orbench", "eval", "--system", "say my-own-key"},
		"orbench eval --system 'Bearer REDACTED'":                 {"orbench", "eval", "--system", "Bearer abc.def"},
		"orbench eval --dataset latest.csv,xs00000000.csv":        {"orbench", "eval", "--dataset", "latest.csv,xs00000000.csv"},
		"orbench eval --name my-own-keys --system a,REDACTED/x":   {"orbench", "eval", "--name", "my-own-keys", "--system", "a,my-own-key/x"},
		"orbench eval --name xREDACTEDx":                          {"orbench", "eval", "--name", "xabcd-efgh-ijkl-1x"},
	} {
		if got := provenance.CleanCommand(words, []string{"", "my-own-key", "test", "00000000", "abcd-efgh-ijkl-1"}); got != want {
			t.Errorf("%q became %s, want %s", words, got, want)
		}
	}
}

// A command that is repeated is one, and the date is that of the last paid call.
func TestHistory(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	command := func(line string, minute int) provenance.Command {
		return provenance.Command{Line: line, Version: "v1", Date: at(minute)}
	}
	var h provenance.History
	if !h.Date().IsZero() {
		t.Error("a run that nobody asked for has a date")
	}
	h.Start(command("eval", 1))
	h.Start(command("judge", 2))
	h.Start(command("eval", 3))
	want := []provenance.Command{command("eval", 1), command("judge", 2)}
	if d := cmp.Diff(want, h.Commands); d != "" || h.Date() != at(1) {
		t.Errorf("dated %v (-want +got):\n%s", h.Date(), d)
	}
	other := provenance.History{Commands: []provenance.Command{command("shard", 0), command("judge", 2)}, LastPaid: at(4)}
	both := h.And(other)
	if d := cmp.Diff([]provenance.Command{command("shard", 0), command("eval", 1), command("judge", 2)}, both.Commands); d != "" || both.LastPaid != at(4) {
		t.Errorf("two histories paid %v (-want +got):\n%s", both.LastPaid, d)
	}
	h.LastPaid = at(6)
	for i := range 30 {
		h.Start(command(strings.Repeat("x", i+1), 7))
	}
	if len(h.Commands) != 20 || h.Commands[19].Line != strings.Repeat("x", 30) || h.Date() != at(6) {
		t.Errorf("%d commands are kept, dated %v", len(h.Commands), h.Date())
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	var none *provenance.Record
	if none.Line() != "" || none.Spent() != "" || none.Sections() != nil || none.Warnings() != nil {
		t.Error("nothing is known, and something is said")
	}
	usd := 1.25
	r := &provenance.Record{Program: "v2", Runs: []provenance.Made{{
		Run: "main", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Settings: settings("seed of x=1", "seed of y=1", "max tokens of x=8", "max tokens of y=9", "framing of x=none", "dataset hash of d=ab"),
		Datasets: []provenance.Dataset{{Dataset: "d", SHA256: "ab"}},
		Judges:   []provenance.Judge{{Judge: "lexical", Version: "2", Was: "1"}},
		Cost:     provenance.Cost{Replies: 1200, InputTokens: 3, OutputTokens: 4, USD: &usd},
	}}}
	want := "orbench v2; run main of 2026-01-02 03:04:05 UTC; dataset d sha256 ab; judge lexical 2; seed: 1; max tokens: 8 (x); 9 (y); 1,200 replies, 3 input and 4 output tokens, $1.2500"
	if got := r.Line(); got != want {
		t.Errorf("the line is\n%s\nwant\n%s", got, want)
	}
	if w := r.Warnings(); len(w) != 1 || !strings.Contains(w[0], "lexical was version 1 when run main was made and is 2 now") {
		t.Errorf("warned %q", w)
	}
	r.Runs[0].Cost = provenance.Cost{Unpriced: []string{"p/m"}}
	if want := "The whole run: 0 replies, 0 input and 0 output tokens, price unknown, as there is none for p/m."; r.Spent() != want {
		t.Errorf("%q, want %q", r.Spent(), want)
	}
}

// What failed in each command is kept once, with its last sum, whatever store it was in.
func TestFailedCost(t *testing.T) {
	t.Parallel()
	usd := func(v float64) *float64 { return &v }
	at := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	var h, other provenance.History
	if n, _, sum := h.FailedCost(); n != 0 || sum != nil {
		t.Errorf("nothing failed: %d, %v", n, sum)
	}
	h.Fail(provenance.Failed{Began: at(1), Attempts: 2, USD: usd(0.5)})
	h.Fail(provenance.Failed{Began: at(1), Attempts: 3, USD: usd(0.75)})
	h.Fail(provenance.Failed{Began: at(1), Attempts: 1, USD: usd(0.25)}) // of an older look
	other.Fail(provenance.Failed{Began: at(1), Attempts: 2, USD: usd(0.5)})
	other.Fail(provenance.Failed{Began: at(2), Attempts: 4, CutOff: 3, USD: usd(1)})
	both := other.And(h)
	if n, cut, sum := both.FailedCost(); n != 7 || cut != 3 || sum == nil || *sum != 1.75 {
		t.Errorf("%d attempts, %d of them cut off, %v; want 7 and 3 for $1.75", n, cut, sum)
	}
	both.Fail(provenance.Failed{Began: at(3), Attempts: 1})
	if n, _, sum := both.FailedCost(); n != 8 || sum != nil {
		t.Errorf("%d attempts, %v; want 8 for an unknown sum", n, sum)
	}
}
