package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Tables is what the backends have in common: tables of the same columns in a SQL database,
// and the statements that read and write them. Get, Has, Put and claims are each backend's
// own, as what is fast and what is safe differs there.
type Tables struct {
	// Query hands row each row that a query finds. Where it has to start again, as after a
	// connection that broke, it calls begin anew, which forgets what was read.
	Query func(ctx context.Context, begin func(), row func(Scan) error, query string, args ...any) error
	// Write does some statements in one transaction, which is durable when it returns.
	Write func(ctx context.Context, statements []Statement) error
	// Transact does what do says in one transaction, in which no other puts datasets. It may be
	// done again.
	Transact func(ctx context.Context, do func(exec func(query string, args ...any) error) error) error
	// Briefly does what do says in one transaction, in which no other is done briefly. It is
	// not waited for on the disk, and may be done again.
	Briefly func(ctx context.Context, do func(query func(row func(Scan) error, query string, args ...any) error, exec func(query string, args ...any) error) error) error
	// Among is the condition to be one of some hashes, with its arguments, which come after
	// so many others.
	Among func(hashes []model.Hash, after int) (condition string, args []any)
	// At says which store an error is about. Those of the functions above say it already.
	At func(error) error
	// Now is the clock for Run.Saved. Where it is not one clock for all, Watch tells which
	// shares are over.
	Now   func(context.Context) (time.Time, error)
	Watch *Watch
	// DatasetNumber and BatchNumber are the columns that number those in the order of their
	// arrival.
	DatasetNumber, BatchNumber string

	tolerance *tolerance
}

// tolerance is how a reader leaves out what is damaged.
type tolerance struct {
	tell func()
	mu   sync.Mutex
	// damaged is true once a damaged row was met, and pieces has the damaged pieces of
	// prompts.
	damaged bool
	pieces  map[string]bool
}

// Tolerate has lists and look-ups leave out rows that are not what was written, from now
// on. tell is called at the first of them.
func (t *Tables) Tolerate(tell func()) {
	t.tolerance = &tolerance{tell: tell, pieces: map[string]bool{}}
}

// LeavesOut reports whether a row whose reading failed is left out.
func (t *Tables) LeavesOut(err error) bool {
	if t.tolerance == nil || !errors.Is(err, ErrDamaged) {
		return false
	}
	t.tolerance.mu.Lock()
	defer t.tolerance.mu.Unlock()
	if !t.tolerance.damaged {
		t.tolerance.damaged = true
		t.tolerance.tell()
	}
	return true
}

// Scan reads the columns of a row.
type Scan = func(into ...any) error

// Statement is one that writes. Its arguments are bytes where columns of both backends are,
// and strings where those of SQLite are text.
type Statement struct {
	Query string
	Args  []any
}

// MaxValue is the most bytes of a value that is read: enough for the 512 prompts of a piece.
// What reads a value has it in memory up to four times.
const MaxValue = 192 << 20

// hashesPerQuery is how many hashes are looked up together, and rows read at a time.
const hashesPerQuery = 256

// found reads the rows that a query finds.
func found[Row any](ctx context.Context, t *Tables, read func(Scan) (Row, error), query string, args ...any) (all []Row, err error) {
	err = t.Query(ctx, func() { all = nil }, func(scan Scan) error {
		row, err := read(scan)
		if t.LeavesOut(err) {
			return nil
		}
		all = append(all, row)
		return err
	}, query, args...)
	return all, err
}

