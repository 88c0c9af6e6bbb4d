package index_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
)

// TestFigures shows runs of many kinds again, with all that they have in common: each by
// itself, and two together. What the index gives is what a walk gives.
func TestFigures(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	var runs []*run.Run
	for _, text := range []string{rich, plain, until} {
		r := p.open(text)
		p.fill(r, everything)
		runs = append(runs, r)
	}
	for _, r := range runs {
		p.wantWalk(r.Name+" at first", true, r)
		p.label(r, 20) // the rows are kept, and no walk takes place for labels
		p.wantWalk(r.Name+" with labels", false, r)
		p.wantWalk(r.Name+" again", false, p.find(r.Name))
	}
	// Beside another, targets have other names.
	p.wantWalk("two at first", true, runs[0], runs[2])
	p.wantWalk("two again", false, runs[0], runs[2])
	if !p.whole(runs[0]) {
		t.Error("a run that lacks nothing is not whole")
	}
	if len(p.said) > 0 {
		t.Error(p.said)
	}
}

// TestFiguresOfEval has a run that was just made and asked, as "orbench eval" has it, take
// the figures that a report of the stored run has kept, and the other way around.
func TestFiguresOfEval(t *testing.T) {
	t.Parallel()
	for _, text := range []string{plain, rich} {
		p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
		stored := p.open(text)
		p.fill(stored, everything)
		file, err := experiment.Parse("experiment.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		made, err := run.New(t.Context(), &file.Experiment, newClients(t), "")
		if err != nil {
			t.Fatal(err)
		}
		if p.whole(made) {
			t.Error("a run that was not kept is whole")
		}
		if err := made.Save(t.Context(), p.store, time.Now()); err != nil {
			t.Fatal(err)
		}
		if n, ok := made.KnownCalls(); !ok || len(n) == 0 {
			t.Errorf("%v calls are known beforehand, %v", n, ok)
		}
		p.wantWalk("made", true, made)
		p.wantWalk("stored", false, stored)
		if !p.whole(made) || !p.whole(stored) {
			t.Error("the run is not whole")
		}
		if text == plain {
			p.wantPlan(made)
		}
	}
}

// TestFiguresOfARunBeingFilled follows a run that others fill, beside one that is whole: that
// one is never walked again.
func TestFiguresOfARunBeingFilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	whole := p.open(plain)
	p.fill(whole, everything)
	p.wantWalk("whole, at first", true, whole)
	r := p.open(rich)
	for step, most := range []int{0, 100, 150} {
		if most > 0 {
			p.fill(r, most)
		}
		p.wantWalk("more calls", true, r)
		p.wantWalk("no more calls", false, r)
		p.wantWalk("whole", false, whole)
		if p.whole(r) {
			t.Error("a run is whole at step", step)
		}
	}
	lacking := p.lacking(r)
	fail := func(why string, message string, hash int) {
		t.Helper()
		if err := p.store.PutFailures(t.Context(), []store.Failure{{Hash: lacking[hash], Kind: "server", Message: message}}); err != nil {
			t.Fatal(err)
		}
		p.wantWalk(why, true, r)
		p.wantWalk(why+", again", false, r)
	}
	fail("a failure", "no room", 0)
	fail("another word for it", "no time", 0)
	fail("another failure", "no room", 1)
	p.fill(r, everything)
	p.wantWalk("failures became answers", true, r)
	p.wantWalk("whole at last", false, r)
	if !p.whole(r) {
		t.Error("the run is not whole")
	}
}

// TestFiguresAndLabels has words of people change the figures, of judges that were not
// asked before, and of a run that has got another target.
func TestFiguresAndLabels(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	r := p.open(plain)
	p.fill(r, everything)
	p.wantWalk("at first", true, r)
	p.label(r, 10)
	p.wantWalk("with labels", false, r)
	p.wantWalk("with the same labels", false, r)
	p.label(r, 20)
	p.wantWalk("with more labels", false, r)
	judged := p.open(strings.Replace(plain, "[lexical]", "[lexical, paper-keywords]", 1))
	p.wantWalk("another judge", true, judged)
	p.wantWalk("as it was", false, r)
	other := p.open(strings.NewReplacer("plain", "other", "relaxed", "prudish").Replace(plain))
	p.fill(other, everything)
	p.label(other, 10)
	p.wantWalk("labels of other answers", false, p.find("plain"))
	for prompt, err := range r.Datasets[0].Prompts() {
		said := orbench.Annotation{Subject: orbench.PromptSubject(prompt.Messages), By: "ana", Label: orbench.Toxic, At: time.Date(2026, time.May, 2, 0, 0, 0, 0, time.UTC)}
		if err := errors.Join(err, p.store.Annotate(t.Context(), []orbench.Annotation{said})); err != nil {
			t.Fatal(err)
		}
		break
	}
	p.wantWalk("a label of a prompt", true, p.find("plain")) // rows do not have the texts of prompts
	p.label(p.find("plain"), 30)
	p.wantWalk("more labels beside it", false, p.find("plain"))
	grown := p.open(strings.Replace(plain, "[sim/relaxed]", "[sim/relaxed, sim/strict]", 1))
	p.wantWalk("another target", true, grown)
	p.fill(grown, everything)
	p.wantWalk("another target, asked", true, grown)
	p.wantWalk("all again", false, p.find("plain"))
}

