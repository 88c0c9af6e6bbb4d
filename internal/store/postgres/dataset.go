package postgres

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
)

// PutDataset implements store.Backend.
func (s *Store) PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error {
	key := store.KeyOf(about)
	if kept, err := s.pieces(ctx, key, nil); !errors.Is(err, store.ErrNoDataset) && (err != nil || kept.Lost() == 0) {
		return err
	}
	return s.inTx(ctx, func(tx pgx.Tx) error {
		// Two that put the same pieces in another order would wait for each other forever.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('orbench datasets ' || $1, 0))`, s.schema); err != nil {
			return err
		}
		cut, err := store.CutPieces(prompts, func(hash, text []byte) error {
			_, err := tx.Exec(ctx, `INSERT INTO pieces (hash, prompts) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`, hash, text)
			return err
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO datasets (key, about, prompts, sum, pieces, checksum) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (key) DO UPDATE SET pieces = excluded.pieces, checksum = excluded.checksum`,
			key[:], about, cut.Prompts, cut.Sum[:], cut.Hashes, datasetChecksum(key[:], about, cut))
		return err
	})
}

// datasetChecksum is the checksum of a dataset.
func datasetChecksum(key, about []byte, p store.Pieces) int64 {
	return store.Checksum(key, about, strconv.AppendInt(nil, int64(p.Prompts), 10), p.Sum[:], p.Hashes)
}

// Dataset implements store.Backend.
func (s *Store) Dataset(ctx context.Context, key store.Key) (d store.Dataset, err error) {
	p, err := s.pieces(ctx, key, &d.About)
	if err != nil {
		return store.Dataset{}, err
	}
	d.Prompts, d.Sum, d.Lost = p.Prompts, p.Sum, p.Lost()
	return d, nil
}

// pieces finds the pieces of a dataset, and what it is about where that is not nil.
func (s *Store) pieces(ctx context.Context, key store.Key, about *[]byte) (p store.Pieces, err error) {
	var is, sum []byte
	var stored int64
	ok, err := s.one(ctx, []any{&is, &p.Prompts, &sum, &p.Hashes, &stored},
		`SELECT about, prompts, sum, pieces, checksum FROM datasets WHERE key = $1`, key[:])
	if err != nil {
		return p, err
	}
	if !ok {
		return p, s.at(store.ErrNoDataset)
	}
	if p.Sum = hashOf(sum); store.KeyOf(is) != key || stored != datasetChecksum(key[:], is, p) {
		return p, s.at(errChanged)
	}
	if about != nil {
		*about = is
	}
	return p, nil
}

// Datasets implements store.Backend.
func (s *Store) Datasets(ctx context.Context) (keys []store.Key, err error) {
	err = s.query(ctx, func() { keys = nil }, func(rows pgx.Rows) error {
		var key []byte
		err := rows.Scan(&key)
		keys = append(keys, store.Key(hashOf(key)))
		return err
	}, `SELECT key FROM datasets ORDER BY id`)
	return keys, err
}

// Prompts implements store.Backend.
func (s *Store) Prompts(ctx context.Context, key store.Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		p, err := s.pieces(ctx, key, nil)
		if err != nil {
			yield(orbench.Prompt{}, err)
			return
		}
		for prompt, err := range p.Read(func(hash []byte) ([]byte, error) { return s.piece(ctx, hash) }) {
			if err != nil {
				err = s.at(err)
			}
			if !yield(prompt, err) {
				return
			}
		}
	}
}

// PromptsAt implements store.Backend.
func (s *Store) PromptsAt(ctx context.Context, key store.Key, at []int) ([]orbench.Prompt, error) {
	p, err := s.pieces(ctx, key, nil)
	if err != nil {
		return nil, err
	}
	found, err := p.At(at, func(hash []byte) ([]byte, error) { return s.piece(ctx, hash) })
	if err != nil {
		err = s.at(err)
	}
	return found, err
}

// piece finds the text of a piece.
func (s *Store) piece(ctx context.Context, hash []byte) (text []byte, err error) {
	ok, err := s.one(ctx, []any{&text}, `SELECT prompts FROM pieces WHERE hash = $1`, hash)
	if err == nil && !ok {
		err = store.Damage("a piece of the prompts of a dataset is lacking")
	}
	return text, err
}
