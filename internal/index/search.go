package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"strings"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/words"
)

const (
	// promptTextColumn has the numbers of the texts of prompts, 4 bytes each; textColumn has
	// those of answers.
	promptTextColumn = "prompt text"
	// noText is the number of a text that is empty, or not there.
	noText = 1<<32 - 1
	// segmentBytes is about how much memory the lists of a segment take before it is written.
	segmentBytes = 32 << 20
	// blockBytes is how much of a segment is read at a time, unless a list is longer.
	blockBytes = 32 << 10
	// textsAtOnce is how many texts are passed on together.
	textsAtOnce = 512
)

// numbered is a text with its number.
type numbered struct {
	number uint32
	text   string
}

// textWriter numbers the texts of a walk, each once, and lists their words.
type textWriter struct {
	seed   maphash.Seed
	other  maphash.Seed
	known  map[[2]uint64]uint32
	some   []numbered
	listed chan []numbered
}

// number is that of a text.
func (w *textWriter) number(text string) uint32 {
	if text == "" {
		return noText
	}
	hash := [2]uint64{maphash.String(w.seed, text), maphash.String(w.other, text)}
	n, ok := w.known[hash]
	if !ok {
		n = uint32(len(w.known))
		w.known[hash] = n
		if w.some = append(w.some, numbered{n, text}); len(w.some) == textsAtOnce {
			w.hand()
		}
	}
	return n
}

// hand passes on the texts so far, to have their words listed.
func (w *textWriter) hand() {
	if len(w.some) > 0 {
		w.listed <- w.some
		w.some = nil
	}
}

// Texts lists the words of a study's texts for Search, each text once, unless that is done.
// walked is as in evaluate.Sinks. It reports false where they cannot be kept.
func (s *Study) Texts(ctx context.Context, m store.Reader, walked func(int)) (bool, error) {
	db := s.x.usable()
	if db == nil {
		return false, nil
	}
	var texts int
	switch err := db.QueryRowContext(ctx, `SELECT texts FROM studies WHERE id = ? AND key = ?`, s.id, s.key).Scan(&texts); {
	case err != nil:
		s.x.fail(ctx, err)
		return false, nil
	case texts > 0:
		return true, nil
	}
	return s.x.keep(ctx, m, func(tx *sql.Tx) error { return s.putTexts(ctx, m, tx, walked) })
}

