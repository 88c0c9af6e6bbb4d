package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strconv"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/model"
)

// piecePrompts is how many prompts are kept and read together: a row for each of them
// would cost as much as the row of its answer. Datasets that begin alike share pieces.
const piecePrompts = 512

// PutDataset implements memo.Store.
func (s *Store) PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error {
	key := memo.KeyOf(about)
	if kept, _, err := s.dataset(ctx, key); !errors.Is(err, memo.ErrNoDataset) && (err != nil || kept.Lost == 0) {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		put, err := tx.PrepareContext(ctx, `INSERT INTO pieces (hash, prompts) VALUES (?,?) ON CONFLICT (hash) DO NOTHING`)
		if err != nil {
			return err
		}
		defer put.Close()
		n, sum, pieces := 0, memo.NewSum(), []byte{}
		var piece []byte
		end := func() error {
			hash := sha256.Sum256(piece)
			_, err := put.ExecContext(ctx, hash[:], string(piece))
			pieces, piece = append(pieces, hash[:]...), piece[:0]
			return err
		}
		for p, err := range prompts {
			if err != nil {
				return err
			}
			piece = append(piece, sum.Add(p)...)
			if n++; n%piecePrompts == 0 {
				if err := end(); err != nil {
					return err
				}
			}
		}
		if len(piece) > 0 {
			if err := end(); err != nil {
				return err
			}
		}
		total := sum.Of()
		_, err = tx.ExecContext(ctx, `INSERT INTO datasets (key, about, prompts, sum, pieces, checksum) VALUES (?,?,?,?,?,?)
			ON CONFLICT (key) DO UPDATE SET pieces = excluded.pieces, checksum = excluded.checksum`,
			key[:], string(about), n, total[:], pieces, datasetChecksum(key[:], about, n, total[:], pieces))
		return err
	})
}

// datasetChecksum is the checksum of a dataset.
func datasetChecksum(key, about []byte, prompts int, sum, pieces []byte) int64 {
	return checksum(key, about, strconv.AppendInt(nil, int64(prompts), 10), sum, pieces)
}

// Dataset implements memo.Store.
func (s *Store) Dataset(ctx context.Context, key memo.Key) (memo.Dataset, error) {
	d, _, err := s.dataset(ctx, key)
	return d, err
}

// dataset is Dataset, with the hashes of its pieces.
func (s *Store) dataset(ctx context.Context, key memo.Key) (d memo.Dataset, pieces []byte, err error) {
	var sum []byte
	var stored any
	err = s.readers.QueryRowContext(ctx, `SELECT about, prompts, sum, pieces, checksum FROM datasets WHERE key = ?`, key[:]).
		Scan(&d.About, &d.Prompts, &sum, &pieces, &stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = memo.ErrNoDataset
	case err == nil && (memo.KeyOf(d.About) != key || stored != nil && stored != datasetChecksum(key[:], d.About, d.Prompts, sum, pieces)):
		err = errChanged
	}
	if err != nil {
		return d, nil, s.at(err)
	}
	copy(d.Sum[:], sum)
	for i := range len(pieces) / sha256.Size {
		if isLost(pieces[i*sha256.Size:][:sha256.Size]) {
			d.Lost += min(piecePrompts, d.Prompts-i*piecePrompts)
		}
	}
	return d, pieces, nil
}

// Datasets implements memo.Store.
func (s *Store) Datasets(ctx context.Context) ([]memo.Key, error) {
	found, err := s.readers.QueryContext(ctx, `SELECT key FROM datasets ORDER BY rowid`)
	if err != nil {
		return nil, s.at(err)
	}
	var keys []memo.Key
	err = scanAll(found, func(rows *sql.Rows) error {
		var key []byte
		err := rows.Scan(&key)
		keys = append(keys, memo.Key(hashOf(key)))
		return err
	})
	if err != nil {
		return nil, s.at(err)
	}
	return keys, nil
}

// Prompts implements memo.Store.
func (s *Store) Prompts(ctx context.Context, key memo.Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		d, pieces, err := s.dataset(ctx, key)
		if err == nil && len(pieces) != (d.Prompts+piecePrompts-1)/piecePrompts*sha256.Size {
			err = damaged(s.path, errors.New("the list of the pieces of a dataset is cut"))
		}
		d.Prompts -= d.Lost
		for ; err == nil && len(pieces) > 0; pieces = pieces[sha256.Size:] {
			if isLost(pieces[:sha256.Size]) {
				continue
			}
			var read []orbench.Prompt
			if read, err = s.readPiece(ctx, pieces[:sha256.Size]); err != nil {
				break
			}
			for _, p := range read {
				if !yield(p, nil) {
					return
				}
			}
			d.Prompts -= len(read)
		}
		if err == nil && d.Prompts != 0 {
			err = damaged(s.path, fmt.Errorf("%d prompts of a dataset are lacking", d.Prompts))
		}
		if err != nil {
			yield(orbench.Prompt{}, err)
		}
	}
}

// isLost reports whether a piece in the list of a dataset is one that a repair did not
// find.
func isLost(hash []byte) bool { return hashOf(hash) == model.Hash{} }

// VerifyPrompts reads all prompts of a dataset but those that are lost, and gives the error
// that Prompts would.
func (s *Store) VerifyPrompts(ctx context.Context, key memo.Key) error {
	_, pieces, err := s.dataset(ctx, key)
	for ; err == nil && len(pieces) >= sha256.Size; pieces = pieces[sha256.Size:] {
		if !isLost(pieces[:sha256.Size]) {
			_, err = s.piece(ctx, pieces[:sha256.Size])
		}
	}
	return err
}

// readPiece reads the prompts of a piece.
func (s *Store) readPiece(ctx context.Context, hash []byte) (read []orbench.Prompt, err error) {
	piece, err := s.piece(ctx, hash)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(piece)); d.More(); {
		var p orbench.Prompt
		if err := d.Decode(&p); err != nil {
			return nil, damaged(s.path, fmt.Errorf("the prompts of a dataset: %w", err))
		}
		read = append(read, p)
	}
	return read, nil
}

// piece finds the text of a piece.
func (s *Store) piece(ctx context.Context, hash []byte) (piece []byte, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT prompts FROM pieces WHERE hash = ?`, hash).Scan(&piece)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, damaged(s.path, errors.New("a piece of the prompts of a dataset is lacking"))
	case err != nil:
		return nil, s.at(err)
	case sha256.Sum256(piece) != [sha256.Size]byte(hash):
		return nil, damaged(s.path, errors.New("a piece of the prompts of a dataset is not what its hash says"))
	}
	return piece, nil
}
