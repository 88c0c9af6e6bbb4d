package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// damaged is the error for a store that the database cannot read.
func damaged(path string, err error) error {
	return &orbench.InputError{
		File: path, Problem: "the store is damaged: " + err.Error(),
		Hint: "see what is lost with orbench store check, and save the rest with orbench store repair", Err: errors.Join(store.ErrDamaged, err),
	}
}

// Check reads all of the store at path and tells what is damaged. Where save is not
// empty, it copies what is good to a new store there. Nothing is written to path. A file
// in which nothing of a store is found is an *orbench.InputError.
//
// The file is read page by page, whatever SQLite makes of it, and a row counts by its own
// checksum and hash. So a damaged page costs what lies on it, and nothing that it leads
// to.
func Check(ctx context.Context, path, save string) (h store.Health, err error) {
	c := newChecker(path)
	release, err := c.structure(ctx)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, release()) }()
	file, err := OpenPages(path)
	if err != nil {
		return h, &orbench.InputError{File: path, Problem: "cannot be read: " + err.Error(), Hint: "name another file with `store`", Err: err}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c.faults = append(file.Faults, c.faults...)
	if save == "" {
		err := c.read(ctx, file, func([]row) error { return nil })
		if err != nil {
			return h, err
		}
		return c.health(ctx, file)
	}
	saved, err := create(ctx, save)
	if err != nil {
		return h, err
	}
	err = c.read(ctx, file, func(rows []row) error { return saved.add(ctx, rows) })
	if err == nil {
		h, err = c.health(ctx, file)
	}
	if err = errors.Join(err, saved.write.Close()); err == nil {
		err = flush(save)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(save))
	}
	return h, err
}

// create makes a new store.
func create(ctx context.Context, path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot make the file: " + err.Error(), Hint: "name a new one", Err: err}
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path}
	// Until it is whole the file is nobody's store: it reaches the disk once, at the end.
	if s.write, err = open(abs, "&_txlock=immediate&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)", 1); err != nil {
		return nil, err
	}
	for from := range migrations {
		if err := s.migrate(ctx, from); err != nil {
			return nil, errors.Join(s.at(err), s.write.Close(), os.Remove(path))
		}
	}
	return s, nil
}

// add adds rows, each once.
func (s *Store) add(ctx context.Context, rows []row) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, r := range rows {
			const add = `INSERT OR IGNORE INTO %s (%s%s) VALUES (%s?%s)`
			more := strings.Repeat(",?", len(r.columns)-1)
			done, err := tx.ExecContext(ctx, fmt.Sprintf(add, r.table, "rowid, ", r.kind.columns, "?,", more), append([]any{r.number}, r.columns...)...)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n > 0 {
				continue
			}
			// Another has its number, which then is damaged.
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(add, r.table, "", r.kind.columns, "", more), r.columns...); err != nil {
				return err
			}
		}
		return nil
	})
}

// flush has a file reach the disk.
func flush(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// checker checks a store.
type checker struct {
	path   string
	faults []string
	// good has the names of the rows of each table that are in order, and numbers theirs.
	good    map[string]map[string]bool
	numbers map[string]map[int64]bool
	// damaged counts the rows of each table that are not, and asked has the requests of
	// such calls by their hash.
	damaged map[string]int
	asked   map[string]string
	// unchecked counts good rows without a checksum by their table.
	unchecked map[string]int
	// datasets and runs rest on other rows. Of the versions of a run, which alone are
	// changed, the one saved last counts.
	datasets, runs map[string]row
	// lost has the names of the rows of each table that are lost.
	lost map[string]map[string]bool
}

func newChecker(path string) *checker {
	c := &checker{
		path: path, good: map[string]map[string]bool{}, lost: map[string]map[string]bool{}, damaged: map[string]int{}, asked: map[string]string{},
		numbers: map[string]map[int64]bool{}, unchecked: map[string]int{}, datasets: map[string]row{}, runs: map[string]row{},
	}
	for _, k := range kinds {
		c.good[k.table], c.lost[k.table], c.numbers[k.table] = map[string]bool{}, map[string]bool{}, map[int64]bool{}
	}
	return c
}

// mostFaults is how many faults of its structure the database is asked for.
const mostFaults = 20

// structure asks the database what is wrong with the structure of the file. Until
// release is called, no other process moves pages from the log to the file.
func (c *checker) structure(ctx context.Context) (release func() error, err error) {
	abs, err := filepath.Abs(c.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	mode := readOnly(abs)
	if _, err := (&Store{path: c.path}).check(ctx, abs, mode); err != nil && !isDamage(err) {
		return nil, err
	}
	// A reader that may not write copies nothing from the log to the file. With a schema
	// that may be written, the database opens a file that is cut.
	db, err := open(abs, mode+"&_pragma=writable_schema(1)", 1)
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err == nil {
		var found *sql.Rows
		if found, err = tx.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", mostFaults)); err == nil {
			err = scanAll(found, func(rows *sql.Rows) error {
				var fault string
				if err := rows.Scan(&fault); err != nil || fault == "ok" {
					return err
				}
				for line := range strings.Lines(fault) {
					if strings.HasPrefix(line, "*** in database") {
						continue
					}
					c.faults = append(c.faults, strings.TrimSpace(line))
				}
				return nil
			})
		}
	}
	if err != nil && !isDamage(err) {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.path, err), db.Close())
	}
	if err != nil {
		c.faults = append(c.faults, err.Error())
	}
	return func() error {
		if tx != nil {
			tx.Rollback() //nolint:errcheck // nothing was written
		}
		return db.Close()
	}, nil
}

