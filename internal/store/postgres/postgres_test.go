package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Tests{M: m}) }

func mustOpen(t testing.TB, address string) *Store {
	t.Helper()
	s, err := Open(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// execute runs statements on a connection of their own.
func execute(t *testing.T, address, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	mustOpen(t, address)
	execute(t, address, `CREATE SCHEMA newer; CREATE TABLE newer.schema_version AS SELECT 99 AS version;
		CREATE SCHEMA other; CREATE TABLE other.users (id INT);
		CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA orbench TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA orbench TO reader`)
	database := address[strings.LastIndex(address, "/")+1 : strings.Index(address, "?")]
	server := address[:strings.LastIndex(address, "/")]
	for name, c := range map[string]struct {
		address, want string
		cause         error
	}{
		"a newer schema":   {address + "&search_path=newer", "newer orbench", nil},
		"another program":  {address + "&search_path=other", "another program", nil},
		"two schemas":      {address + "&search_path=a,b", "one schema", nil},
		"no database":      {server + "/none?sslmode=disable", "no such database", store.ErrNoStore},
		"no server":        {"postgres://u:hidden-9@127.0.0.1:1/d", "no Postgres server answers", nil},
		"no user":          {strings.Replace(address, "postgres@", "nobody:hidden-9@", 1), "does not let nobody in", nil},
		"not the address":  {"postgres://u:hidden-9@[/d", "not the address", nil},
		"may make nothing": {strings.Replace(address, "postgres@", "reader:hidden-9@", 1) + "&search_path=third", "cannot be written to", store.ErrReadOnly},
	} {
		s, err := Open(t.Context(), c.address)
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), c.want) || c.cause != nil && !errors.Is(err, c.cause) {
			t.Errorf("%s: %v; want an input error with %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: the password is in the error: %v", name, err)
		}
		if err == nil {
			s.Close()
		}
	}
	if _, err := OpenExisting(t.Context(), address+"&search_path=third"); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("a schema without a store: %v", err)
	}
	// Who may only read can read, and is told when writing.
	reader := mustOpen(t, strings.Replace(address, "postgres@", "reader@", 1))
	if _, err := reader.Runs(t.Context()); err != nil {
		t.Errorf("reading %s: %v", database, err)
	}
	if err := reader.Put(t.Context(), []store.Record{storetest.Record(1)}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("writing without the right to: %v", err)
	}
}

// A store of the first schema is brought up to date.
func TestOlderStore(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	first, err := schemaFiles.ReadFile(migrations[0])
	if err != nil {
		t.Fatal(err)
	}
	execute(t, address, `CREATE SCHEMA orbench; SET search_path = orbench; `+string(first)+`INSERT INTO schema_version VALUES (1)`)
	s := mustOpen(t, address)
	if c, err := s.Claim(t.Context(), []model.Hash{storetest.Record(1).Hash}, time.Hour, 0); err != nil || c.ID == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if version, err := s.version(t.Context(), s.pool); err != nil || version != len(migrations) {
		t.Errorf("version %d, %v; want %d", version, err, len(migrations))
	}
}

