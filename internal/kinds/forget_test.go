package kinds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/provider"
	runs "github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/model"
)

// planted is how many users said something that must be forgotten.
const planted = 40

// secret is what a user said that nobody else did.
func secret(n int) string { return fmt.Sprintf("planted%02dvalue", n) }

func TestMain(m *testing.M) { os.Exit(storetest.Tests{M: m}.Run()) }

// ofUsers fills a store with the judged log of users, of whom those below planted were there
// long ago. Everything that a store keeps of a text has the users' secrets.
func ofUsers(t *testing.T, m *store.Store) {
	t.Helper()
	ctx := t.Context()
	var log strings.Builder
	log.WriteString("user_id,timestamp,prompt,response,topic\n")
	for n := range 2 * planted {
		when := "2020-01-02T03:04:05Z"
		if n >= planted {
			when = "2035-01-02T03:04:05Z"
		}
		// A short one, one in the answer alone, and a fixed answer of all.
		fmt.Fprintf(&log, "%s,%s,My code is %s and I forgot it.,Sorry that does not work.,%s\n", secret(n), when, secret(n), secret(n))
		fmt.Fprintf(&log, "%s,%s,%s,Thanks,all\n", secret(n), when, secret(n))
		fmt.Fprintf(&log, "%s,%s,What is my code?,<think>I know %s.</think>Your code is %s.,all\n", secret(n), when, secret(n), secret(n))
	}
	path := filepath.Join(t.TempDir(), "chat.csv")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	x := experiment.Default()
	x.Name, x.Targets = "chat", []experiment.Target{{Target: "replay:" + path}}
	x.Datasets = []experiment.Dataset{{Dataset: "replay:" + path, Unlabeled: true}}
	clients, err := client.NewSet(client.Options{Providers: provider.Default(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	judged, err := runs.New(ctx, &x, clients, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := judged.Study.Save(ctx, m, time.Now()); err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	var failures []store.Failure
	var labels []orbench.Annotation
	put := func(content, reply string) model.Hash {
		r := model.Request{Provider: "test", Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: content}}}
		canonical := r.Canonical()
		rec := store.Record{Hash: model.HashCanonical(canonical), Request: canonical, Response: model.Response{Text: reply, Finish: model.Stop}}
		if reply != "" {
			records = append(records, rec)
		}
		return rec.Hash
	}
	for p, err := range judged.Datasets[0].Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Answers {
			_, said, _ := strings.Cut(a.Text, "</think>")
			if said == "" {
				said = a.Text
			}
			put("Judge this.\n<<1 OPENS>>\n"+p.Text()+"\n<<1 CLOSES>>\n<<1 REPLY>>\n"+said+"\n<<1 CLOSES>>", "It says: "+p.Text()+" "+said)
		}
	}
	for n := range 2 * planted {
		content := "My code is " + secret(n) + " and I forgot it."
		failures = append(failures, store.Failure{Hash: put("unanswered "+content, ""), Kind: model.Invalid, Message: "not answered: " + content})
		labels = append(labels, orbench.Annotation{
			Subject: orbench.AnswerSubject([]orbench.Message{{Role: orbench.User, Content: content}}, "Sorry that does not work."),
			Class:   orbench.Refusal, By: "ana", Note: "of " + secret(n), At: time.Unix(9, 0).UTC(),
		})
	}
	if err := errors.Join(m.Put(ctx, records), m.PutFailures(ctx, failures), m.Annotate(ctx, labels)); err != nil {
		t.Fatal(err)
	}
}

// holds lists the users whose secrets are in any file of some folders.
func holds(t *testing.T, users int, dirs ...string) (found []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // a database may delete files meanwhile
			}
			if strings.Contains(path, "pg_wal") {
				return nil // the server's own, as the command says
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil //nolint:nilerr // the same
			}
			for n := range users {
				if bytes.Contains(text, []byte(secret(n))) {
					found = append(found, fmt.Sprint(secret(n), " in ", path))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// isForgotten checks that a store has nothing of the users that are to be forgotten, all of
// the others, and figures that say so.
func isForgotten(t *testing.T, m *store.Store) {
	t.Helper()
	c := contentOf(t, m)
	if len(c.Records) != 3*planted || len(c.Failures) != planted || len(c.Annotations) != planted {
		t.Errorf("%d calls, %d failures and %d labels are left, want %d, %d and %d", len(c.Records), len(c.Failures), len(c.Annotations), 3*planted, planted, planted)
	}
	of, err := study.Find(t.Context(), m, "chat")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := kinds.Open(t.Context(), m, of, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := opened.Run.Derive(t.Context(), m, nil)
	if err != nil || r.Runs[0].Answered != 3*planted || r.Runs[0].Forgotten != 3*planted {
		t.Errorf("%+v, %v; want %d answers and %d forgotten", r.Runs, err, 3*planted, 3*planted)
	}
	if n := len(c.Datasets); n != 1 {
		t.Errorf("%d datasets, want 1", n)
	}
}

// forget takes something out of a store as orbench store forget does.
func forget(ctx context.Context, m *store.Store, what kinds.Forget) (kinds.Forget, error) {
	do, err := what.Find(ctx, m)
	if err == nil {
		err = do()
	}
	if err == nil {
		err = m.Vacuum(ctx)
	}
	return what, err
}

// age forgets those who were there long ago.
var age = kinds.Forget{Before: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}

func TestForgetOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, at := range map[string]func() string{
		"SQLite": func() string { return filepath.Join(dir, "m.db") },
		"Postgres": func() string {
			if os.Getenv("ORBENCH_LONG") == "" {
				return storetest.Database(t)
			}
			// The tables of a server of its own are searched too. It may run as another user.
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			return storetest.StartPostgres(t, dir).Database(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := address.Open(t.Context(), at())
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			ofUsers(t, m)
			if name == "SQLite" && len(holds(t, planted, dir)) < planted {
				t.Fatal("the search finds nothing before it is forgotten")
			}
			done, err := forget(t.Context(), m, age)
			if err != nil {
				t.Fatal(err)
			}
			if done.Texts != 3*planted || done.Calls != 4*planted || done.Annotations != planted || done.Unknown != 0 {
				t.Errorf("%+v", done)
			}
			isForgotten(t, m)
			if found := holds(t, planted, dir); found != nil {
				t.Error(found)
			}
			// What a user said goes by the name, which the store does not have.
			done, err = forget(t.Context(), m, kinds.Forget{User: secret(planted)})
			if err != nil || done.Texts != 3 || done.Calls != 4 {
				t.Errorf("%+v, %v", done, err)
			}
			if done, err := forget(t.Context(), m, age); err != nil || done.Texts != 0 {
				t.Errorf("again: %+v, %v", done, err)
			}
			// Nothing is left of all answers.
			all := kinds.Forget{Before: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)}
			if done, err := forget(t.Context(), m, all); err != nil || done.Texts != 3*planted-3 {
				t.Errorf("all: %+v, %v", done, err)
			}
		})
	}
	if found := holds(t, 2*planted, dir); found != nil {
		t.Error(found)
	}
}

// TestForgetKilled kills a command that forgets at random moments. Run again, it finishes.
func TestForgetKilled(t *testing.T) {
	if at := os.Getenv("FORGET_IN"); at != "" {
		m, err := address.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("open")
		if _, err := forget(t.Context(), m, age); err != nil {
			t.Fatal(err)
		}
		fmt.Println("done")
		os.Exit(0) // and not closed
	}
	t.Parallel()
	times := 3
	if os.Getenv("ORBENCH_LONG") != "" {
		times = 60
	}
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for range times {
		dir := t.TempDir()
		at := filepath.Join(dir, "m.db")
		m, err := address.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		ofUsers(t, m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		run := func(most time.Duration) (done bool) {
			c := exec.Command(os.Args[0], "-test.run=^TestForgetKilled$")
			c.Env = append(os.Environ(), "FORGET_IN="+at)
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			for b := make([]byte, 100); !bytes.Contains(said.Bytes(), []byte("open")); {
				n, err := out.Read(b)
				if said.Write(b[:n]); err != nil {
					t.Fatal(err, said.String())
				}
			}
			if most > 0 {
				time.Sleep(most)
				c.Process.Kill() //nolint:errcheck // it may have ended
			}
			said.ReadFrom(out) //nolint:errcheck // it may have been killed
			c.Wait()           //nolint:errcheck // the same
			return bytes.Contains(said.Bytes(), []byte("done"))
		}
		if !run(time.Duration(1 + random.IntN(60_000_000))) {
			killed++
		}
		if !run(0) {
			t.Fatal("it did not finish")
		}
		if found := holds(t, planted, dir); found != nil {
			t.Error(found)
		}
		if m, err = address.Open(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		isForgotten(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of %d were killed", killed, times)
}
