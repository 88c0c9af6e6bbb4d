package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// filling is how far a study is that other processes fill. It is derived from what the store
// has: the shares of those at work, the calls that are answered, and failures. No record of
// progress is kept.
type filling struct {
	Study string `json:"study"`
	// Began is when the first of those at work did.
	Began time.Time `json:"began"`
	// Answered counts the known calls that have a response, and Of all of them: those that
	// depend on no reply, such as a target's but not a judge's. Both are 0 where there are
	// none, or too many to follow. AtMost is true if the study may end before.
	Answered int  `json:"answered"`
	Of       int  `json:"of"`
	AtMost   bool `json:"at_most,omitempty"`
	// Calls counts the replies of all models since those at work began.
	Calls int `json:"calls"`
	// PerSecond is how many known calls, or else replies, arrived in a second lately.
	PerSecond float64 `json:"per_second"`
	// Failed counts the known calls without a response whose last attempt failed, and
	// Reasons says why, the most frequent first.
	Failed  int      `json:"failed"`
	Reasons []reason `json:"reasons,omitempty"`
	// USD is what those at work have spent; nil where a price is unknown.
	USD *float64 `json:"usd"`
}

// reason is why calls failed.
type reason struct {
	Kind model.Kind `json:"kind"`
	N    int        `json:"n"`
	// Example is what one of them said.
	Example string `json:"example"`
}

// Bounds of what is followed.
const (
	// tickTime is the time between events. A look at what is filled is at least leastLook, and
	// lookFactor times as long as it took, before the next.
	tickTime   = time.Second
	leastLook  = tickTime * 9 / 10
	lookFactor = 20
	// mostLooked is how many of the studies that were started last are looked at: whoever
	// fills one has started it.
	mostLooked = 100
	// mostFollowed is the most known calls of a study that are followed one by one.
	mostFollowed = 1 << 20
	// paceTime is how far back the pace looks.
	paceTime = 15 * time.Second
)

// live is what is known of the studies that are filled. Pages share one look.
type live struct {
	mu    sync.Mutex
	at    time.Time
	took  time.Duration
	found []filling
	// works are those of the last look, by study.
	works map[string]*work
}

// work is a study that is being filled, as it was at the last look.
type work struct {
	config []byte
	// missing are the known calls without a response, and of is the number of all.
	missing []model.Hash
	of      int
	atMost  bool
	looks   []look
}

// look is how much had arrived at a time.
type look struct {
	at      time.Time
	arrived int
}