// foundAmong reads the rows that a query finds for some hashes: it has %s for the condition
// that a column is one of them.
func foundAmong[Row any](ctx context.Context, t *Tables, read func(Scan) (Row, error), query string, hashes []model.Hash, args ...any) (all []Row, err error) {
	for group := range slices.Chunk(hashes, hashesPerQuery) {
		condition, more := t.Among(group, len(args))
		rows, err := found(ctx, t, read, fmt.Sprintf(query, condition), slices.Concat(args, more)...)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// single reads the one row that a query finds, and says whether there is one.
func single[Row any](ctx context.Context, t *Tables, read func(Scan) (Row, error), query string, args ...any) (row Row, ok bool, err error) {
	err = t.Query(ctx, func() { ok = false }, func(scan Scan) (err error) {
		row, err = read(scan)
		ok = true
		return err
	}, query, args...)
	return row, ok, err
}

// column reads a row of one column.
func column[Value any](scan Scan) (v Value, err error) {
	err = scan(&v)
	return v, err
}

// ID implements Reader.
func (t *Tables) ID(ctx context.Context) (string, error) {
	id, _, err := single(ctx, t, column[string], `SELECT id FROM identity`)
	return id, err
}

// LeftOut implements Reader. Once a damaged row was met, it looks for all others.
func (t *Tables) LeftOut() Health {
	if t.tolerance == nil {
		return Health{}
	}
	t.tolerance.mu.Lock()
	damaged := t.tolerance.damaged
	t.tolerance.mu.Unlock()
	if !damaged {
		return Health{}
	}
	h, err := t.Check(context.Background())
	if err != nil {
		h.Faults = append(h.Faults, err.Error())
	}
	return h
}

// Count implements Reader.
func (t *Tables) Count(ctx context.Context) (int, error) {
	n, _, err := single(ctx, t, column[int], `SELECT count(*) FROM calls`)
	return n, err
}

// Prefixes implements Reader.
func (t *Tables) Prefixes(ctx context.Context) ([]uint64, error) {
	return found(ctx, t, func(scan Scan) (uint64, error) {
		hash, err := column[[]byte](scan)
		if err != nil || len(hash) != len(model.Hash{}) {
			return 0, err // nobody looks a damaged hash up
		}
		return prefixOf(hash), nil
	}, `SELECT hash FROM calls`)
}

// Marks implements Reader.
func (t *Tables) Marks(ctx context.Context, rows []int64) ([]Mark, error) {
	marks := make([]Mark, len(rows))
	for i, row := range rows {
		var err error
		marks[i], _, err = single(ctx, t, func(scan Scan) (m Mark, err error) {
			var hash, response []byte
			err = scan(&m.Row, &hash, &response)
			m.Sum = Checksum(hash, response)
			return m, err
		}, `SELECT id, hash, response FROM calls WHERE id <= $1 ORDER BY id DESC LIMIT 1`, row)
		if err != nil {
			return nil, err
		}
	}
	return marks, nil
}

// Records implements Reader.
func (t *Tables) Records(ctx context.Context, hashes []model.Hash) ([]Record, error) {
	var number int64
	return foundAmong(ctx, t, readRecord(&number), selectRecords+`hash %s ORDER BY id`, hashes)
}

// AllRecords implements Reader.
func (t *Tables) AllRecords(ctx context.Context) iter.Seq2[Record, error] {
	return paged(func(after int64) ([]Record, int64, error) {
		records, err := found(ctx, t, readRecord(&after), selectRecords+`id > $1 ORDER BY id LIMIT $2`, after, hashesPerQuery)
		return records, after, err
	})
}

const (
	recordColumns = `id, hash, coalesce(packed, request), response, checksum`
	selectRecords = `SELECT ` + recordColumns + ` FROM calls WHERE `
)

// readRecord reads records, and the number of each row.
func readRecord(number *int64) func(Scan) (Record, error) {
	return func(scan Scan) (r Record, err error) {
		var hash, request, response []byte
		var sum any
		if err = scan(number, &hash, &request, &response, &sum); err != nil {
			return r, err
		}
		if r.Request, err = unpack(request); err != nil {
			return r, err
		}
		if r.Hash = HashOf(hash); r.Hash != model.HashCanonical(r.Request) {
			return r, ErrChanged
		}
		r.Response, err = ReadResponse(hash, response, sum)
		return r, err
	}
}

// paged streams the rows that next gives a page at a time, so that no query of a store
// stays open while the caller works with what was found. next gives the rows after a
// place, which is zero before the first, and the place of the last; where that stays as it
// was, there are no more.
func paged[Row any, Place comparable](next func(after Place) ([]Row, Place, error)) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var at Place
		for {
			rows, last, err := next(at)
			if err != nil {
				var none Row
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if last == at {
				return
			}
			at = last
		}
	}
}

// PutFailures implements Writer. Those who change the same rows do so in one order.
func (t *Tables) PutFailures(ctx context.Context, failures []Failure) error {
	sorted := slices.Clone(failures)
	slices.SortStableFunc(sorted, func(a, b Failure) int { return slices.Compare(a.Hash[:], b.Hash[:]) })
	statements := make([]Statement, len(sorted))
	for i, f := range sorted {
		statements[i] = Statement{
			`INSERT INTO failures (hash, kind, message, checksum) VALUES ($1, $2, $3, $4)
			ON CONFLICT (hash) DO UPDATE SET kind = excluded.kind, message = excluded.message, checksum = excluded.checksum`,
			[]any{f.Hash[:], string(f.Kind), f.Message, Checksum(f.Hash[:], []byte(f.Kind), []byte(f.Message))},
		}
	}
	return t.Write(ctx, statements)
}

// unanswered are the failures without a response.
const unanswered = `SELECT ` + failureColumns + ` FROM failures AS f
	WHERE NOT EXISTS (SELECT 1 FROM calls WHERE calls.hash = f.hash)`

// Failures implements Reader.
func (t *Tables) Failures(ctx context.Context, hashes []model.Hash) (map[model.Hash]Failure, error) {
	byHash := map[model.Hash]Failure{}
	if any, _, err := single(ctx, t, column[bool], `SELECT EXISTS (SELECT 1 FROM failures)`); err != nil || !any {
		return byHash, err
	}
	all, err := foundAmong(ctx, t, readFailure, unanswered+` AND hash %s`, hashes)
	for _, f := range all {
		byHash[f.Hash] = f
	}
	return byHash, err
}

// AllFailures implements Reader.
func (t *Tables) AllFailures(ctx context.Context) ([]Failure, error) {
	return found(ctx, t, readFailure, unanswered+` ORDER BY hash`)
}

const failureColumns = `hash, kind, message, checksum`

func readFailure(scan Scan) (f Failure, err error) {
	var hash, kind, message []byte
	var sum any
	if err := scan(&hash, &kind, &message, &sum); err != nil {
		return f, err
	}
	return Failure{Hash: HashOf(hash), Kind: model.Kind(kind), Message: string(message)}, verify(sum, Checksum(hash, kind, message))
}

// PutBatch implements Writer.
func (t *Tables) PutBatch(ctx context.Context, b Batch, calls []BatchCall) error {
	open := byte(0)
	if b.Open {
		open = 1
	}
	statements := []Statement{{
		`INSERT INTO batches (id, about, open, checksum) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET about = excluded.about, open = excluded.open, checksum = excluded.checksum WHERE batches.open`,
		[]any{b.ID[:], string(b.About), b.Open, Checksum(b.ID[:], b.About, []byte{open})},
	}}
	for i := range calls {
		statements = append(statements, Statement{
			`INSERT INTO batch_calls (batch, hash, request) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING`,
			[]any{b.ID[:], calls[i].Hash[:], string(calls[i].Request)},
		})
	}
	// One that is not open, or was not any more, has none.
	statements = append(statements, Statement{
		`DELETE FROM batch_calls WHERE batch = $1 AND NOT EXISTS (SELECT 1 FROM batches WHERE id = $1 AND open)`, []any{b.ID[:]},
	})
	return t.Write(ctx, statements)
}

// Batches implements Reader.
func (t *Tables) Batches(ctx context.Context) ([]Batch, error) {
	return found(ctx, t, readBatch, `SELECT `+batchColumns+` FROM batches ORDER BY `+t.BatchNumber)
}

const batchColumns = `id, about, CAST(open AS INTEGER), checksum`

func readBatch(scan Scan) (b Batch, err error) {
	var id []byte
	var open int64
	var sum any
	if err := scan(&id, &b.About, &open, &sum); err != nil {
		return b, err
	}
	b.ID, b.Open = BatchID(HashOf(id)), open != 0
	return b, verify(sum, Checksum(id, b.About, []byte{byte(open)}))
}

// BatchCalls implements Reader.
func (t *Tables) BatchCalls(ctx context.Context, id BatchID, hashes []model.Hash) ([]BatchCall, error) {
	return foundAmong(ctx, t, readBatchCall, selectBatchCalls+`hash %s`, hashes, id[:])
}

// AllBatchCalls implements Reader.
func (t *Tables) AllBatchCalls(ctx context.Context, id BatchID) iter.Seq2[BatchCall, error] {
	return paged(func(after model.Hash) ([]BatchCall, model.Hash, error) {
		calls, err := found(ctx, t, readBatchCall, selectBatchCalls+`hash > $2 ORDER BY hash LIMIT $3`, id[:], after[:], hashesPerQuery)
		if len(calls) > 0 {
			after = calls[len(calls)-1].Hash
		}
		return calls, after, err
	})
}

const selectBatchCalls = `SELECT hash, request FROM batch_calls WHERE batch = $1 AND `

func readBatchCall(scan Scan) (c BatchCall, err error) {
	var hash []byte
	if err := scan(&hash, &c.Request); err != nil {
		return c, err
	}
	if c.Hash = HashOf(hash); c.Hash != model.HashCanonical(c.Request) {
		return c, ErrChanged
	}
	return c, nil
}

// Annotate implements Writer.
func (t *Tables) Annotate(ctx context.Context, annotations []orbench.Annotation) error {
	statements := make([]Statement, len(annotations))
	for i, a := range annotations {
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		id := a.ID()
		statements[i] = Statement{
			`INSERT INTO annotations (id, at, annotation) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
			[]any{id[:], a.At.UnixNano(), string(text)},
		}
	}
	return t.Write(ctx, statements)
}

// Annotations implements Reader.
func (t *Tables) Annotations(ctx context.Context) ([]orbench.Annotation, error) {
	return found(ctx, t, readAnnotation, `SELECT id, annotation FROM annotations ORDER BY at, id`)
}

func readAnnotation(scan Scan) (a orbench.Annotation, err error) {
	var id, text []byte
	if err := scan(&id, &text); err != nil {
		return a, err
	}
	if json.Unmarshal(text, &a) != nil || a.ID() != HashOf(id) {
		return a, ErrChanged
	}
	return a, nil
}

// PutDataset implements Keeper.
func (t *Tables) PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error {
	key := KeyOf(about)
	if kept, err := t.Dataset(ctx, key); !errors.Is(err, ErrNoDataset) && (err != nil || kept.Lost == 0) {
		return err
	}
	return t.Transact(ctx, func(exec func(string, ...any) error) error {
		// Those of its pieces that are there already stay.
		cut, err := CutChunks(prompts, func(hash, text []byte) error {
			return exec(`INSERT INTO pieces (hash, prompts) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`, hash, string(text))
		})
		if err != nil {
			return err
		}
		return exec(`INSERT INTO datasets (key, about, prompts, sum, pieces, checksum) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (key) DO UPDATE SET pieces = excluded.pieces, checksum = excluded.checksum`,
			key[:], string(about), cut.Prompts, cut.Sum[:], cut.Hashes, cut.Checksum(key[:], about))
	})
}

// Dataset implements Reader.
func (t *Tables) Dataset(ctx context.Context, key Key) (Dataset, error) {
	about, p, err := t.chunks(ctx, key)
	if err == nil && t.tolerance != nil {
		err = t.findDamaged(ctx, &p)
	}
	if err != nil {
		return Dataset{}, err
	}
	return Dataset{About: about, Prompts: p.Prompts, Sum: p.Sum, Lost: p.Lost()}, nil
}

// chunks finds the chunks of a dataset, and what it is about.
func (t *Tables) chunks(ctx context.Context, key Key) (about []byte, p Chunks, err error) {
	p, ok, err := single(ctx, t, readPieces(new([]byte), &about), `SELECT `+datasetColumns+` FROM datasets WHERE key = $1`, key[:])
	if err == nil && !ok {
		err = t.At(ErrNoDataset)
	}
	t.withoutDamaged(&p)
	return about, p, err
}

const datasetColumns = `key, about, prompts, sum, pieces, checksum`

// readPieces reads the chunks of datasets, and the key of each and what it is about.
func readPieces(key, about *[]byte) func(Scan) (Chunks, error) {
	return func(scan Scan) (p Chunks, err error) {
		var sum []byte
		var checksum any
		if err := scan(key, about, &p.Prompts, &sum, &p.Hashes, &checksum); err != nil {
			return p, err
		}
		if p.Sum = HashOf(sum); KeyOf(*about) != Key(HashOf(*key)) {
			return p, ErrChanged
		}
		return p, verify(checksum, p.Checksum(*key, *about))
	}
}

// Datasets implements Reader.
func (t *Tables) Datasets(ctx context.Context) ([]Key, error) {
	return found(ctx, t, func(scan Scan) (Key, error) {
		key, err := column[[]byte](scan)
		return Key(HashOf(key)), err
	}, `SELECT key FROM datasets ORDER BY `+t.DatasetNumber)
}

// Prompts implements Reader.
func (t *Tables) Prompts(ctx context.Context, key Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		_, p, err := t.chunks(ctx, key)
		if err != nil {
			yield(orbench.Prompt{}, err)
			return
		}
		for prompt, err := range p.Read(t.chunk(ctx)) {
			if !yield(prompt, t.atChunk(err)) {
				return
			}
		}
	}
}

// PromptsAt implements Reader.
func (t *Tables) PromptsAt(ctx context.Context, key Key, at []int) ([]orbench.Prompt, error) {
	_, p, err := t.chunks(ctx, key)
	if err != nil {
		return nil, err
	}
	all, err := p.At(at, t.chunk(ctx))
	return all, t.atChunk(err)
}

// findDamaged reads all pieces of a dataset, and notes those that are damaged as lost: how
// many prompts there are must be known before the first is read.
func (t *Tables) findDamaged(ctx context.Context, p *Chunks) error {
	text := t.chunk(ctx)
	for hash := range p.Each() {
		_, err := intact(hash, text)
		if t.LeavesOut(err) {
			t.tolerance.mu.Lock()
			t.tolerance.pieces[string(hash)] = true
			t.tolerance.mu.Unlock()
		} else if err != nil {
			return t.atChunk(err)
		}
	}
	t.withoutDamaged(p)
	return nil
}

// withoutDamaged has a dataset say that pieces which are known to be damaged are lost.
func (t *Tables) withoutDamaged(p *Chunks) {
	if t.tolerance == nil {
		return
	}
	t.tolerance.mu.Lock()
	defer t.tolerance.mu.Unlock()
	for hash := range p.Each() {
		if t.tolerance.pieces[string(hash)] {
			clear(hash)
		}
	}
}

// chunk finds the text of a chunk.
func (t *Tables) chunk(ctx context.Context) func(hash []byte) ([]byte, error) {
	return func(hash []byte) ([]byte, error) {
		text, ok, err := single(ctx, t, column[[]byte], `SELECT prompts FROM pieces WHERE hash = $1`, hash)
		if err == nil && !ok {
			err = Damage("a part of a dataset's prompts is missing")
		}
		return text, err
	}
}

// atChunk is At for an error of reading chunks, which may say already where it is.
func (t *Tables) atChunk(err error) error {
	if errors.As(err, new(Damage)) && !errors.Is(err, orbench.ErrInput) {
		return t.At(err)
	}
	return err
}
