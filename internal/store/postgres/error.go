package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
)

// Codes of PostgreSQL's errors: https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	noDatabase      = "3D000"
	noTable         = "42P01"
	noSchema        = "3F000"
	notPermitted    = "42501"
	readOnly        = "25006"
	diskFull        = "53100"
	tooManyClients  = "53300"
	startingUp      = "57P03"
	shutDown        = "57P01"
	crashed         = "57P02"
	notSerializable = "40001"
	deadlock        = "40P01"
	lockTaken       = "55P03"
)

// code is that of the server's error in err, empty for none.
func code(err error) string {
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failed.Code
	}
	return ""
}

// passes reports whether an error may be over soon: the connection broke, or the server
// is starting, stopping, busy or full, or was at another transaction for long. What the server says otherwise is final.
func passes(err error) bool {
	switch c := code(err); {
	case c == startingUp, c == shutDown, c == crashed, c == tooManyClients, c == diskFull, yields(err), strings.HasPrefix(c, "08"):
		return true
	case c != "":
		return false
	}
	return !errors.As(err, new(*pgproto3.ExceededMaxBodyLenErr)) && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, orbench.ErrInput) && !errors.Is(err, pgx.ErrNoRows)
}

// Away reports whether an error means that the server was not there, or not able to answer,
// for now. Unlike passes it holds only for errors that are known to be the server's or the
// network's.
func Away(err error) bool {
	if code(err) != "" {
		return passes(err)
	}
	return errors.As(err, new(*pgconn.ConnectError)) || errors.As(err, new(net.Error)) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || pgconn.SafeToRetry(err)
}

const (
	// patience is how long what failed in passing is done again.
	patience = 2 * time.Minute
	// attemptTime is when an attempt is taken to hang, as on a network that is cut.
	attemptTime = 30 * time.Second
)

// again does something that can be repeated until it succeeds, fails for good, or
// patience is over.
func (s *Store) again(ctx context.Context, do func(ctx context.Context) error) error {
	began, pause := time.Now(), 20*time.Millisecond
	for {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		err := do(attempt)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", s.shown, context.Cause(ctx))
		case s.closed.Load() || !passes(err) || time.Since(began) > patience:
			return s.at(err)
		case pause > time.Second && s.told.CompareAndSwap(false, true):
			log.Printf("%v; orbench tries again for %v", s.at(err), patience)
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		case <-ctx.Done():
		}
	}
}

// at says which store an error is about, and what can be done.
func (s *Store) at(err error) error {
	input := func(problem, hint string, also error) error {
		return &orbench.InputError{File: s.shown, Problem: problem, Hint: hint, Err: errors.Join(also, err)}
	}
	reason := func() string {
		if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
			return failed.Message
		}
		return err.Error()
	}
	switch c := code(err); {
	case err == nil, errors.Is(err, orbench.ErrInput):
		return err
	case errors.Is(err, store.ErrDamaged):
		return input("the store is damaged: "+err.Error(), "see what is damaged with orbench store check, and restore it from a backup (pg_restore)", nil)
	case strings.HasPrefix(c, "XX00"):
		return input("the database is damaged: "+reason(), "see what is damaged with pg_amcheck, and restore it from a backup (pg_restore)", store.ErrDamaged)
	case c == noDatabase:
		return input("there is no such database", "make it with createdb, or name another with `store`", store.ErrNoStore)
	case strings.HasPrefix(c, "28"):
		return input("the server does not let "+s.user+" in: "+reason(), "give the password in PGPASSWORD or ~/.pgpass, or another user in the address", nil)
	case c == notPermitted, c == readOnly:
		return input("the store cannot be written to: "+reason(),
			"have its owner grant "+s.user+" what is lacking, such as CREATE on the database, or name another with `store`", store.ErrReadOnly)
	case c == noTable, c == noSchema:
		return input("its tables are gone: "+reason(), "restore them from a backup (pg_restore), or name another with `store`", store.ErrGone)
	case c == diskFull:
		return input("the disk of the server is full", "make room there, and run the same command again", nil)
	case c == tooManyClients, c == startingUp:
		return input("the server takes no more connections: "+reason(), "try again later, or raise its max_connections", nil)
	}
	if large, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok {
		return input(fmt.Sprintf("a row of %d MB is larger than the %d MB that are read", large.ActualBodyLen>>20, store.MaxValue>>20),
			fmt.Sprintf("find it by octet_length, as with SELECT id FROM calls WHERE octet_length(response) > %d", store.MaxValue), nil)
	}
	if connecting, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		// The last line says what went wrong with the address that was tried last.
		lines := strings.Split(strings.TrimSpace(connecting.Unwrap().Error()), "\n")
		return input("no Postgres server answers there: "+strings.TrimSpace(lines[len(lines)-1]), "start it, or correct the address in `store`", nil)
	}
	return fmt.Errorf("%s: %w", s.shown, err)
}
