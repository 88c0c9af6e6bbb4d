package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/words"
)

const (
	// segmentBytes is about how much memory the lists of a segment take before it is written.
	segmentBytes = 64 << 20
	// blockBytes is how much of a segment is read at a time, unless a list is longer.
	blockBytes = 32 << 10
)

// Texts lists the words of a study's texts for Search, unless that is done.
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

// putTexts lists the words of all texts: of each prompt, its own and the answers to it, in the
// order of rows.
func (s *Study) putTexts(ctx context.Context, m store.Reader, tx *sql.Tx, walked func(int)) error {
	lists, segments, texts := words.New(), 0, uint32(0)
	put := func() error {
		segments++
		return lists.Write(blockBytes, func(first string, data []byte) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO words (study, segment, first, data, sum) VALUES (?,?,?,?,?)`,
				s.id, segments, []byte(first), data, store.Checksum(s.key, []byte(first), data))
			return err
		})
	}
	bare := *s.run
	bare.Judges = nil
	chunks := 0
	// The words of a chunk are listed while the next is derived.
	var listing sync.WaitGroup
	_, err := walk(ctx, m, &bare, evaluate.Sinks{Walked: walked}, func(p score.Chunk) error {
		if chunks >= len(s.Chunks) || s.Chunks[chunks] != (chunk{p.Dataset, len(p.Prompts)}) {
			return fmt.Errorf("%w: the run has other prompts", errDamaged)
		}
		chunks++
		some := facet.Texts(p)
		listing.Wait()
		if lists.Bytes() > segmentBytes {
			if err := put(); err != nil {
				return err
			}
			lists = words.New()
		}
		listing.Go(func() {
			for _, text := range some {
				lists.Add(texts, text)
				texts++
			}
		})
		return nil
	})
	listing.Wait()
	if err == nil {
		err = put()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE studies SET texts = ? WHERE id = ?`, max(1, texts), s.id)
	}
	return err
}

// Search finds the rows whose prompt or answer has all words of a query, by
// position. A word that ends in * matches all words that begin so, and words.OfPrompt before
// it finds the word in prompts alone. Call Texts first.
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
		field, ofPrompt := strings.CutPrefix(field, words.OfPrompt)
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
		if ofPrompt {
			asked := words.NewSet(texts)
			for text := 0; text < texts; text += 1 + len(s.Samples) {
				asked.Add(text)
			}
			found = asked.And(found)
		}
	}
	if found == nil {
		return nil, &orbench.InputError{Setting: "search", Problem: fmt.Sprintf("%q has no word", query), Hint: "give letters or digits"}
	}
	return s.rowsOf(found), nil
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

// rowsOf gives the rows that have one of some texts: their prompt's, or their own.
func (s *Study) rowsOf(texts words.Set) words.Set {
	found, text := words.NewSet(s.Answers()), 0
	for position := 0; position < s.Answers(); {
		prompt := texts.Has(text)
		text++
		for range s.Samples {
			if prompt || texts.Has(text) {
				found.Add(position)
			}
			position++
			text++
		}
	}
	return found
}