// What a process held that was killed is free at once, and before its term is over only
// if it ran here.
func TestClaimOfAKilledProcess(t *testing.T) {
	t.Parallel()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	address := storetest.Database(t)
	s := mustOpen(t, address)
	if s.place == "" {
		t.Skip("this machine has no name")
	}
	here, elsewhere, free := storetest.Record(1).Hash, storetest.Record(2).Hash, storetest.Record(3).Hash
	for _, c := range []struct {
		owner, place string
		hash         model.Hash
	}{{"killed", s.place, here}, {"far", "another machine", elsewhere}} {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO claims (owner, number, until, hashes, place, pid) VALUES ($1, 1, now() + interval '1 hour', $2, $3, $4)`,
			c.owner, [][]byte{c.hash[:]}, c.place, ended.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Claim(t.Context(), []model.Hash{here, elsewhere, free}, time.Hour, 0)
	if err != nil || got.ID == 0 || got.Taken[here] || got.Taken[free] || !got.Taken[elsewhere] {
		t.Errorf("%+v, %v; want the call of the other machine taken alone", got, err)
	}
	if held, err := s.Renew(t.Context(), time.Hour); err != nil || !slices.Equal(held, []int64{got.ID}) {
		t.Errorf("held %v, %v; want %d alone", held, err, got.ID)
	}
}

// TestOpenAtOnce has several make one store at the same time, as processes that start
// together do.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	var opening errgroup.Group
	for range 8 {
		opening.Go(func() error {
			s, err := Open(context.Background(), address)
			if err != nil {
				return err
			}
			return s.Close()
		})
	}
	if err := opening.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Every kind of row that was changed is noticed where it is read, and by a check.
func TestDamage(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	s := mustOpen(t, address)
	about := []byte(`{"a":1}`)
	out := storetest.Record(9)
	err := errors.Join(
		s.Put(t.Context(), []store.Record{storetest.Record(1), storetest.Record(2)}),
		s.PutFailures(t.Context(), []store.Failure{{Hash: storetest.Record(3).Hash, Kind: model.Timeout, Message: "late \x00"}}),
		s.PutDataset(t.Context(), about, func(yield func(orbench.Prompt, error) bool) { yield(orbench.NewPrompt("How?", "", orbench.Safe), nil) }),
		s.SaveRun(t.Context(), store.Run{Name: "r", Config: []byte("{}"), Datasets: []store.Key{store.KeyOf(about)}}),
		s.Annotate(t.Context(), []orbench.Annotation{{Subject: orbench.Subject{1}, Class: orbench.Refusal, By: "ana", At: time.Unix(1, 0).UTC()}}),
		s.PutBatch(t.Context(), store.Batch{ID: store.BatchID{1}, About: []byte("{}"), Open: true}, []store.BatchCall{{Hash: out.Hash, Request: out.Request}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := s.Check(t.Context())
	if err != nil || !sound.Sound() || len(sound.Kinds) != 8 {
		t.Fatalf("%+v, %v; want all kinds sound", sound, err)
	}
	read := map[string]func() error{
		"calls": func() error {
			_, err := s.Get(t.Context(), []model.Hash{storetest.Record(1).Hash})
			for _, all := range s.AllRecords(t.Context()) {
				if !errors.Is(all, store.ErrDamaged) {
					return nil
				}
				break
			}
			return err
		},
		"failures":    func() error { _, err := s.AllFailures(t.Context()); return err },
		"datasets":    func() error { _, err := s.Dataset(t.Context(), store.KeyOf(about)); return err },
		"runs":        func() error { _, err := s.Run(t.Context(), "r"); return err },
		"annotations": func() error { _, err := s.Annotations(t.Context()); return err },
		"batches":     func() error { _, err := s.Batches(t.Context()); return err },
		"calls out in batches": func() error {
			_, err := s.BatchCalls(t.Context(), store.BatchID{1}, []model.Hash{out.Hash})
			return err
		},
		"pieces of prompts": func() (err error) {
			for _, err = range s.Prompts(t.Context(), store.KeyOf(about)) {
			}
			return err
		},
	}
	for _, c := range []struct{ kind, table, column string }{
		{"pieces of prompts", "pieces", "prompts"},
		{"calls", "calls", "response"},
		{"failures", "failures", "message"},
		{"datasets", "datasets", "about"},
		{"runs", "runs", "made"},
		{"annotations", "annotations", "annotation"},
		{"batches", "batches", "about"},
		{"calls out in batches", "batch_calls", "request"},
	} {
		change := func(sign string) {
			if c.column == "made" { // it is empty
				execute(t, address, `UPDATE orbench.runs SET saved = saved `+sign+` 1`)
				return
			}
			execute(t, address, fmt.Sprintf(`UPDATE orbench.%s SET %s = set_byte(%[2]s, 0, get_byte(%[2]s, 0) %s 1)`, c.table, c.column, sign))
		}
		change("+")
		if err := read[c.kind](); !errors.Is(err, store.ErrDamaged) || !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%s: %v; want damage", c.kind, err)
		}
		h, err := s.Check(t.Context())
		i := slices.IndexFunc(h.Kinds, func(k store.KindHealth) bool { return k.Kind == c.kind })
		if err != nil || h.Sound() || i < 0 || h.Kinds[i].Lost == 0 {
			t.Errorf("%s: checked %+v, %v; want it lost", c.kind, h, err)
		}
		change("-")
	}
	execute(t, address, `DELETE FROM orbench.pieces; DELETE FROM orbench.datasets WHERE false`)
	if h, err := s.Check(t.Context()); err != nil || h.Sound() {
		t.Errorf("a piece is lacking: %+v, %v", h, err)
	}
	execute(t, address, `UPDATE orbench.calls SET response = convert_to(repeat('x', 210000000), 'UTF8') WHERE id = 1`)
	if _, err := s.Get(t.Context(), []model.Hash{storetest.Record(1).Hash}); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "a row of 200 MB is larger than the 192 MB that are read") {
		t.Errorf("a large row: %v", err)
	}
	execute(t, address, `DROP SCHEMA orbench CASCADE`)
	if _, err := s.Count(t.Context()); !errors.Is(err, store.ErrGone) {
		t.Errorf("the tables are gone: %v", err)
	}
}

// A server that crashes and starts again loses nothing that was remembered, and whoever
// remembers meanwhile waits for it. Claims go on.
func TestServerCrashes(t *testing.T) {
	t.Parallel()
	// Its default for commits is one that loses them.
	server := storetest.StartPostgres(t, "", "synchronous_commit=off")
	address := server.Database(t)
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Notes()) > 0 {
		t.Errorf("notes of a durable server: %q", s.Notes())
	}
	m := store.New(s)
	claimed := storetest.Record(-1).Hash
	if c, err := m.Claim(t.Context(), []model.Hash{claimed}, time.Hour, 0); err != nil || c.ID == 0 {
		t.Fatal(c, err)
	}
	const writers, each, crashes = 8, 60, 1
	var mu sync.Mutex
	var done int
	grown := sync.NewCond(&mu)
	var writing errgroup.Group
	for w := range writers {
		writing.Go(func() error {
			for i := range each {
				if err := m.Remember(storetest.Record(w*each + i)); err != nil {
					return err
				}
				mu.Lock()
				done++
				grown.Broadcast()
				mu.Unlock()
			}
			return nil
		})
	}
	for crash := range crashes {
		mu.Lock()
		for done < (crash+1)*writers*each/(crashes+1) {
			grown.Wait()
		}
		mu.Unlock()
		if err := server.Kill(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	if err := writing.Wait(); err != nil {
		t.Error(err)
	}
	if n, err := m.Count(t.Context()); err != nil || n != writers*each {
		t.Errorf("%d rows, %v; want %d", n, err, writers*each)
	}
	if _, err := m.Renew(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
