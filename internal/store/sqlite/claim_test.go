//go:build linux || darwin

package sqlite

import (
	"database/sql/driver"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
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
	here, elsewhere := storetest.Record(1).Hash, storetest.Record(2).Hash
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
	got, err := s.Claim(t.Context(), []model.Hash{here, elsewhere}, time.Hour, 0)
	if err != nil || got.ID == 0 || got.Taken[here] || !got.Taken[elsewhere] {
		t.Errorf("%+v, %v; want the call of the other machine taken alone", got, err)
	}
	// Answers are durable after a claim, which is not.
	var level int
	if err := s.write.QueryRow(`PRAGMA synchronous`).Scan(&level); err != nil || level != 2 {
		t.Errorf("synchronous is %d, %v; want 2, which is FULL", level, err)
	}
}

// Calls that were found to be missing are not looked up again for a claim, unless somebody
// else has written since, or the connection that would know of it is another.
func TestClaimOfWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.db")
	s, other := mustOpen(t, path), mustOpen(t, path)
	var seen int64
	claim := func(n int, looksUp bool) {
		t.Helper()
		// A call that the handle itself has put, against the rule, shows whether it looks.
		put := storetest.Record(n)
		if err := s.Put(t.Context(), []store.Record{put}); err != nil {
			t.Fatal(err)
		}
		c, err := s.Claim(t.Context(), []model.Hash{put.Hash}, time.Hour, seen)
		if err != nil {
			t.Fatal(err)
		}
		if c.Answered[put.Hash] != looksUp {
			t.Errorf("call %d is looked up: %t, want %t", n, !looksUp, looksUp)
		}
		seen = c.Seen
	}
	claim(1, true)
	claim(2, false)
	claim(3, false)
	if err := other.Put(t.Context(), []store.Record{storetest.Record(4)}); err != nil {
		t.Fatal(err)
	}
	before := seen
	claim(5, true)
	claim(6, false)
	// What was seen before the other wrote is of no use after it either.
	seen = before
	claim(7, true)
	conn, err := s.write.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Raw(func(any) error { return driver.ErrBadConn }), conn.Close()); !errors.Is(err, driver.ErrBadConn) {
		t.Fatal(err)
	}
	claim(8, true)
	claim(9, false)
}