// rowsAtOnce is how many rows are saved in one transaction.
const rowsAtOnce = 1024

// read finds all rows that are good, and hands each to save.
func (c *checker) read(ctx context.Context, file *Pages, save func([]row) error) error {
	var batch []row
	for page, err := range file.All() {
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		for _, found := range page.Rows {
			r, ok := rowOf(found)
			if r.restored && !found.Old {
				c.damaged[r.table]++
			}
			switch {
			case !ok:
			case !r.good && found.Old:
			case found.Old && r.table == "batch_calls":
				// It was deleted when its batch ended. Saved again it would be out for ever.
			case !r.good:
				c.damaged[r.table]++
				if r.table == "calls" {
					c.asked[r.id] = found.Values[2].(string)
				}
			case c.good[r.table][r.id]:
			case r.table == "datasets":
				c.datasets[r.id] = r
			case r.table == "runs":
				if last, ok := c.runs[r.id]; !ok || last.columns[2].(int64) < r.columns[2].(int64) {
					c.runs[r.id] = r
				}
			default:
				c.note(r)
				batch = append(batch, r)
			}
		}
		if len(batch) >= rowsAtOnce {
			if err := save(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.datasets)) {
		batch = append(batch, c.dataset(c.datasets[key]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.runs)) {
		batch = append(batch, c.run(c.runs[name]))
	}
	return save(batch)
}

// note counts a good row.
func (c *checker) note(r row) {
	c.good[r.table][r.id], c.numbers[r.table][r.number] = true, true
	if !r.checked {
		c.unchecked[r.table]++
	}
}

// dataset notes a dataset, and has it say which of its chunks are lost.
func (c *checker) dataset(r row) row {
	c.note(r)
	list := slices.Clone(r.columns[4].([]byte))
	for at := 0; at+sha256.Size <= len(list); at += sha256.Size {
		chunk := list[at : at+sha256.Size]
		if hash := string(chunk); store.HashOf(chunk) != (model.Hash{}) && !c.good["pieces"][hash] {
			c.lost["pieces"][hash] = true
			clear(chunk)
		}
	}
	r.columns = slices.Clone(r.columns)
	r.columns[4] = list
	chunks := store.Chunks{Prompts: int(r.columns[2].(int64)), Sum: store.HashOf(r.columns[3].([]byte)), Hashes: list}
	r.columns[5] = chunks.Checksum(r.columns[0].([]byte), []byte(r.columns[1].(string)))
	return r
}

// run notes a run. One that lost a dataset names none: it is derived from its files.
func (c *checker) run(r row) row {
	c.note(r)
	var keys []store.Key
	if err := json.Unmarshal([]byte(r.columns[3].(string)), &keys); err != nil {
		panic(err) // it was read before
	}
	gone := false
	for _, key := range keys {
		if !c.good["datasets"][string(key[:])] {
			c.lost["datasets"][string(key[:])] = true
			gone = true
		}
	}
	if gone {
		r.columns = slices.Clone(r.columns)
		r.columns[3] = "[]"
		r.columns[5] = store.RunChecksum([]byte(r.id), []byte(r.columns[1].(string)), []byte("[]"), []byte(r.columns[4].(string)), r.columns[2].(int64))
	}
	return r
}

// health tells what was found, and what must have been there: what the indexes name.
func (c *checker) health(ctx context.Context, file *Pages) (h store.Health, err error) {
	for hash := range c.asked {
		if !c.good["calls"][hash] {
			c.lost["calls"][hash] = true
		}
	}
	for page, err := range file.All() {
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return h, err
		}
		c.missing(page.Entries)
	}
	h.Faults, h.LostCalls = append([]string{}, c.faults...), []store.LostCall{}
	all := 0
	for _, k := range kinds {
		found := store.KindHealth{Kind: k.name, Good: len(c.good[k.table]), Lost: len(c.lost[k.table]), Unchecked: c.unchecked[k.table]}
		if !k.seldom() || found.Good+found.Lost > 0 {
			h.Kinds = append(h.Kinds, found)
		}
		if n := c.damaged[k.table]; n > found.Lost {
			h.Faults = append(h.Faults, fmt.Sprintf("%s: %d damaged rows were restored from another copy or from the rest of the row", k.name, n-found.Lost))
		}
		all += found.Good + found.Lost
	}
	if all == 0 && len(h.Faults) > 0 {
		return h, &orbench.InputError{File: c.path, Problem: "is not an orbench store", Hint: "name another file with `store`"}
	}
	for _, hash := range slices.Sorted(maps.Keys(c.lost["calls"])) {
		h.LostCalls = append(h.LostCalls, store.LostCallOf([]byte(hash), []byte(c.asked[hash])))
	}
	return h, nil
}

// missing notes the entries of a page of an index whose rows are lost. Nothing on the
// page says what it is an index of, but the rows of its other entries do.
func (c *checker) missing(entries []PageRow) {
	var ids []string
	var numbers []int64
	votes := map[string]int{}
	for _, e := range entries {
		if len(e.Values) != 2 {
			continue
		}
		number, ok := e.Values[1].(int64)
		if !ok {
			continue
		}
		switch v := e.Values[0].(type) {
		case []byte:
			if len(v) == sha256.Size {
				ids, numbers = append(ids, string(v)), append(numbers, number)
			}
		case string:
			// Runs alone are not named by a hash.
			ids, numbers = append(ids, v), append(numbers, number)
			votes["runs"] += len(entries)
		}
	}
	table := "calls"
	for _, k := range kinds {
		for _, id := range ids {
			if c.good[k.table][id] || c.lost[k.table][id] {
				votes[k.table]++
			}
		}
		// Of what failed at first, most is answered later.
		if votes[k.table] > 0 && votes[k.table] >= votes[table] {
			table = k.table
		}
	}
	for i, id := range ids {
		// Where its row is there under another name, the entry is what is damaged.
		if !c.good[table][id] && !c.numbers[table][numbers[i]] {
			c.lost[table][id] = true
		}
	}
}

// Verify asks the database whether tables and their indexes list the same rows, in their
// order. Where they do not, the error is store.ErrDamaged.
func (s *Store) Verify(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		found := ""
		if err := s.readers.QueryRowContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%s)", table)).Scan(&found); err != nil {
			return s.at(err)
		}
		if found != "ok" {
			return damaged(s.path, errors.New(strings.TrimSpace(strings.TrimPrefix(found, "*** in database main ***"))))
		}
	}
	return nil
}

// Backup copies the store to a new file at to, as it is at one moment: others may write
// to it meanwhile.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := copyInto(ctx, s.readers, to); err != nil {
		return s.at(err)
	}
	return flush(to)
}

// copyInto copies what a database holds to a new file.
func copyInto(ctx context.Context, db *sql.DB, to string) error {
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return err
	}
	made, err := open(to, "", 1)
	if err != nil {
		return err
	}
	// Nobody is at work in the copy.
	_, err = made.ExecContext(ctx, `DELETE FROM claims; UPDATE shares SET until = 0`)
	return errors.Join(err, made.Close())
}

// Vacuum packs the store into as little space as it needs, in one file. What was deleted is
// in no file of the store then.
func (s *Store) Vacuum(ctx context.Context) error {
	if _, err := s.write.ExecContext(ctx, "VACUUM"); err != nil {
		return s.at(err)
	}
	var busy, pages, copied int
	if err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied); err != nil {
		return s.at(err)
	}
	if busy != 0 {
		return &orbench.InputError{File: s.path, Problem: "another command reads the store, so its log of writes could not be emptied", Hint: "end that command, and run this one again"}
	}
	return nil
}
