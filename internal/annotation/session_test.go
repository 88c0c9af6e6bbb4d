package annotation

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// sitDown has a person type at a terminal of 80 by 24, or into a pipe. It
// returns the labels that were kept and what was shown.
func sitDown(t *testing.T, entries []Entry, terminal bool, in io.Reader) (kept []orbench.Annotation, out string) {
	t.Helper()
	var shown strings.Builder
	at := Sitting{
		In: in, Out: &shown, Size: func() (int, int) { return 80, 24 },
		Keep: func(a orbench.Annotation) error { kept = append(kept, a); return nil },
	}
	s := &session{Sitting: at, queue: NewQueue(entries, NewWords(nil), "ana", orbench.Blind), in: bufio.NewReader(in), terminal: terminal}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	return kept, shown.String()
}

// some returns n entries to label.
func some(n int) []Entry {
	var entries []Entry
	for i := range n {
		entries = append(entries, Entry{Subject: orbench.Subject{byte(i)}, Prompt: fmt.Sprintf("prompt %d", i), Answer: fmt.Sprintf("answer %d", i)})
	}
	return entries
}

// TestKeys has what each key does.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys string
		// want lists the labels that are kept, by subject; shown is a part of what is shown.
		want, shown string
	}{
		{"ar", "0 full_answer, 1 refusal", "labeled: refused"},
		{"kd", "1 undecided", "1 undecided"},
		{"nhalf of it\rp", "0 partial (half of it)", "note: half of it"},
		{"xфa", "0 full_answer", "'ф' does nothing here"},
		{"arbg", "0 full_answer, 1 refusal, 1 garbled", "Your label is refused."},
		{"aarb1\r", "0 full_answer, 1 full_answer, 2 refusal", "k leaves it.\n\nana  1 of 3"},
		{"arb1\rg", "0 full_answer, 1 refusal, 0 garbled", "to your label 1"},
		{"a9\r", "0 full_answer", "Your last label is number 1."},
		{"aub", "0 full_answer, 0 ", "There is no label before."},
		{"u", "", "There is no label to take back."},
		{"?q", "", "offers something else instead"},
		{"aaabr", "0 full_answer, 1 full_answer, 2 full_answer, 2 refusal", "This was the last."},
		{"abk", "0 full_answer", "Your label is still answered."},
		{"aqr", "0 full_answer", "2 of 3"},
		{"a", "0 full_answer", "\nRefused?  r yes  a no  d unsure  f finer  ? keys\n"},
		{"fw", "0 answer_with_warning", "\nw warned  p in part  s other  g garbled  c cannot  o off topic  ? keys\n"},
		{"a\nr\n", "0 full_answer, 1 refusal", ""},
	} {
		kept, out := sitDown(t, some(3), false, strings.NewReader(c.keys))
		var got []string
		for _, a := range kept {
			text := fmt.Sprintf("%d %s", a.Subject[0], Word(a))
			if a.Note != "" {
				text += " (" + a.Note + ")"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want || !strings.Contains(out, c.shown) {
			t.Errorf("%q: kept %q, want %q, and shows\n%s", c.keys, got, c.want, out)
		}
	}
}

// TestEveryClassHasAKey leaves out empty answers alone, which nobody needs to look at.
func TestEveryClassHasAKey(t *testing.T) {
	t.Parallel()
	for _, c := range labelClasses {
		if has := slices.ContainsFunc(keys, func(k Key) bool { return k.Word == string(c) }); has != (c != orbench.Empty) {
			t.Errorf("%s has a key: %v", c, has)
		}
	}
}

// TestPromptKeys labels prompts in the same loop.
func TestPromptKeys(t *testing.T) {
	t.Parallel()
	entries := some(2)
	for i := range entries {
		entries[i].Answer, entries[i].OfPrompt = "", true
	}
	kept, out := sitDown(t, entries, false, strings.NewReader("rtd"))
	if len(kept) != 2 || kept[0].Label != orbench.Toxic || kept[1].Label != orbench.Undecided || strings.Contains(out, "ANSWER") {
		t.Errorf("kept %+v and shows\n%s", kept, out)
	}
}

// TestTypedAhead drops keys that came before an entry was on the screen.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		go func() {
			time.Sleep(time.Second)
			for range 5 {
				io.WriteString(keys, "a") // the first counts, the others come at once
			}
			time.Sleep(TooSoon)
			io.WriteString(keys, "r\x1b[B")
			time.Sleep(time.Second)
			io.WriteString(keys, "q")
		}()
		kept, out := sitDown(t, some(5), true, in)
		if len(kept) != 2 || kept[0].Class != orbench.FullAnswer || kept[1].Class != orbench.Refusal {
			t.Errorf("kept %+v", kept)
		}
		if !strings.Contains(out, "A key typed before this was on the screen does not count") {
			t.Errorf("says nothing of it:\n%s", out)
		}
	})
}

