//go:build linux || darwin

package sqlite

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/memo/memotest"
	"github.com/orbench/orbench/model"
)

// What a process held that was killed is free at once, and before its term is over only
// if it ran here.
func TestClaimOfAKilledProcess(t *testing.T) {
	t.Parallel()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	s := mustOpen(t, filepath.Join(t.TempDir(), "m.db"))
	if s.place == "" {
		t.Fatal("this machine has no name")
	}
	here, elsewhere := memotest.Record(1).Hash, memotest.Record(2).Hash
	until := time.Now().Add(time.Hour).UnixNano()
	for _, c := range []struct {
		owner, place string
		hash         model.Hash
	}{{"killed", s.place, here}, {"far", "another machine", elsewhere}} {
		_, err := s.write.Exec(`INSERT INTO claims (owner, number, place, pid, until, hashes) VALUES (?,1,?,?,?,?)`,
			c.owner, c.place, ended.Process.Pid, until, c.hash[:])
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Claim(t.Context(), []model.Hash{here, elsewhere}, time.Hour)
	if err != nil || got.ID == 0 || got.Taken[here] || !got.Taken[elsewhere] {
		t.Errorf("%+v, %v; want the call of the other machine taken alone", got, err)
	}
	// Answers are durable after a claim, which is not.
	var level int
	if err := s.write.QueryRow(`PRAGMA synchronous`).Scan(&level); err != nil || level != 2 {
		t.Errorf("synchronous is %d, %v; want 2, which is FULL", level, err)
	}
}
