package store

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"
	"time"

	json "github.com/go-json-experiment/json/v1"
)

// Amount is so many requests, tokens of input and output, and US dollars.
type Amount struct {
	Requests int     `json:"requests,omitempty"`
	Tokens   int     `json:"tokens,omitempty"`
	USD      float64 `json:"usd,omitempty"`
}

// Share is what one command or worker takes of what is spent on a study.
type Share struct {
	// ID is a random name. The share without one is what was spent before the others began.
	ID string `json:"-"`
	// Began is when who has the share did; no two shares of a study have the same.
	Began time.Time `json:"began,omitzero"`
	// Judging is true of a command that asks no target.
	Judging bool `json:"judging,omitempty"`
	// Answers is what replies have cost that the store holds, and Failed the most that attempts
	// without a reply may have, of which so many are Charged for. Their price is unknown where
	// Unpriced is true.
	Answers  Amount `json:"answers,omitzero"`
	Failed   Amount `json:"failed,omitzero"`
	Charged  int    `json:"charged,omitempty"`
	Unpriced bool   `json:"unpriced,omitempty"`
	// Held is what may be spent beside that, and may have been by now.
	Held Amount `json:"held,omitzero"`
	// Live is true while who has it is at work, as far as is known.
	Live bool `json:"-"`
}

// here names where this process runs.
var here = sync.OnceValue(ProcessPlace)

// Shares implements Reader.
func (t *Tables) Shares(ctx context.Context, study string) ([]Share, error) {
	now, err := t.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := found(ctx, t, t.readShare(study, now, Term, map[string]int64{}), selectShares, study)
	sortShares(all)
	return all, err
}

const selectShares = `SELECT id, place, pid, until, share FROM shares WHERE study = $1`

// readShare reads shares of a study, and until when each was said to be at work.
func (t *Tables) readShare(study string, now time.Time, term time.Duration, untils map[string]int64) func(Scan) (Share, error) {
	return func(scan Scan) (s Share, err error) {
		var id, place, share []byte
		var pid int
		var until int64
		if err := scan(&id, &place, &pid, &until, &share); err != nil {
			return s, err
		}
		if json.Unmarshal(share, &s) != nil {
			return s, ErrChanged
		}
		s.ID = string(id)
		untils[s.ID] = until
		switch {
		case until == 0, string(place) != "" && string(place) == here() && ProcessGone(pid):
		case t.Watch == nil:
			s.Live = until > now.UnixNano()
		default:
			s.Live = !t.Watch.Over(study+"\n"+s.ID, until, term)
		}
		return s, nil
	}
}

// sortShares has shares in the order in which they began.
func sortShares(all []Share) {
	slices.SortFunc(all, func(a, b Share) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID)) })
}

// ChangeShares implements Writer.
func (t *Tables) ChangeShares(ctx context.Context, study string, term time.Duration, change func(all []Share) (put []Share, drop []string)) error {
	now, err := t.Now(ctx)
	if err != nil {
		return err
	}
	return t.Briefly(ctx, func(query func(row func(Scan) error, query string, args ...any) error, exec func(query string, args ...any) error) error {
		var all []Share
		untils := map[string]int64{}
		read := t.readShare(study, now, term, untils)
		err := query(func(scan Scan) error {
			s, err := read(scan)
			all = append(all, s)
			return err
		}, selectShares, study)
		if err != nil {
			return err
		}
		sortShares(all)
		put, drop := change(all)
		for _, id := range drop {
			if err := exec(`DELETE FROM shares WHERE study = $1 AND id = $2`, study, id); err != nil {
				return err
			}
		}
		for _, s := range put {
			text, err := json.Marshal(s)
			if err != nil {
				return err
			}
			until := int64(0)
			if s.Live {
				until = max(now.Add(term).UnixNano(), untils[s.ID]+1)
			}
			err = exec(`INSERT INTO shares (study, id, place, pid, until, share) VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (study, id) DO UPDATE SET until = excluded.until, share = excluded.share`,
				study, s.ID, here(), os.Getpid(), until, string(text))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
