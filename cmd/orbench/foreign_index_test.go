package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	databasesql "database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/store"
)

// TestForeignIndex has commands read a store that came with an index, beside it and in the
// folder of pulled datasets: each prints what it prints without one, and changes no file.
func TestForeignIndex(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	w := workplace{t, from}
	for _, name := range []string{"strict", "relaxed"} {
		w.run("eval", "--target", "sim/"+name, "--dataset", "starter", "--limit", "30", "--name", name, "--store", "s.db")
	}
	own := w.at("own.db")
	w.copy(w.index(), own)
	check(t, os.RemoveAll(w.at("home")))
	w.run("eval", "--target", "sim/balanced", "--dataset", "starter", "--limit", "5", "--store", "bait/paid.db")
	others := w.index()
	query(t, w.at("bait/other.sqlite"), `CREATE TABLE work (text)`, `INSERT INTO work VALUES ('of many days')`)
	for _, arrival := range []struct {
		name string
		put  func(w workplace, at string)
	}{
		{"hostile", func(w workplace, at string) {
			query(w.t, at, `CREATE TABLE "z""; ATTACH 'bait/paid.db' AS b; DELETE FROM b.calls; --" (a)`, `CREATE TABLE z (a)`)
		}},
		{"forged", func(w workplace, at string) {
			w.copy(own, at)
			forge(w.t, at)
		}},
		{"linked", func(w workplace, at string) { check(w.t, os.Symlink(w.at("bait/other.sqlite"), at)) }},
		{"linked twice", func(w workplace, at string) { check(w.t, os.Link(w.at("bait/other.sqlite"), at)) }},
		{"of another store", func(w workplace, at string) { w.copy(others, at) }},
	} {
		for _, command := range []string{
			"report strict --format json", "report strict --methods", "report strict --out page", "compare strict relaxed",
			"judge strict --format json", "eval --target sim/strict --dataset starter --limit 30 --name strict --format json",
			"label draw strict --size 5", "report", "store check", "store export strict --out out.db",
			"serve",
		} {
			t.Run(arrival.name+"/"+command, func(t *testing.T) {
				t.Parallel()
				var outputs [2]string
				for i, put := range []func(workplace, string){func(workplace, string) {}, arrival.put} {
					w := workplace{t, t.TempDir()}
					for _, name := range []string{"s.db", "bait/paid.db", "bait/other.sqlite"} {
						w.copy(filepath.Join(from, name), w.at(name))
					}
					put(w, w.at("s.db.index"))
					check(t, os.MkdirAll(w.at("cache/index"), 0o700))
					put(w, filepath.Join(w.at("cache/index"), storeID(t, w.at("s.db"))+".index"))
					before := w.files()
					if command == "serve" {
						outputs[i] = w.served("/figures.json?study=strict")
					} else {
						outputs[i] = w.run(append(strings.Fields(command), "--store", "s.db")...)
					}
					after := w.files()
					for name := range after {
						if before[name] == "" {
							delete(after, name) // what the command was to make
						}
					}
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("files were changed:\n%s", diff)
					}
				}
				if diff := cmp.Diff(outputs[0], outputs[1]); diff != "" {
					t.Errorf("it prints other than without an index:\n%s", diff)
				}
			})
		}
	}
}

// workplace is a folder in which commands run, which is the home of their user too.
type workplace struct {
	t   *testing.T
	dir string
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w workplace) at(name string) string { return filepath.Join(w.dir, name) }

func (w workplace) command(args ...string) *exec.Cmd {
	c := exec.Command("orbench", args...)
	c.Dir, c.Env = w.dir, append(os.Environ(), "HOME="+w.at("home"), "XDG_CACHE_HOME=", "ORBENCH_INDEX=", "ORBENCH_CACHE="+w.at("cache"))
	return c
}

// run gives what a command prints.
func (w workplace) run(args ...string) string {
	w.t.Helper()
	check(w.t, os.MkdirAll(w.at("bait"), 0o700))
	c := w.command(args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		w.t.Fatalf("orbench %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out)
}

// served gives what a server of the store answers.
func (w workplace) served(path string) string {
	w.t.Helper()
	c := w.command("serve", "--addr", "127.0.0.1:0", "--store", "s.db")
	out, err := c.StdoutPipe()
	check(w.t, err)
	check(w.t, c.Start())
	defer func() { check(w.t, errors.Join(c.Process.Signal(os.Interrupt), ended(c.Wait()))) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	check(w.t, err)
	reply, err := http.Get(strings.TrimSuffix(strings.TrimSpace(line), "/") + path)
	check(w.t, err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	check(w.t, err)
	if reply.StatusCode != http.StatusOK {
		w.t.Errorf("%s: %s", path, reply.Status)
	}
	return string(body)
}

// ended is the error of a command that was interrupted, which is none.
func ended(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

func (w workplace) copy(from, to string) {
	w.t.Helper()
	content, err := os.ReadFile(from)
	check(w.t, err)
	check(w.t, os.MkdirAll(filepath.Dir(to), 0o700))
	check(w.t, os.WriteFile(to, content, 0o600))
}

// index is the one that the commands keep for their user.
func (w workplace) index() string {
	w.t.Helper()
	found, err := filepath.Glob(w.at("home/*/orbench/index/*/index.db"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("there is not one index, but %d: %v", len(found), err)
	}
	return found[0]
}

// files gives the content of each file, but for the store and what is the user's own.
func (w workplace) files() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	check(w.t, filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.dir, path)
		switch {
		case err != nil:
			return err
		case name == "home":
			return filepath.SkipDir
		case name == "s.db" || name == "s.db-wal" || name == "s.db-shm":
		case e.Type() == fs.ModeSymlink:
			all[name], err = os.Readlink(path)
		case e.Type().IsRegular():
			var content []byte
			content, err = os.ReadFile(path)
			all[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		return err
	}))
	return all
}

// query has a SQLite file do statements.
func query(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := databasesql.Open("sqlite", path)
	check(t, err)
	for _, s := range statements {
		_, err := db.Exec(s)
		check(t, err)
	}
	check(t, db.Close())
}

// storeID is the ID of a store.
func storeID(t *testing.T, path string) (id string) {
	t.Helper()
	db, err := databasesql.Open("sqlite", path)
	check(t, err)
	check(t, errors.Join(db.QueryRow(`SELECT id FROM identity`).Scan(&id), db.Close()))
	return id
}

// forge gives the runs of an index the figures of each other, with checksums that are right.
func forge(t *testing.T, path string) {
	t.Helper()
	db, err := databasesql.Open("sqlite", path)
	check(t, err)
	rows, err := db.Query(`SELECT key, lacking, failed, said, figures FROM figures ORDER BY rowid`)
	check(t, err)
	var kept [][5][]byte
	for rows.Next() {
		var k [5][]byte
		check(t, rows.Scan(&k[0], &k[1], &k[2], &k[3], &k[4]))
		kept = append(kept, k)
	}
	check(t, rows.Close())
	if len(kept) < 2 {
		t.Fatalf("the index has figures of %d runs", len(kept))
	}
	for i, k := range kept {
		forged := kept[(i+1)%len(kept)][4]
		_, err := db.Exec(`UPDATE figures SET figures = ?, sum = ? WHERE key = ?`, forged, store.Checksum(k[0], k[1], k[2], k[3], forged), k[0])
		check(t, err)
	}
	check(t, db.Close())
}
