package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
)

// The columns of rows. Each has the same chunks as the walk. A chunk has some prompts and
// the answers of all samples of all targets to them; answers to one prompt are adjacent.
const (
	// kindColumn has the number of a row's kind, 4 bytes each, as the next.
	kindColumn   = "kind"
	lengthColumn = "length"
	// subjectColumn has the subject, and the group of the judges' verdicts, 33 bytes.
	subjectColumn = "subject"
	// promptColumn has the prompts of a chunk, 12 bytes each.
	promptColumn = "prompt"
)

// scoreColumn has the scores of a judge, as their ranks, 4 bytes each.
func scoreColumn(judging int) string { return "score " + strconv.Itoa(judging) }

// noRank is the rank of no score, which comes last.
const noRank = math.MaxUint32

// rankOf is a number that is higher for a higher score: the bits of a float, which are in its
// order from 0 on.
func rankOf(score float64) uint32 {
	if math.IsNaN(score) {
		return noRank
	}
	return math.Float32bits(float32(score))
}

// scoreOf is the score of a rank, to the seven digits that are kept; 0 for none.
func scoreOf(rank uint32) float64 {
	if rank == noRank {
		return 0
	}
	// The shortest number with these digits is the one that was said, such as 0.1.
	score, _ := strconv.ParseFloat(strconv.FormatFloat(float64(math.Float32frombits(rank)), 'g', -1, 32), 64)
	return score
}

const subjectSize = len(orbench.Subject{}) + 1

// noSubject is that of a row without an answer.
var noSubject orbench.Subject

// noAnswer, in place of a group, marks a row that no person may look at.
const noAnswer = 0xff

// about is what all rows of a study have in common.
type about struct {
	// Table has the samples, the kinds of rows, and the number of rows of each.
	facet.Table
	// Words and Subjects are of the safe prompts that are refused most.
	Words, Subjects []facet.Shared
	Datasets        []string
	Chunks          []chunk
	// Used counts the replies that the rows of each sample rest on, and Simulated says for each
	// judge whether any of its verdicts on them is simulated.
	Used      [][]keptUsage
	Simulated [][]bool
	// Cells are the units of labels: one for each sample, dataset and label.
	Cells []map[string]annotation.Cell
}

// chunk is some prompts of one dataset.
type chunk struct{ Dataset, Prompts int }

// promptSize is the size in bytes of a prompt in its column: its name, and its place in the
// dataset as the store keeps it.
const promptSize = 12

// promptName identifies a prompt within a dataset.
func promptName(id orbench.PromptID) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// cellName names a cell among those of a sample.
func cellName(dataset string, label orbench.Label) string { return dataset + "\n" + string(label) }

// rowWriter takes the chunks of a walk.
type rowWriter struct {
	about
	vocabulary facet.Vocabulary
	put        func(name string, chunk int, data []byte) error
	// places has the place of each prompt in its dataset, by dataset, if the walk takes
	// prompts in another order; otherwise seen counts the prompts.
	places []map[orbench.PromptID]int
	seen   []int
}

// newRowWriter makes a writer for the rows of a run.
func newRowWriter(r *run.Run, put func(name string, chunk int, data []byte) error) (*rowWriter, error) {
	w := &rowWriter{put: put, seen: make([]int, len(r.Datasets))}
	for _, t := range r.Targets {
		for _, one := range t.Each() {
			s := facet.Sample{Target: t.Name, Base: t.Base}
			if t.Times() > 1 {
				s.Number = one.Sample + 1
			}
			w.Samples, w.Cells = append(w.Samples, s), append(w.Cells, map[string]annotation.Cell{})
			w.Simulated = append(w.Simulated, make([]bool, len(r.Judges)))
		}
	}
	for _, j := range r.Judges {
		w.Judges = append(w.Judges, j.Name())
	}
	for _, d := range r.Datasets {
		w.Datasets = append(w.Datasets, d.Name)
		if r.Until == nil {
			continue
		}
		places := map[orbench.PromptID]int{}
		for p, err := range d.Prompts() {
			if err != nil {
				return nil, err
			}
			places[p.ID] = len(places)
		}
		w.places = append(w.places, places)
	}
	return w, nil
}

