package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Record is one remembered call.
type Record struct {
	Hash model.Hash
	// Request is the canonical form that Hash was computed from.
	Request  []byte
	Response model.Response
}

// Failure is the last error of a call that has no response.
type Failure struct {
	Hash model.Hash
	Kind model.Kind
	// Message is fit to be shown: capped and without secrets.
	Message string
}

// Mark is a call by its place in the order of arrival. Rows of calls are neither changed nor
// moved, so a store that has other calls at the same places is not the one that was read
// before, with more in it.
type Mark struct {
	Row int64 `json:"row"`
	// Sum is the Checksum of hash and response.
	Sum int64 `json:"sum"`
}

// Run is a named configuration, kept so that a report can be derived again
// without typing it.
type Run struct {
	Name string
	// Config is the JSON of the configuration, which the store does not read.
	Config []byte
	// Datasets are the keys of the datasets that the run asks, in the order of its
	// configuration. There are none in a run of an older store, whose prompts lie in
	// files alone.
	Datasets []Key
	// Made is JSON that says how the run was made, which the store does not read either.
	// It is no part of what the run is.
	Made []byte
	// Saved is when the run was last started; it is not part of any result.
	Saved time.Time
}

// ErrNoRun means that the store has no run of that name, or none at all.
var ErrNoRun = errors.New("no such run")

// ErrDamaged means that something in a store cannot be read, or is not what was written.
var ErrDamaged = errors.New("the store is damaged")

// ErrReadOnly means that a store cannot be written to.
var ErrReadOnly = errors.New("the store is read-only")

// ErrNoStore means that there is no store where one must be.
var ErrNoStore = errors.New("there is no store")

// ErrGone means that a store was deleted or replaced while it was open.
var ErrGone = errors.New("the store is no longer where it was opened")

// Reader reads what a store holds. A nil Reader stands for a store that is not there yet,
// where a function says so. Readers are safe for concurrent use.
type Reader interface {
	// ID is the random name that the store got when it was made. Copies of a store, such
	// as a backup, have the same; a store that is merged or exported into a new one gets
	// another.
	ID(ctx context.Context) (string, error)

	// Get finds the responses of those hashes that are present.
	Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error)
	// Records finds the records of those hashes that are present, in any order.
	Records(ctx context.Context, hashes []model.Hash) ([]Record, error)
	// AllRecords streams all records in the order of their arrival.
	AllRecords(ctx context.Context) iter.Seq2[Record, error]
	// Has finds which hashes are present.
	Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error)
	// Count gives the number of records.
	Count(ctx context.Context) (int, error)
	// Prefixes gives the first 64 bits of the hash of each record, in any order.
	Prefixes(ctx context.Context) ([]uint64, error)

	// Marks gives, for each number of a row, the last call at or before it; the zero Mark
	// where there is none.
	Marks(ctx context.Context, rows []int64) ([]Mark, error)

	// Failures finds the failures of those hashes that have no response.
	Failures(ctx context.Context, hashes []model.Hash) (map[model.Hash]Failure, error)
	// AllFailures lists the failures of all calls that have no response, by their hash.
	AllFailures(ctx context.Context) ([]Failure, error)

	// Batches lists all batches, in the order of their arrival.
	Batches(ctx context.Context) ([]Batch, error)
	// BatchCalls finds those calls of an open batch that have one of the hashes, in any
	// order.
	BatchCalls(ctx context.Context, id BatchID, hashes []model.Hash) ([]BatchCall, error)
	// AllBatchCalls streams the calls of an open batch by their hash.
	AllBatchCalls(ctx context.Context, id BatchID) iter.Seq2[BatchCall, error]

	// Annotations lists all annotations, from the earliest, those of one time by
	// their ID.
	Annotations(ctx context.Context) ([]orbench.Annotation, error)

	// Dataset finds a dataset. It returns ErrNoDataset where there is none.
	Dataset(ctx context.Context, key Key) (Dataset, error)
	// Datasets lists the keys of all datasets, in the order of their arrival.
	Datasets(ctx context.Context) ([]Key, error)
	// Prompts streams the prompts of a dataset in their order. What it says is never
	// the start of a dataset taken for the whole: a prompt that is lacking is an error,
	// unless it is one of Dataset.Lost.
	Prompts(ctx context.Context, key Key) iter.Seq2[orbench.Prompt, error]

	// PromptsAt reads those prompts of a dataset that have some places in its order, from 0,
	// each before the next. One that is lacking is ErrDamaged.
	PromptsAt(ctx context.Context, key Key, at []int) ([]orbench.Prompt, error)

	// Run finds a run by name; the empty name means the one saved last. It
	// returns ErrNoRun where there is none.
	Run(ctx context.Context, name string) (Run, error)
	// Runs lists all runs, the one saved last first.
	Runs(ctx context.Context) ([]Run, error)

	// Shares lists who has spent on a study since somebody last began to alone, in the order in
	// which they began.
	Shares(ctx context.Context, study string) ([]Share, error)

	// Notes says what a user should know of the state in which the store was found, in
	// a line each, such as that it is only read.
	Notes() []string

	// LeftOut tells what is damaged, and is left out of all that is read, once any of it was
	// met. A store for writing leaves nothing out: what is damaged is ErrDamaged there.
	LeftOut() Health
}