// fillings gives the studies that are being filled.
func (s *Server) fillings() ([]filling, error) {
	l := &s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	began := time.Now()
	if began.Sub(l.at) < max(leastLook, lookFactor*l.took) {
		return l.found, nil
	}
	all, err := study.List(s.ctx, s.Store)
	if err != nil {
		return nil, err
	}
	works := map[string]*work{}
	found := []filling{}
	for _, one := range all[:min(mostLooked, len(all))] {
		shares, err := one.Shares(s.ctx, s.Store)
		if err != nil {
			return nil, err
		}
		shares = slices.DeleteFunc(shares, func(share store.Share) bool { return !share.Live })
		if len(shares) == 0 || one.Kind.Gone() {
			continue
		}
		w := l.works[one.Name]
		if w == nil || !bytes.Equal(w.config, one.Config) {
			if w, err = s.newWork(s.ctx, one); err != nil {
				return nil, err
			}
		}
		works[one.Name] = w
		f := newFilling(one.Name, shares)
		if err := w.update(s.ctx, s.Store, &f); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	l.works, l.found, l.at, l.took = works, found, time.Now(), time.Since(began)
	return found, nil
}

// newWork begins to follow a study.
func (s *Server) newWork(ctx context.Context, one *study.Study) (*work, error) {
	w := &work{config: one.Config}
	o, err := kinds.Open(ctx, s.Store, one, s.CacheDir)
	if err != nil {
		return nil, err
	}
	j := o.Job
	if j.Fixed == nil || j.Calls > mostFollowed {
		return w, nil
	}
	for request, err := range j.Fixed(ctx) {
		if err != nil {
			return nil, err
		}
		if len(w.missing) == mostFollowed {
			w.missing = nil
			return w, nil
		}
		w.missing = append(w.missing, request.Hash())
	}
	slices.SortFunc(w.missing, compareHashes)
	w.missing = slices.Compact(w.missing)
	w.of, w.atMost = len(w.missing), j.Rounds != nil
	return w, nil
}

// newFilling is a study that is filled by those with some shares.
func newFilling(name string, shares []store.Share) filling {
	f := filling{Study: name, Began: shares[0].Began}
	usd, priced := 0.0, true
	for _, share := range shares {
		f.Calls += share.Answers.Requests
		usd += share.Answers.USD + share.Failed.USD
		priced = priced && !share.Unpriced
	}
	if priced {
		f.USD = &usd
	}
	return f
}

// update looks at what has arrived and what has failed.
func (w *work) update(ctx context.Context, m store.Reader, f *filling) error {
	var still []model.Hash
	for some := range slices.Chunk(w.missing, 4096) {
		has, err := m.Has(ctx, some)
		if err != nil {
			return err
		}
		for _, h := range some {
			if !has[h] {
				still = append(still, h)
			}
		}
	}
	w.missing = still
	f.Answered, f.Of, f.AtMost = w.of-len(still), w.of, w.atMost
	if len(still) > 0 {
		failures, err := m.AllFailures(ctx)
		if err != nil {
			return err
		}
		f.Reasons = reasonsOf(failures, still)
		for _, r := range f.Reasons {
			f.Failed += r.N
		}
	}
	now := look{time.Now(), f.Answered}
	if f.Of == 0 {
		now.arrived = f.Calls
	}
	w.looks = append(w.looks, now)
	for len(w.looks) > 2 && now.at.Sub(w.looks[0].at) > paceTime {
		w.looks = w.looks[1:]
	}
	first := w.looks[0]
	if len(w.looks) == 1 {
		first = look{f.Began, now.arrived - f.Calls}
	}
	if took := now.at.Sub(first.at).Seconds(); took > 0 {
		f.PerSecond = max(0, float64(now.arrived-first.arrived)/took)
	}
	return nil
}

// reasonsOf counts the failures of some calls, which are in order, by their kind, the most
// frequent first.
func reasonsOf(failures []store.Failure, calls []model.Hash) []reason {
	var all []reason
	for _, f := range failures {
		if _, of := slices.BinarySearchFunc(calls, f.Hash, compareHashes); !of {
			continue
		}
		table.Entry(&all, reason{Kind: f.Kind, Example: f.Message}, func(r reason) bool { return r.Kind == f.Kind }).N++
	}
	slices.SortStableFunc(all, func(a, b reason) int { return b.N - a.N })
	return all
}

// Word is the kind for people.
func (r reason) Word() string {
	if r.Kind == model.Transient {
		return "may work if asked again"
	}
	return spaced(string(r.Kind))
}

func compareHashes(a, b model.Hash) int { return bytes.Compare(a[:], b[:]) }

// Said is the example without the model and the kind, cut to a line.
func (r reason) Said() string {
	said := r.Example
	if _, after, ok := strings.Cut(said, string(r.Kind)+": "); ok {
		said = after
	}
	return untrusted.Excerpt(said, 100)
}

// Count is how many there are, for people.
func (r reason) Count() string { return table.Count(r.N) }

// Done says how far the study is.
func (f filling) Done() string {
	switch {
	case f.Of == 0:
		return table.Counted(f.Calls, "reply", "replies") + " since " + f.Began.UTC().Format("15:04") + " UTC"
	case f.AtMost:
		return table.Count(f.Answered) + " of at most " + table.Count(f.Of)
	}
	return table.Count(f.Answered) + " of " + table.Count(f.Of)
}

// Pace says how fast it goes, and how long that takes; empty where nothing moved.
func (f filling) Pace() string {
	if f.PerSecond <= 0 {
		return ""
	}
	decimals := 1
	if f.PerSecond < 1 {
		decimals = 2
	} else if f.PerSecond >= 10 {
		decimals = 0
	}
	pace := fmt.Sprintf("%.*f a second", decimals, f.PerSecond)
	if left := f.Of - f.Answered; left > 0 && !f.AtMost {
		pace += ", about " + (time.Duration(float64(left)/f.PerSecond) * time.Second).String() + " left"
	}
	return pace
}

// Cost says what was spent.
func (f filling) Cost() string { return table.Price(f.USD, nil) }

// rowID is the ID of the row of a study in the list.
func rowID(study string) string {
	sum := sha256.Sum256([]byte(study))
	return "s" + hex.EncodeToString(sum[:6])
}

// streamTime is how long a stream of events lasts. The browser opens the next.
const streamTime = 10 * time.Minute

// events streams the progress of studies that are being filled. Each event has what stands
// in the list, by the IDs of rows: what changed since the event before, and nothing for a
// study that is no longer filled.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		s.fail(w, r, err, true)
		return
	}
	tick := time.NewTicker(tickTime)
	defer tick.Stop()
	end := time.After(streamTime)
	sent := map[string]string{}
	for first := true; ; first = false {
		changes, err := s.progress(sent)
		if err != nil {
			if s.ctx.Err() == nil {
				s.Say("%s: %v", r.URL.Path, err)
			}
			return
		}
		if first || len(changes) > 0 {
			text, err := json.Marshal(changes)
			if err == nil {
				err = out.SetWriteDeadline(time.Now().Add(readTimeout))
			}
			if err == nil {
				_, err = fmt.Fprintf(w, "data: %s\n\n", text)
			}
			if err == nil {
				err = out.Flush()
			}
			if err != nil {
				return // the browser went away
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		case <-end:
			return
		}
	}
}

// progress gives what changed since what was sent, which it brings up to date.
func (s *Server) progress(sent map[string]string) (changes map[string]string, err error) {
	now, err := s.fillings()
	if err != nil {
		return nil, err
	}
	changes, shown := map[string]string{}, map[string]bool{}
	for _, f := range now {
		var text strings.Builder
		if err := s.pages["live"].Execute(&text, f); err != nil {
			return nil, err
		}
		id := rowID(f.Study)
		if shown[id] = true; sent[id] != text.String() {
			sent[id], changes[id] = text.String(), text.String()
		}
	}
	for id := range sent {
		if !shown[id] {
			delete(sent, id)
			changes[id] = ""
		}
	}
	return changes, nil
}