// add writes the rows of a chunk.
func (w *rowWriter) add(p score.Chunk) error {
	w.vocabulary.Add(p)
	number := len(w.Chunks)
	w.Chunks = append(w.Chunks, chunk{p.Dataset, len(p.Prompts)})
	rows := len(p.Prompts) * len(w.Samples)
	kinds, lengths := make([]byte, 0, 4*rows), make([]byte, 0, 4*rows)
	subjects, scores := make([]byte, 0, subjectSize*rows), make([][]byte, len(w.Judges))
	prompts := make([]byte, 0, promptSize*len(p.Prompts))
	for i := range p.Prompts {
		prompt := &p.Prompts[i]
		at := w.seen[p.Dataset]
		w.seen[p.Dataset]++
		if w.places != nil {
			at = w.places[p.Dataset][prompt.ID]
		}
		prompts = binary.LittleEndian.AppendUint64(prompts, promptName(prompt.ID))
		prompts = binary.LittleEndian.AppendUint32(prompts, uint32(at))
		n := 0
		for t := range p.Rows {
			for s := range p.Rows[t] {
				row := &p.Rows[t][s][i]
				name := cellName(row.Dataset, prompt.Label)
				if _, ok := w.Cells[n][name]; !ok {
					w.Cells[n][name] = row.Cell
				}
				kinds = binary.LittleEndian.AppendUint32(kinds, uint32(w.Add(n, row)))
				lengths = binary.LittleEndian.AppendUint32(lengths, uint32(len(row.Response.Text)))
				if row.Status == score.Answered || row.Status == score.Blocked {
					subject := row.Subject()
					subjects = append(append(subjects, subject[:]...), byte(row.Group()))
				} else {
					subjects = append(append(subjects, noSubject[:]...), noAnswer)
				}
				for k, v := range row.Verdicts {
					w.Simulated[n][k] = w.Simulated[n][k] || v.Simulated
				}
				for k := range scores {
					value := math.NaN()
					if k < len(row.Verdicts) && row.Verdicts[k].Class != orbench.Unjudged {
						value = row.Verdicts[k].Score
					}
					scores[k] = binary.LittleEndian.AppendUint32(scores[k], rankOf(value))
				}
				n++
			}
		}
	}
	err := errors.Join(w.put(kindColumn, number, kinds), w.put(lengthColumn, number, lengths),
		w.put(subjectColumn, number, subjects), w.put(promptColumn, number, prompts))
	for k := range scores {
		err = errors.Join(err, w.put(scoreColumn(k), number, scores[k]))
	}
	return err
}

// Study gives the rows of a run. It first derives and keeps them if they are not kept or no
// longer hold. It is nil if they cannot be kept. walked is as in evaluate.Sinks.
func (x *Index) Study(ctx context.Context, m store.Reader, r *run.Run, walked func(int)) (*Study, error) {
	key, ok := x.keyOf(m, r, "rows")
	if !ok {
		return nil, nil
	}
	s, err := x.keptStudy(ctx, m, r, key)
	if s != nil {
		return s, nil
	}
	x.fail(ctx, err)
	if x.usable() == nil {
		return nil, nil
	}
	if _, err := x.derive(ctx, m, r, evaluate.Sinks{Walked: walked}); err != nil {
		return nil, err
	}
	if s, err = x.keptStudy(ctx, m, r, key); err != nil {
		x.fail(ctx, err)
	}
	return s, nil
}

// derive walks a run, and keeps its rows and figures where that can be. The error is that of
// the walk.
func (x *Index) derive(ctx context.Context, m store.Reader, r *run.Run, sinks evaluate.Sinks) (score.Result, error) {
	var derived *score.Result
	if key, ok := x.keyOf(m, r, "rows"); ok {
		_, err := x.keep(ctx, m, func(tx *sql.Tx) (err error) {
			derived, err = x.keepRows(ctx, m, tx, r, key, sinks)
			return err
		})
		if err != nil {
			return score.Result{}, err
		}
	}
	if derived == nil {
		return r.DeriveTo(ctx, m, sinks)
	}
	return *derived, nil
}

// walkError is an error of a walk, not of the index.
type walkError struct{ error }

// errMany means that rows lack too many calls to be kept.
var errMany = errors.New("rows lack too many calls to be kept")

// keep writes what a walk gives, in one transaction. It reports false where that cannot be
// kept. The error is that of the walk.
func (x *Index) keep(ctx context.Context, m store.Reader, do func(*sql.Tx) error) (bool, error) {
	err := x.write(ctx, m, do)
	var walked walkError
	switch {
	case errors.As(err, &walked):
		return false, walked.error
	case !errors.Is(err, errMany):
		x.fail(ctx, err)
	}
	return err == nil, nil
}

// walk passes the chunks of a run to take, and gives its figures. The error is that of take,
// or a walkError.
func walk(ctx context.Context, m store.Reader, r *run.Run, sinks evaluate.Sinks, take func(score.Chunk) error) (score.Result, error) {
	var own error
	sinks.Chunk = func(p score.Chunk) error {
		own = take(p)
		return own
	}
	result, err := r.DeriveTo(ctx, m, sinks)
	if err != nil && own == nil {
		return result, walkError{err}
	}
	return result, own
}