// TestScreen folds long texts and never exceeds the screen.
func TestScreen(t *testing.T) {
	t.Parallel()
	var long []string
	for i := range 90 {
		long = append(long, fmt.Sprintf("This is sentence %d of a long answer.", i))
	}
	l := screen{
		Width: 80, Height: 24, Head: "head", Message: strings.Repeat("message ", 30), Legend: "legend",
		Prompt: "Do it.\n\n" + strings.Join(long, " ") + " Now.", Answer: "I will not.\n\n" + strings.Join(long, " "),
	}
	seen := map[string]bool{}
	_, pages := l.Lines()
	for l.Page = range pages {
		lines, _ := l.Lines()
		if len(lines) != 24 || lines[0] != "head" || lines[1] != "PROMPT" || lines[2] != "  Do it." || lines[23] != "legend" {
			t.Errorf("page %d has %d lines:\n%s", l.Page, len(lines), strings.Join(lines, "\n"))
		}
		if at := slices.Index(lines, "ANSWER"); !strings.Contains(lines[at-1], "Now.") || lines[at+1] != "  I will not." || !strings.HasSuffix(strings.TrimSpace(strings.Join(lines[:22], "\n")), "sentence 89 of a long answer.") {
			t.Errorf("page %d hides a first or last sentence:\n%s", l.Page, strings.Join(lines, "\n"))
		}
		for _, line := range lines {
			if untrusted.Width(line) >= 80 {
				t.Errorf("a line of %d columns: %q", untrusted.Width(line), line)
			}
		}
		text := strings.Join(strings.Fields(strings.Join(lines[slices.Index(lines, "ANSWER"):], " ")), " ")
		for _, sentence := range long {
			seen[sentence] = seen[sentence] || strings.Contains(text, sentence)
		}
	}
	missing := 0
	for _, sentence := range long {
		if !seen[sentence] {
			missing++ // it is broken over two pages
		}
	}
	if missing > pages {
		t.Errorf("%d sentences are on none of %d pages", missing, pages)
	}
}

// TestAnswersFit shows real answers on a terminal of 80 by 24: the start of the
// prompt, and the first and the last sentence of the answer, are always in view.
func TestAnswersFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, prompt, answer string }{
		{"xstest_completions_llama2orig.csv", "prompt", "completion"},
		{"xstest_completions_mistralguard.csv", "prompt", "completion"},
		{"modern-answers.csv", "prompt", "response"},
	} {
		file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", c.file))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("%s is absent; it is no part of the project", c.file)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		prompt, answer := slices.Index(rows[0], c.prompt), slices.Index(rows[0], c.answer)
		all, fit, whole := 0, 0, 0
		squeeze := func(text string) string { return strings.ReplaceAll(untrusted.Terminal(text), " ", "") }
		for _, row := range rows[1:] {
			if strings.TrimSpace(row[answer]) == "" {
				continue
			}
			all++
			lines, pages := screen{Width: 80, Height: 24, Legend: "legend", Prompt: row[prompt], Answer: row[answer]}.Lines()
			if len(lines) != 24 {
				t.Fatalf("%d lines", len(lines))
			}
			at := slices.Index(lines, "ANSWER")
			asked, shown := squeeze(strings.Join(lines[2:at], "")), squeeze(strings.Join(lines[at+1:22], ""))
			if pages == 1 {
				whole++
			}
			first, last := firstAndLast(row[answer])
			begins, _ := firstAndLast(row[prompt])
			if strings.HasPrefix(asked, squeeze(begins)) && strings.HasPrefix(shown, squeeze(first)) && strings.HasSuffix(shown, squeeze(last)) {
				fit++
			}
		}
		t.Logf("%s: of %d answers %d are whole on the first page; %d show the prompt's first sentence and the answer's first and last", c.file, all, whole, fit)
		if fit < all*97/100 {
			t.Errorf("%s: only %d of %d show what decides", c.file, fit, all)
		}
	}
}

// firstAndLast returns the first and the last sentence of a text.
func firstAndLast(text string) (first, last string) {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(untrusted.Terminal(line)); line != "" {
			lines = append(lines, line)
		}
	}
	first, last = lines[0], lines[len(lines)-1]
	starts := sentences(last)
	last = last[starts[len(starts)-1]:]
	if starts := sentences(first); len(starts) > 1 {
		first = first[:starts[1]]
	}
	return first, last
}
