package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/memo"
)

// PutDataset implements memo.Store.
func (s *Store) PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error {
	key := memo.KeyOf(about)
	if _, _, err := s.dataset(ctx, key); !errors.Is(err, memo.ErrNoDataset) {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		// Another process may have added it meanwhile. Its place is taken before the
		// rows are, so that the two cannot both add them.
		taken, err := tx.ExecContext(ctx, `INSERT INTO datasets (key, about, first_row, prompts, sum)
			SELECT ?, ?, coalesce(max(id), 0) + 1, 0, x'' FROM dataset_rows WHERE true ON CONFLICT (key) DO NOTHING`, key[:], string(about))
		if err != nil {
			return err
		}
		if n, err := taken.RowsAffected(); err != nil || n == 0 {
			return err
		}
		n, sum, err := addPrompts(ctx, tx, prompts)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE datasets SET prompts = ?, sum = ? WHERE key = ?`, n, sum[:], key[:])
		return err
	})
}

// addPrompts adds the rows of a dataset, and gives how many there are and their Sum.
func addPrompts(ctx context.Context, tx *sql.Tx, prompts iter.Seq2[orbench.Prompt, error]) (n int, sum [32]byte, err error) {
	var add, find, row *sql.Stmt
	for into, query := range map[**sql.Stmt]string{
		&add:  `INSERT INTO prompts (hash, messages) VALUES (?,?) ON CONFLICT (hash) DO NOTHING`,
		&find: `SELECT id FROM prompts WHERE hash = ?`,
		&row:  `INSERT INTO dataset_rows (prompt, label, category, cluster, pair) VALUES (?,?,?,?,?)`,
	} {
		if *into, err = tx.PrepareContext(ctx, query); err != nil {
			return 0, sum, err
		}
		defer (*into).Close()
	}
	total := memo.NewSum()
	for p, err := range prompts {
		if err != nil {
			return 0, sum, err
		}
		messages, err := json.Marshal(p.Messages)
		if err != nil {
			return 0, sum, err
		}
		hash := orbench.PromptSubject(p.Messages)
		added, err := add.ExecContext(ctx, hash[:], string(messages))
		if err != nil {
			return 0, sum, err
		}
		id, err := added.LastInsertId()
		if err != nil {
			return 0, sum, err
		}
		if was, err := added.RowsAffected(); err != nil {
			return 0, sum, err
		} else if was == 0 {
			if err := find.QueryRowContext(ctx, hash[:]).Scan(&id); err != nil {
				return 0, sum, err
			}
		}
		if _, err := row.ExecContext(ctx, id, string(p.Label), string(p.Category), p.Cluster, p.Pair); err != nil {
			return 0, sum, err
		}
		total.Add(p)
		n++
	}
	return n, total.Of(), nil
}

// Dataset implements memo.Store.
func (s *Store) Dataset(ctx context.Context, key memo.Key) (memo.Dataset, error) {
	d, _, err := s.dataset(ctx, key)
	return d, err
}

// dataset is Dataset, with the first of its rows.
func (s *Store) dataset(ctx context.Context, key memo.Key) (d memo.Dataset, first int64, err error) {
	var sum []byte
	err = s.readers.QueryRowContext(ctx, `SELECT about, first_row, prompts, sum FROM datasets WHERE key = ?`, key[:]).
		Scan(&d.About, &first, &d.Prompts, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		err = memo.ErrNoDataset
	}
	if err != nil {
		return d, 0, s.at(err)
	}
	copy(d.Sum[:], sum)
	return d, first, nil
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
		keys = append(keys, memo.Key(key))
		return err
	})
	if err != nil {
		return nil, s.at(err)
	}
	return keys, nil
}

// promptsPerQuery is how many prompts are read together: no query stays open while
// the caller works with them.
const promptsPerQuery = 512

// Prompts implements memo.Store.
func (s *Store) Prompts(ctx context.Context, key memo.Key) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		d, first, err := s.dataset(ctx, key)
		end := first + int64(d.Prompts)
		for ; err == nil && first < end; first += promptsPerQuery {
			var read []orbench.Prompt
			last := min(first+promptsPerQuery, end)
			if read, err = s.readPrompts(ctx, first, last); err != nil {
				break
			}
			for _, p := range read {
				if !yield(p, nil) {
					return
				}
			}
			if lacking := int(last-first) - len(read); lacking > 0 {
				err = fmt.Errorf("%s: %d prompts of a dataset are lacking", s.path, lacking)
			}
		}
		if err != nil {
			yield(orbench.Prompt{}, err)
		}
	}
}

// readPrompts reads the rows from first to before last.
func (s *Store) readPrompts(ctx context.Context, first, last int64) ([]orbench.Prompt, error) {
	const query = `SELECT messages, label, category, cluster, pair FROM dataset_rows AS r CROSS JOIN prompts AS p
		WHERE r.id >= ? AND r.id < ? AND p.id = r.prompt ORDER BY r.id`
	found, err := s.readers.QueryContext(ctx, query, first, last)
	if err != nil {
		return nil, s.at(err)
	}
	read := make([]orbench.Prompt, 0, last-first)
	err = scanAll(found, func(rows *sql.Rows) error {
		var messages sql.RawBytes
		var p orbench.Prompt
		if err := rows.Scan(&messages, &p.Label, &p.Category, &p.Cluster, &p.Pair); err != nil {
			return err
		}
		if err := json.Unmarshal(messages, &p.Messages); err != nil {
			return fmt.Errorf("a prompt is damaged: %w", err)
		}
		p.ID = orbench.PromptIDOf(p.Messages)
		read = append(read, p)
		return nil
	})
	if err != nil {
		return nil, s.at(err)
	}
	return read, nil
}