// columnWriter gives a way to put the columns of a study.
func columnWriter(ctx context.Context, tx *sql.Tx, study int64, key []byte) (func(name string, chunk int, data []byte) error, error) {
	// The end of the transaction closes it.
	put, err := tx.PrepareContext(ctx, `INSERT INTO columns (study, name, piece, data, sum) VALUES (?,?,?,?,?)`)
	return func(name string, chunk int, data []byte) error {
		_, err := put.ExecContext(ctx, study, name, chunk, data, store.Checksum(key, []byte(name), data))
		return err
	}, err
}

// keepRows derives the rows of a run and puts them in place of those of its name. The figures
// of the same walk are kept too. What cannot be written does not end the walk; derived is nil
// before it.
func (x *Index) keepRows(ctx context.Context, m store.Reader, tx *sql.Tx, r *run.Run, key []byte, sinks evaluate.Sinks) (derived *score.Result, err error) {
	if _, err := tx.ExecContext(ctx, `DELETE FROM columns WHERE study IN (SELECT id FROM studies WHERE name = ?1);
		DELETE FROM words WHERE study IN (SELECT id FROM studies WHERE name = ?1); DELETE FROM studies WHERE name = ?1`, r.Name); err != nil {
		return nil, err
	}
	done, err := tx.ExecContext(ctx, `INSERT INTO studies (id, name, key, lacking, failed, about, sum) VALUES (abs(random()), ?, ?, x'', x'', x'', 0)`, r.Name, key)
	if err != nil {
		return nil, err
	}
	id, err := done.LastInsertId()
	if err != nil {
		return nil, err
	}
	put, err := columnWriter(ctx, tx, id, key)
	if err != nil {
		return nil, err
	}
	w, err := newRowWriter(r, put)
	if err != nil {
		return nil, walkError{err}
	}
	said, err := saidOf(ctx, m, r)
	if err != nil {
		return nil, walkError{err}
	}
	own, outer := sinks, sinks.Usage
	own.Usage, own.UsageOf = price.Usage{}, map[string]price.Usage{}
	lacking, err := newCollector(ctx, m, &own)
	if err != nil {
		return nil, walkError{err}
	}
	var failed error
	result, err := walk(ctx, m, r, own, func(p score.Chunk) error {
		if failed == nil && !lacking.many {
			failed = w.add(p)
		}
		if sinks.Chunk == nil {
			return nil
		}
		if err := sinks.Chunk(p); err != nil {
			return walkError{err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if outer != nil {
		outer.AddUsage(own.Usage)
	}
	b, ok := lacking.basis()
	if failed != nil || !ok || !m.LeftOut().Sound() {
		return &result, cmp.Or(failed, errMany)
	}
	if key, ok := x.keyOf(m, r, "figures"); ok {
		if err := putFigures(ctx, tx, r.Name, key, said, b, &result, own.Usage); err != nil {
			return &result, err
		}
	}
	for _, s := range w.Samples {
		w.Used = append(w.Used, keptUsageOf(own.UsageOf[s.Target]))
	}
	w.Words, w.Subjects = w.vocabulary.Most()
	text, err := json.Marshal(w.about)
	if err != nil {
		return &result, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE studies SET lacking = ?, failed = ?, about = ?, sum = ? WHERE id = ?`,
		notNil(b.lacking), b.failed, text, store.Checksum(key, b.lacking, b.failed, text), id)
	return &result, err
}

// keptStudy gives the kept rows if they still hold, otherwise nil.
func (x *Index) keptStudy(ctx context.Context, m store.Reader, r *run.Run, key []byte) (*Study, error) {
	s := &Study{x: x, key: key, run: r}
	b := &s.basis
	var text []byte
	var sum int64
	err := x.usable().QueryRowContext(ctx, `SELECT id, lacking, failed, about, sum FROM studies WHERE key = ?`, key).Scan(&s.id, &b.lacking, &b.failed, &text, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case sum != store.Checksum(key, b.lacking, b.failed, text) || json.Unmarshal(text, &s.about) != nil:
		return nil, errDamaged
	}
	if ok, err := b.holds(ctx, m); !ok || err != nil {
		return nil, err
	}
	s.starts = []int{0}
	for _, p := range s.Chunks {
		s.starts = append(s.starts, s.starts[len(s.starts)-1]+p.Prompts*len(s.Samples))
	}
	return s, nil
}

// errStop ends a walk when the caller wants no more rows.
var errStop = errors.New("enough")
