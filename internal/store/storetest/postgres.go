package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a server with a data directory of its own that listens on a loopback port.
type Server struct {
	bin, dir, port string
	credential     *syscall.Credential
	settings       []string
	process        *exec.Cmd
	databases      atomic.Int64
	used           time.Duration
}

// superuser is the name of the server's only user, who needs no password.
const superuser = "postgres"

// errMissing means that PostgreSQL is not installed.
var errMissing = errors.New("no PostgreSQL on this machine (Debian: apt-get install postgresql)")

// find gives the path of the server, empty for none. Debian keeps the programs of each
// version in a folder of its own, off the PATH.
func find() string {
	if path, err := exec.LookPath("postgres"); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is a good one
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// StartPostgres makes a server for a test and starts it, with settings as name=value beside its
// defaults and its data below a folder, the usual one for temporary files where that is
// empty. It ends with the test. Without PostgreSQL the test is skipped, or fails where
// ORBENCH_REQUIRE names postgres.
func StartPostgres(t testing.TB, dir string, settings ...string) *Server {
	t.Helper()
	s, err := start(dir, settings...)
	need(t, err)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start makes a server and starts it. stop ends it.
func start(dir string, settings ...string) (*Server, error) {
	program := find()
	if program == "" {
		return nil, errMissing
	}
	s := &Server{bin: filepath.Dir(program), settings: settings}
	var err error
	if s.dir, err = os.MkdirTemp(dir, "orbench-postgres-"); err != nil {
		return nil, err
	}
	if err := s.create(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// create makes the data directory and starts the server.
func (s *Server) create() error {
	if os.Getuid() == 0 {
		// The server refuses to run as root.
		other, err := user.Lookup(superuser)
		if err != nil {
			return err
		}
		uid, err := strconv.Atoi(other.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(other.Gid)
		if err != nil {
			return err
		}
		s.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.dir, uid, gid); err != nil {
			return err
		}
	}
	made := s.command("initdb", "--no-sync", "--no-instructions", "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "-D", s.data())
	if out, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		return err
	}
	return s.Restart()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command is a program of PostgreSQL, as the user that may run the server.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential}
	return c
}

// Restart starts the server where it does not run, and waits until it answers.
func (s *Server) Restart() error {
	args := []string{"-D", s.data(), "-p", s.port, "-h", "127.0.0.1", "-k", s.dir}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	s.process = s.command("postgres", args...)
	var log bytes.Buffer
	s.process.Stderr = &log
	if err := s.process.Start(); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		conn, err := pgx.Connect(ctx, s.Address(superuser))
		cancel()
		if err == nil {
			return conn.Close(context.Background())
		}
		if time.Since(began) > time.Minute {
			return errors.Join(fmt.Errorf("the server does not answer: %w: %s", err, log.String()), s.Kill(syscall.SIGQUIT))
		}
	}
}

// Kill sends the server a signal, such as SIGINT to end it in order or SIGQUIT to have it
// crash, and waits until it is gone.
func (s *Server) Kill(signal syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(signal); err != nil {
		return err
	}
	_ = s.process.Wait() // how it ended is what the signal asked for
	s.used += s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
	s.process = nil
	return nil
}

// Used is the processor time that the server has used until it was last killed, with its
// processes.
func (s *Server) Used() time.Duration { return s.used }

// stop ends the server and removes what it kept.
func (s *Server) stop() error {
	return errors.Join(s.Kill(syscall.SIGQUIT), os.RemoveAll(s.dir))
}

// Address is that of a database of the server.
func (s *Server) Address(database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%s/%s?sslmode=disable", superuser, s.port, database)
}

// Port is the port that the server listens on.
func (s *Server) Port() string { return s.port }

// Exec runs statements in a database.
func (s *Server) Exec(database, statements string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.Address(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statements)
	return errors.Join(err, conn.Close(ctx))
}

// Database makes an empty database and gives its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	address, err := s.newDatabase()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func (s *Server) newDatabase() (string, error) {
	name := fmt.Sprint("test", s.databases.Add(1))
	return s.Address(name), s.Exec(superuser, "CREATE DATABASE "+name)
}

var (
	shared      *Server
	errShared   error
	startShared sync.Once
)

// Tests are those of a binary, for its TestMain, with a folder of their own for indexes, and
// the end of the server that they share.
type Tests struct{ M *testing.M }

// Run runs the tests and gives the exit code.
func (t Tests) Run() int {
	dir, err := os.MkdirTemp("", "orbench-index-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("ORBENCH_INDEX", dir)
	code := t.M.Run()
	if shared != nil {
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
	}
	return code
}

// NewDatabase makes an empty database on a server that the tests of a binary share, which
// is not durable, and gives its address.
func NewDatabase() (string, error) {
	startShared.Do(func() { shared, errShared = start("", "fsync=off") })
	if errShared != nil {
		return "", errShared
	}
	return shared.newDatabase()
}

// Database is NewDatabase for a test, which is skipped without PostgreSQL as Start says.
func Database(t testing.TB) string {
	t.Helper()
	address, err := NewDatabase()
	need(t, err)
	return address
}

// Installed reports whether there is a server to start. Where ORBENCH_REQUIRE names
// postgres it says so too, for a test to fail that then does not find it.
func Installed() bool {
	return find() != "" || strings.Contains(os.Getenv("ORBENCH_REQUIRE"), "postgres")
}

// need ends a test that a server is missing for.
func need(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, errMissing) && !Installed():
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}