// putTexts lists the words of all texts.
func (s *Study) putTexts(ctx context.Context, m store.Reader, tx *sql.Tx, walked func(int)) error {
	put, err := columnWriter(ctx, tx, s.id, s.key)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	segments := 0
	putSegment := func(g *words.Lists) error {
		mu.Lock()
		defer mu.Unlock()
		segments++
		return g.Write(blockBytes, func(first string, data []byte) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO words (study, segment, first, data, sum) VALUES (?,?,?,?,?)`,
				s.id, segments, []byte(first), data, store.Checksum(s.key, []byte(first), data))
			return err
		})
	}
	w := &textWriter{seed: maphash.MakeSeed(), other: maphash.MakeSeed(), known: map[[2]uint64]uint32{}, listed: make(chan []numbered, 8)}
	var workers sync.WaitGroup
	var faults []error
	for range min(runtime.GOMAXPROCS(0), 4) {
		workers.Go(func() {
			var err error
			g := words.New()
			for some := range w.listed {
				for _, t := range some {
					g.Add(t.number, t.text)
				}
				if g.Bytes() > segmentBytes && err == nil {
					err = putSegment(g)
					g = words.New()
				}
			}
			if err == nil {
				err = putSegment(g)
			}
			mu.Lock()
			defer mu.Unlock()
			faults = append(faults, err)
		})
	}
	bare := *s.run
	bare.Judges = nil
	chunks := 0
	_, err = walk(ctx, m, &bare, evaluate.Sinks{Walked: walked}, func(p score.Chunk) error {
		if chunks >= len(s.Chunks) || s.Chunks[chunks] != (chunk{p.Dataset, len(p.Prompts)}) {
			return fmt.Errorf("%w: the run has other prompts", errDamaged)
		}
		var prompts, answers []byte
		for i := range p.Prompts {
			prompts = binary.LittleEndian.AppendUint32(prompts, w.number(p.Prompts[i].Said()))
			for _, samples := range p.Rows {
				for _, rows := range samples {
					answers = binary.LittleEndian.AppendUint32(answers, w.number(rows[i].Response.Text))
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		chunks++
		return errors.Join(put(promptTextColumn, chunks-1, prompts), put(textColumn, chunks-1, answers))
	})
	w.hand()
	close(w.listed)
	workers.Wait()
	if err := cmp.Or(errors.Join(faults...), err); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE studies SET texts = ? WHERE id = ?`, max(1, len(w.known)), s.id)
	return err
}

// Search finds the rows whose prompt or answer has all words of a query, by
// position. A word that ends in * matches all words that begin so. Call Texts first.
func (s *Study) Search(ctx context.Context, query string) (words.Set, error) {
	db := s.x.usable()
	if db == nil {
		return nil, ErrGone
	}
	var texts, segments int
	err := db.QueryRowContext(ctx, `SELECT texts, (SELECT coalesce(max(segment), 0) FROM words WHERE study = ?1) FROM studies WHERE id = ?1 AND key = ?2`, s.id, s.key).Scan(&texts, &segments)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrGone
	}
	if err != nil {
		return nil, err
	}
	if texts == 0 {
		return nil, errors.New("the texts of the run were not indexed")
	}
	var found words.Set
	for field := range strings.FieldsSeq(query) {
		prefix := strings.HasSuffix(field, "*")
		var all []string
		words.Each(field, nil, func(word []byte) { all = append(all, string(word)) })
		for i, word := range all {
			has := words.NewSet(texts)
			for n := range segments {
				if err := s.texts(ctx, db, n+1, word, prefix && i == len(all)-1, has); err != nil {
					return nil, err
				}
			}
			found = found.And(has)
		}
	}
	if found == nil {
		return nil, &orbench.InputError{Setting: "search", Problem: fmt.Sprintf("%q has no word", query), Hint: "give letters or digits"}
	}
	return s.rowsOf(ctx, found)
}

// texts adds to has those texts of a segment that have the word, or a word that begins with
// it.
func (s *Study) texts(ctx context.Context, db *sql.DB, segment int, word string, prefix bool, has words.Set) error {
	// The block that may have the word is the last that begins no later, and for a prefix all
	// after it, until one begins with other letters.
	rows, err := db.QueryContext(ctx, `SELECT first, data, sum FROM words WHERE study = ?1 AND segment = ?2 AND first >=
		coalesce((SELECT max(first) FROM words WHERE study = ?1 AND segment = ?2 AND first <= ?3), x'') ORDER BY first`, s.id, segment, []byte(word))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var first, data sql.RawBytes
		var sum int64
		if err := rows.Scan(&first, &data, &sum); err != nil {
			return err
		}
		if string(first) > word && !(prefix && strings.HasPrefix(string(first), word)) {
			break
		}
		if sum != store.Checksum(s.key, first, data) {
			return errDamaged
		}
		if !words.Find(data, word, prefix, has) {
			return errDamaged
		}
		if !prefix {
			break
		}
	}
	return rows.Err()
}

// rowsOf gives the rows that have one of some texts.
func (s *Study) rowsOf(ctx context.Context, texts words.Set) (words.Set, error) {
	answers, err := s.column(ctx, textColumn)
	if err != nil {
		return nil, err
	}
	found := words.NewSet(s.Answers())
	for position, n := range answers {
		if texts.Has(int(n)) {
			found.Add(position)
		}
	}
	return found, s.each(ctx, promptTextColumn, func(chunk int, data []byte) error {
		for i := range len(data) / 4 {
			if !texts.Has(int(binary.LittleEndian.Uint32(data[4*i:]))) {
				continue
			}
			for n := range s.Samples {
				found.Add(s.starts[chunk] + i*len(s.Samples) + n)
			}
		}
		return nil
	})
}