// Keeper keeps what studies are derived from: who they are and the prompts that they ask.
// A store that only shows what is there keeps these too, since older stores lack them.
type Keeper interface {
	// PutDataset keeps a dataset and its prompts, in their order, in one transaction.
	// One whose key is present is passed over, and its prompts are not read, unless some
	// of them are lost. An error of the prompts is returned, and nothing is kept then.
	PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error
	// SaveRun keeps a run, replacing the one of that name. A zero Saved is now.
	SaveRun(ctx context.Context, r Run) error
}

// Writer adds what was paid for, and coordinates those who pay.
type Writer interface {
	Keeper

	// Put adds records in one transaction that is durable when it returns. A
	// record whose hash is present already is left as it is.
	Put(ctx context.Context, records []Record) error
	// PutFailures notes failures, each replacing the earlier one of its hash.
	PutFailures(ctx context.Context, failures []Failure) error

	// Claim takes for this handle, in one step, those of the calls that have no response
	// and that no other handle holds, so that of several processes one makes a call. A
	// claim ends with Release, with Close, or a term after it was made or last renewed,
	// by the clock of the store; sooner where the store knows that its process is gone.
	//
	// Pass seen from your last Claim if you have looked these calls up since, found no
	// response, and stored none. Otherwise pass 0. The store then skips its own look-up
	// when nobody else wrote.
	Claim(ctx context.Context, hashes []model.Hash, term time.Duration, seen int64) (Claim, error)
	// Renew has the claims of this handle last for a term from now, and lists those that
	// it still holds. One whose term was over is lost if another handle has claimed
	// anything since.
	Renew(ctx context.Context, term time.Duration) ([]int64, error)
	// Release ends claims of this handle.
	Release(ctx context.Context, claims []int64) error

	// ChangeShares changes the shares of a study in one step. It gives all of them to change,
	// which returns the shares to put and the IDs of those to drop; change may be called more
	// than once. A share that is put as Live stays so for a term from now, by the clock of the
	// store or as its Watch sees it, or until its process is known to be gone.
	ChangeShares(ctx context.Context, study string, term time.Duration, change func(all []Share) (put []Share, drop []string)) error

	// PutBatch keeps a batch and its calls, in one transaction that is durable when it
	// returns. An open batch of that ID gets what is said of it now, and further calls;
	// one that is not open has none, and is left as it is. A call is of one batch: that of
	// another stays there.
	PutBatch(ctx context.Context, b Batch, calls []BatchCall) error

	// Annotate adds annotations in one transaction. One that is present already is
	// passed over.
	Annotate(ctx context.Context, annotations []orbench.Annotation) error
}