// TestStorePutBack shows a run of a store that was replaced by an older copy of itself, and
// has grown otherwise since, beyond where the index was made.
func TestStorePutBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "m.db")
	p := newPlace(t, path)
	r := p.open(plain)
	p.fill(r, 10)
	p.close()
	early, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p = newPlace(t, path)
	r = p.find("plain")
	p.fill(r, everything)
	p.wantWalk("whole", true, r)
	p.close()
	for _, grown := range []string{"no further", "elsewhere"} {
		if err := os.WriteFile(path, early, 0o600); err != nil {
			t.Fatal(err)
		}
		p = newPlace(t, path)
		if grown == "elsewhere" {
			other := p.open(rich)
			p.fill(other, 200)
		}
		r = p.find("plain")
		p.wantWalk("put back, grown "+grown, true, r)
		p.wantWalk("put back, again", false, r)
		p.fill(r, everything)
		p.wantWalk("filled again", true, r)
		p.close()
	}
	// An index of another store is not taken.
	content, err := os.ReadFile(p.index.Path())
	if err != nil {
		t.Fatal(err)
	}
	p = newPlace(t, filepath.Join(dir, "other.db"))
	p.index.Close()
	write(t, p.index.Path(), string(content))
	p.openIndex()
	if p.index == nil {
		t.Fatal("there is no index")
	}
	r = p.open(plain)
	p.wantWalk("another store", true, r)
}

// TestDamagedIndex damages the file in many places: figures stay what they are, and what is
// damaged is said or does not matter.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	p := newPlace(t, path)
	r := p.open(plain)
	p.fill(r, everything)
	p.wantWalk("at first", true, r)
	if err := p.index.Close(); err != nil {
		t.Fatal(err)
	}
	at := p.index.Path()
	content, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for from := 10; from < len(content); from += 331 {
		hurt := bytes.Clone(content)
		for i := from; i < min(from+40, len(hurt)); i++ {
			hurt[i] ^= 0x55
		}
		if err := os.RemoveAll(filepath.Dir(at)); err != nil {
			t.Fatal(err)
		}
		write(t, at, string(hurt))
		p.said = nil
		p.openIndex()
		p.figures(r)
		if len(p.said) > 0 {
			said++
		}
		if err := p.index.Close(); err != nil {
			t.Error(err)
		}
	}
	if said == 0 {
		t.Error("no damage was said")
	}
	write(t, at, "This is no database, and it was never one, whatever its name says.")
	p.said = nil
	p.openIndex()
	p.wantWalk("no database", true, r)
	p.wantWalk("made again", false, r)
	if len(p.said) != 1 || !strings.Contains(p.said[0], "is deleted: ") {
		t.Errorf("said %q", p.said)
	}
	p.index.Close()
	p.index = nil
	p.wantWalk("no index", true, r)
}

// TestTwoProcesses has one process read what another has kept, and go without where the
// other writes.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	p := newPlace(t, path)
	r := p.open(plain)
	p.fill(r, 20)
	other := newPlace(t, path)
	p.wantWalk("at first", true, r)
	other.wantWalk("kept by the other", false, other.find("plain"))
	other.fill(r, everything)
	other.wantWalk("more by the other", true, other.find("plain"))
	p.wantWalk("kept by the first", false, r)
	// The other is killed within a transaction, and waits in it until then.
	if !p.index.Hold(t, func() {
		q := other.find("plain")
		q.Accepted = []string{"another name"}
		other.wantWalk("beside a writer", true, q)
		other.wantWalk("what is kept beside a writer", false, other.find("plain"))
		if diff := cmp.Diff(other.items(nil, q), other.items(other.index, q)); diff != "" {
			t.Errorf("answers beside a writer (-walk +index):\n%s", diff)
		}
	}) {
		t.Fatal("the file was not held")
	}
	if len(other.said) != 2 || !strings.Contains(other.said[0], "another process is writing") || other.said[0] != other.said[1] {
		t.Errorf("said %q", other.said)
	}
	// Rows that one of them makes the other reads, until the first makes them anew.
	mine := p.study(r)
	theirs := other.study(other.find("plain"))
	if mine.Answers() != theirs.Answers() {
		t.Errorf("%d rows and %d", mine.Answers(), theirs.Answers())
	}
	if err := os.RemoveAll(filepath.Dir(p.index.Path())); err != nil {
		t.Fatal(err)
	}
	third := newPlace(t, path)
	third.wantWalk("thrown away", true, third.find("plain"))
}
