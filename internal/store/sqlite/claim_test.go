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

// What a process held that was killed is free at once if it ran here, and elsewhere once its
// number has stood still for a term.
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
	time.Sleep(time.Millisecond)
	if got, err := s.Claim(t.Context(), []model.Hash{elsewhere}, time.Millisecond, 0); err != nil || got.Taken[elsewhere] {
		t.Errorf("%+v, %v; want what stood still", got, err)
	}
	// Answers are durable after a claim, which is not.
	var level int
	if err := s.write.QueryRow(`PRAGMA synchronous`).Scan(&level); err != nil || level != 2 {
		t.Errorf("synchronous is %d, %v; want 2, which is FULL", level, err)
	}
}

// Whatever the clocks of two machines say, a claim is its holder's for as long as that renews it, and
// another's once it has stood still for a term. The same holds for shares.
func TestClaimClocks(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{45 * time.Second, -45 * time.Second, time.Hour, -1000 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "m.db")
			s, other := mustOpen(t, path), mustOpen(t, path)
			shift := by
			s.now = func() time.Time { return time.Now().Add(shift) }
			hashes := []model.Hash{storetest.Record(1).Hash}
			const term = 200 * time.Millisecond
			taken := func() bool {
				c, err := other.Claim(t.Context(), hashes, term, 0)
				if err != nil {
					t.Fatal(err)
				}
				return c.Taken[hashes[0]]
			}
			live := func(of *Store, put ...store.Share) (is bool) {
				err := of.ChangeShares(t.Context(), "study", term, func(all []store.Share) ([]store.Share, []string) {
					is = len(all) > 0 && all[0].Live
					return put, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return is
			}
			share := store.Share{ID: "one", Live: true}
			mine, err := s.Claim(t.Context(), hashes, term, 0)
			if err != nil || mine.ID == 0 {
				t.Fatal(mine, err)
			}
			live(s, share)
			for began := time.Now(); time.Since(began) < 3*term; time.Sleep(term / 20) {
				shift -= time.Second // the clock is set back again and again
				if held, err := s.Renew(t.Context(), term); err != nil || len(held) != 1 {
					t.Fatalf("it holds %v, %v", held, err)
				}
				live(s, share)
				if !taken() || !live(other) {
					t.Fatal("what is renewed is taken for over")
				}
			}
			stood := time.Now()
			for (taken() || live(other)) && time.Since(stood) < 10*term {
				time.Sleep(term / 20)
			}
			if took := time.Since(stood); took < term/2 || took > 5*term {
				t.Errorf("it was over after %v, want about %v", took, term)
			}
			if held, err := s.Renew(t.Context(), term); err != nil || len(held) != 0 {
				t.Errorf("it still holds %v, %v", held, err)
			}
		})
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