// Backend is what SQLite and Postgres implement. Backends are safe for concurrent use, by
// several processes too, and pass TestBackends.
type Backend interface {
	Reader
	Writer
	// Forget takes datasets, calls with what failed of them, and annotations by their IDs out,
	// all or nothing. Vacuum packs the store, so that its files have no byte of what was taken
	// out. An error of Vacuum says why they still may.
	Forget(ctx context.Context, datasets []Key, calls []model.Hash, annotations [][sha256.Size]byte) error
	Vacuum(ctx context.Context) error
	Close() error
}

// Store is a Backend with grouped commits.
type Store struct {
	Backend

	mu sync.Mutex
	// open is the group that records join until the committer takes it.
	open   *group
	closed bool
	// wake tells the committer that the open group is not empty.
	wake chan struct{}
	// done is closed when the committer has written its last.
	done chan struct{}
}

// group is the records of one transaction. Those who wait for it share a channel,
// so that one close lets all of them go on.
type group struct {
	records []Record
	written chan struct{}
	// err is set before written is closed.
	err error
}

func newGroup() *group { return &group{written: make(chan struct{})} }

// gatherTurns is how often the committer lets others run before it writes.
const gatherTurns = 3

// ErrClosed means that the store was closed before the record could be written.
var ErrClosed = errors.New("the store is closed")

// New starts a Store over a store. Close ends it and closes the store.
func New(s Backend) *Store {
	m := &Store{Backend: s, open: newGroup(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	go m.commit()
	return m
}

// Remember writes one record and returns when it is durable. It takes no
// context: a response that was paid for is written even when the run that
// asked for it is being stopped.
func (m *Store) Remember(r Record) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	g := m.open
	g.records = append(g.records, r)
	select {
	case m.wake <- struct{}{}:
	default:
		// The committer has been told already.
	}
	m.mu.Unlock()
	<-g.written
	return g.err
}

// Close writes what waits, ends the committer and closes the store.
func (m *Store) Close() error {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		close(m.wake)
	}
	m.mu.Unlock()
	<-m.done
	return m.Backend.Close()
}

// commit owns all writing of records: it takes the open group and writes it,
// while the next group gathers.
func (m *Store) commit() {
	defer close(m.done)
	for range m.wake {
		// On a busy machine responses wait for the processor, not for the
		// network. A few turns for others bring those in, and a larger group
		// costs less for each record; on an idle machine they take no time.
		for range gatherTurns {
			runtime.Gosched()
		}
		m.mu.Lock()
		g := m.open
		m.open = newGroup()
		m.mu.Unlock()
		g.err = m.Put(context.Background(), g.records)
		close(g.written)
	}
}

// BatchID names a batch.
type BatchID [sha256.Size]byte

// String is the start of the ID in hex digits, enough to tell the batches of a store apart.
func (id BatchID) String() string { return hex.EncodeToString(id[:6]) }

// Batch is calls that are, or are about to be, out with a provider together: paid for,
// perhaps, and not answered yet.
type Batch struct {
	ID BatchID
	// About is JSON that the store does not read: where the calls are out, and how far
	// that is.
	About []byte
	// Open is false once nothing more is to come of it.
	Open bool
}

// BatchCall is a call of a batch.
type BatchCall struct {
	Hash model.Hash
	// Request is the canonical form that Hash was computed from.
	Request []byte
}

// Claim says which of some calls a handle of a store may make.
type Claim struct {
	// ID names the claim among those of the handle; 0 where no call was free.
	ID int64
	// Answered are the calls that have a response, and Taken those that another handle
	// has claimed. All others are the handle's to make.
	Answered, Taken map[model.Hash]bool
	// Batched are those of the handle's that are out in an open batch: whoever makes them
	// may pay for them twice.
	Batched map[model.Hash]bool
	// Seen is for the claims that follow, 0 where the store does not know what other handles
	// write; see Backend.Claim.
	Seen int64
}
