package logs

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// Options say how a log is read.
type Options struct {
	Columns rows.ExchangeColumns
	// Flagged are the words of guards that mean that they stopped a text; nil for the usual
	// ones. Then an unknown word is an error.
	Flagged []string
	// Refuses are beginnings of replies that count as refusals, such as those of the
	// product's own texts.
	Refuses []string
	// Mask masks the texts of looks and of Result.Fixed; nil leaves them as they are.
	Mask *Masker
	// Stdin is what the file "-" reads.
	Stdin io.Reader
	// SoFar is called now and then with the number of exchanges so far and those refused
	// among them; nil for no calls.
	SoFar func(exchanges, refused int)
}

// piece is what some records of a log say.
type piece struct {
	rows int
	all  []read
	left map[string]int
}

// read is an exchange with its verdict.
type read struct {
	rows.Exchange
	before, after bool
	verdict       verdict
	end           End
}

// verdict is what is made of the texts of an exchange.
type verdict struct {
	class orbench.Class
	kind  Kind
}

// pieceSize is the number of records in a piece.
const pieceSize = 256

// Read reads logs, one after the other, and counts who refused. A file that cannot be read
// is an *orbench.InputError, and nothing is returned. Its memory grows by about 100 bytes
// with each exchange that differs from all others and with each user; where rows are messages,
// it holds their texts. Notes say what the
// user must know of the files.
func Read(ctx context.Context, files []string, o Options) (Result, []string, error) {
	return newCounter(o).read(ctx, files)
}

func (c *counter) read(ctx context.Context, files []string) (r Result, notes []string, err error) {
	judged := newVerdicts(c.seed)
	for _, file := range files {
		if err := c.readFile(ctx, file, judged); err != nil {
			return Result{}, nil, err
		}
	}
	r = c.result()
	r.Files = files
	return r, c.notes, nil
}

// readFile counts the exchanges of a file. Its rows are read one after the other; what is in
// them is found and judged on all processors, and counted in the order of the rows.
func (c *counter) readFile(ctx context.Context, path string, judged *verdicts) (err error) {
	log, err := rows.OpenLog(path, c.o.Stdin, c.o.Columns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	judge := func(_ context.Context, records []rows.Record) (piece, error) { return c.o.judge(records, judged) }
	prompts, replies := false, false
	err = job.InOrder(ctx, 2*runtime.GOMAXPROCS(0), job.Pieces(log.Records, pieceSize), judge, func(p piece) error {
		c.rows += p.rows
		for reason, n := range p.left {
			c.left[reason] += n
		}
		prompts = prompts || p.left[rows.LacksReply] > 0
		for range p.left[rows.LacksTool] {
			c.transcripts.add(Stopped, &rows.Exchange{})
		}
		for _, e := range p.all {
			c.transcripts.add(e.end, &e.Exchange)
			prompts, replies = true, replies || e.Reply != "" || e.Block != nil
			c.add(e)
		}
		return nil
	})
	if err == nil {
		err = log.Check(prompts, replies, c.left)
	}
	c.notes = append(c.notes, log.Notes...)
	return err
}

// judge finds the exchanges of records and their verdicts.
func (o Options) judge(records []rows.Record, judged *verdicts) (piece, error) {
	p := piece{rows: len(records), left: map[string]int{}}
	for _, r := range records {
		e, err := r.Exchange()
		if err != nil {
			return p, err
		}
		one := read{Exchange: e}
		if e.Prompt != "" {
			if one.before, err = o.flags(e.Before, "guard-column", r); err != nil {
				return p, err
			}
			if one.after, err = o.flags(e.After, "guard-after-column", r); err != nil {
				return p, err
			}
		}
		flagged := one.before || one.after
		if e.Lacks != "" && !flagged {
			p.left[e.Lacks]++
			continue
		}
		if e.Score != "" && math.IsNaN(scoreOf(e.Score)) {
			return p, r.Fault(fmt.Sprintf("the guard's score %.40q is no number", e.Score), "name another column with `score-column`")
		}
		one.verdict = judged.of(e)
		if one.verdict.class == orbench.Empty && !flagged && !o.refuses(e.Reply) {
			p.left[rows.LacksReply]++
			continue
		}
		one.end = endOf(e, one.verdict)
		if one.end == Stopped && !flagged {
			// What is said beside a call is no reply.
			p.left[rows.LacksTool]++
			continue
		}
		p.all = append(p.all, one)
	}
	return p, nil
}

// verdicts are those of the exchanges so far. Equal exchanges are judged once, or seldom
// twice at the same time. A verdict is kept as its number in known, which holds no pointer:
// millions of them must not be walked over.
type verdicts struct {
	seed  maphash.Seed
	lock  sync.Mutex
	seen  map[uint64]uint8
	known []verdict
}

// of gives the verdict on an exchange.
func (v *verdicts) of(e rows.Exchange) verdict {
	var h maphash.Hash
	h.SetSeed(v.seed)
	for _, text := range []string{e.Prompt, e.Reply, string(e.Finish)} {
		h.WriteString(text)
		h.WriteByte(0)
	}
	key := h.Sum64()
	v.lock.Lock()
	n, seen := v.seen[key]
	v.lock.Unlock()
	if seen {
		return v.known[n]
	}
	answer := reply.Reading{}.Answer(model.Response{Text: e.Reply, Finish: e.Finish, Block: e.Block})
	said, settled := judge.Settled(answer)
	switch {
	case answer.Read != nil && answer.Read.Missing != "":
		said.Class = orbench.Empty
	case !settled:
		said = refusal.Detect(e.Prompt, answer.Text)
	}
	one := verdict{said.Class, kindOf(said)}
	v.lock.Lock()
	v.seen[key] = uint8(slices.Index(v.known, one))
	v.lock.Unlock()
	return one
}

// newVerdicts makes an empty verdicts that knows every verdict that there can be.
func newVerdicts(seed maphash.Seed) *verdicts {
	v := &verdicts{seed: seed, seen: map[uint64]uint8{}}
	for _, class := range append([]orbench.Class{orbench.Unjudged}, orbench.Classes...) {
		for _, reason := range []orbench.Reason{orbench.NoReason, orbench.ReasonMissing} {
			one := verdict{class, kindOf(orbench.Verdict{Class: class, Reason: reason})}
			if !slices.Contains(v.known, one) {
				v.known = append(v.known, one)
			}
		}
	}
	return v
}

// refuses reports whether a reply begins as the user says that refusals do.
func (o Options) refuses(reply string) bool {
	reply = strings.TrimSpace(reply)
	return slices.ContainsFunc(o.Refuses, func(beginning string) bool { return strings.HasPrefix(reply, beginning) })
}
