package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"iter"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
)

// PutDataset implements store.Backend.
func (s *Store) PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error {
	key := store.KeyOf(about)
	if kept, err := s.Dataset(ctx, key); !errors.Is(err, store.ErrNoDataset) && (err != nil || kept.Lost == 0) {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		put, err := tx.PrepareContext(ctx, `INSERT INTO pieces (hash, prompts) VALUES (?,?) ON CONFLICT (hash) DO NOTHING`)
		if err != nil {
			return err
		}
		defer put.Close()
		cut, err := store.CutPieces(prompts, func(hash, text []byte) error {
			_, err := put.ExecContext(ctx, hash, string(text))
			return err
		})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO datasets (key, about, prompts, sum, pieces, checksum) VALUES (?,?,?,?,?,?)
			ON CONFLICT (key) DO UPDATE SET pieces = excluded.pieces, checksum = excluded.checksum`,
			key[:], string(about), cut.Prompts, cut.Sum[:], cut.Hashes, datasetChecksum(key[:], about, cut.Prompts, cut.Sum[:], cut.Hashes))
		return err
	})
}

// datasetChecksum is the checksum of a dataset.
func datasetChecksum(key, about []byte, prompts int, sum, pieces []byte) int64 {
	return store.Checksum(key, about, strconv.AppendInt(nil, int64(prompts), 10), sum, pieces)
}

// Dataset implements store.Backend.
func (s *Store) Dataset(ctx context.Context, key store.Key) (store.Dataset, error) {
	d, _, err := s.dataset(ctx, key)
	return d, err
}

// dataset is Dataset, with its pieces.
func (s *Store) dataset(ctx context.Context, key store.Key) (d store.Dataset, p store.Pieces, err error) {
	var sum, pieces []byte
	var stored any
	err = s.readers.QueryRowContext(ctx, `SELECT about, prompts, sum, pieces, checksum FROM datasets WHERE key = ?`, key[:]).
		Scan(&d.About, &d.Prompts, &sum, &pieces, &stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = store.ErrNoDataset
	case err == nil && (store.KeyOf(d.About) != key || stored != nil && stored != datasetChecksum(key[:], d.About, d.Prompts, sum, pieces)):
		err = errChanged
	}
	if err != nil {
		return d, p, s.at(err)
	}
	copy(d.Sum[:], sum)
	p = store.Pieces{Prompts: d.Prompts, Sum: d.Sum, Hashes: pieces}
	d.Lost = p.Lost()
	return d, p, nil
}

// Datasets implements store.Backend.
func (s *Store) Datasets(ctx context.Context) ([]store.Key, error) {
	found, err := s.readers.QueryContext(ctx, `SELECT key FROM datasets ORDER BY rowid`)
	if err != nil {
		return nil, s.at(err)
	}
	var keys []store.Key
	err = scanAll(found, func(rows *sql.Rows) error {
		var key []byte
		err := rows.Scan(&key)
		keys = append(keys, store.Key(hashOf(key)))
		return err
	})
	if err != nil {
		return nil, s.at(err)
	}
	return keys, nil
}

// Prompts implements store.Backend.
func (s *Store) Prompts(ctx context.Context, key store.Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		_, p, err := s.dataset(ctx, key)
		if err != nil {
			yield(orbench.Prompt{}, err)
			return
		}
		for prompt, err := range p.Read(func(hash []byte) ([]byte, error) { return s.piece(ctx, hash) }) {
			if err != nil && !errors.Is(err, orbench.ErrInput) {
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
	_, p, err := s.dataset(ctx, key)
	if err != nil {
		return nil, err
	}
	found, err := p.At(at, func(hash []byte) ([]byte, error) { return s.pieceText(ctx, hash) })
	if err != nil && !errors.Is(err, orbench.ErrInput) {
		err = s.at(err)
	}
	return found, err
}

// VerifyPrompts reads all prompts of a dataset but those that are lost, and gives the error
// that Prompts would.
func (s *Store) VerifyPrompts(ctx context.Context, key store.Key) error {
	_, p, err := s.dataset(ctx, key)
	if err != nil {
		return err
	}
	for hash := range p.Each() {
		if _, err := s.piece(ctx, hash); err != nil {
			return err
		}
	}
	return nil
}

// piece finds the text of a piece, and sees that it is what was written.
func (s *Store) piece(ctx context.Context, hash []byte) (piece []byte, err error) {
	piece, err = s.pieceText(ctx, hash)
	if err == nil && sha256.Sum256(piece) != [sha256.Size]byte(hash) {
		return nil, damaged(s.path, errors.New("a piece of the prompts of a dataset is not what its hash says"))
	}
	return piece, err
}

// pieceText finds the text of a piece.
func (s *Store) pieceText(ctx context.Context, hash []byte) (piece []byte, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT prompts FROM pieces WHERE hash = ?`, hash).Scan(&piece)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, damaged(s.path, errors.New("a piece of the prompts of a dataset is lacking"))
	case err != nil:
		return nil, s.at(err)
	}
	return piece, nil
}
