package pace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/model"
)

// What is left of a limit on tokens is shared out by the mean tokens of the calls so far.
func TestTokensThatAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(time.Second, nil)
		for range 3 {
			p.Accept(t.Context(), Pass{}, &model.Allowance{Tokens: model.Window{Remaining: 100, Reset: 10 * time.Second}}, 10)
		}
		if p.Told != time.Second {
			t.Errorf("calls are %v apart, want ten in ten seconds", p.Told)
		}
	})
}

// A provider says what is left; calls are told so far apart, or held from when the call was sent.
func TestHeed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left       model.Window
		told, held time.Duration
	}{
		"nothing":                    {model.Window{Remaining: 0, Reset: 2 * time.Second}, 0, 2 * time.Second},
		"nothing for up to a second": {model.Window{Remaining: 0, Reset: time.Second}, 0, 0},
		"one call":                   {model.Window{Remaining: 1, Reset: 10 * time.Second}, 10 * time.Second, 0},
		"some":                       {model.Window{Remaining: 20, Reset: 10 * time.Second}, time.Second / 2, 0},
		"many":                       {model.Window{Remaining: 1000, Reset: time.Second}, time.Millisecond, 0},
		"more than worth a wait":     {model.Window{Remaining: 1001, Reset: time.Second}, 0, 0},
		"nothing, for no time":       {model.Window{}, 0, 0},
		"nothing for long":           {model.Window{Reset: LongestWait}, 0, LongestWait},
		"nothing for the whole day":  {model.Window{Reset: LongestWait + 1}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := New(time.Second, nil)
			p.Accept(t.Context(), Pass{at: time.Now()}, &model.Allowance{Requests: c.left}, 10)
			if p.Told != c.told || p.paced() != (c.told > 0) {
				t.Errorf("%s: calls are %v apart, paced %t", name, p.Told, p.paced())
			}
			p.Join(1)
			if _, until, told := p.Held(time.Now()); told != (c.held > 0) || told && time.Until(until) != c.held {
				t.Errorf("%s: told that it is held %t, until %v", name, told, until)
			}
		})
	}
}

// send makes a pacer send a call with so many under way.
func send(t *testing.T, p *Pacer, underWay int) Pass {
	t.Helper()
	mine, err := p.Wait(t.Context())
	if err != nil || !p.Go(&mine, underWay) {
		t.Fatalf("it does not go: %v", err)
	}
	return mine
}

// A provider that rejects six of eight calls in the order in which they were sent is closed, and
// is tried after 1 s, and then after half the time for which it has been closed, and given up after so
// many tries and 75 s. Rejects that come back before answers do not close it.
func TestPacerCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(time.Second, nil)
		var calls []Pass
		for range 24 {
			calls = append(calls, send(t, p, 1))
		}
		for n, mine := range calls {
			if n%3 == 0 {
				if r := p.Reject(t.Context(), mine, nil, 0, 1); !r.Alone || p.Closed {
					t.Fatalf("reject %d of every third call closes it", n)
				}
			}
		}
		p, calls = New(time.Second, nil), nil
		for range 6 {
			calls = append(calls, send(t, p, 1))
		}
		for n, mine := range calls {
			if r := p.Reject(t.Context(), mine, nil, 0, 1); p.Closed != (n == 5) || r.Alone == p.Closed {
				t.Fatalf("after %d rejects in a row closed %t, %+v", n+1, p.Closed, r)
			}
		}
		began, tries := time.Now(), 0
		for {
			mine := send(t, p, 1)
			tries++
			if r := p.Reject(t.Context(), mine, nil, 0, 10); r.For > 0 {
				if took := time.Since(began); r.For < Patience || took < Patience || took > 2*Patience || tries < 10 {
					t.Errorf("given up after %v and %d tries, said %v", took, tries, r.For)
				}
				return
			}
		}
	})
}

// A call that was not sent leaves the try of a closed pacer to another.
func TestPacerDrop(t *testing.T) {
	t.Parallel()
	p := New(time.Second, nil)
	p.Closed = true
	mine, _, ok := p.take(time.Now())
	for _, other := range []Pass{{}, {epoch: 1, tries: true}} {
		if p.Drop(t.Context(), other); !p.Trying {
			t.Errorf("%+v ends the try of another", other)
		}
	}
	if p.Drop(t.Context(), mine); !ok || p.Trying {
		t.Errorf("tried %t, trying still %t", ok, p.Trying)
	}
}

// A trial tells a share of rejects that stayed from one that fell and one that rose.
func TestTrial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every      int // so many calls have one reject
		fell, rose bool
	}{
		"stayed": {5, false, false},
		"fell":   {1000, true, false},
		"rose":   {1, false, true},
	} {
		of := trial{P: 0.2}
		for n := range 200 {
			of.add((n+1)%c.every == 0)
		}
		if (of.Fell <= -odds) != c.fell || (of.Rose <= -odds) != c.rose || !c.fell && !c.rose && (of.Fell < odds || of.Rose < odds) {
			t.Errorf("%s: %+v", name, of)
		}
	}
}

// Rejects of calls with more others under way than any that was accepted are for their number.
func TestRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(time.Second, nil)
		for range settled {
			p.Accept(t.Context(), send(t, p, 8), nil, 1)
		}
		for n := range crowded + 1 {
			want := 0
			if n >= crowded-1 {
				want = 8
			}
			if r := p.Reject(t.Context(), send(t, p, 9), nil, 0, 1); r.Room != want || p.Interval > 0 {
				t.Errorf("after %d rejects there is room for %d, want %d; %v apart", n+1, r.Room, want, p.Interval)
			}
		}
		p.Accept(t.Context(), send(t, p, 9), nil, 1)
		if r := p.Reject(t.Context(), send(t, p, 9), nil, 0, 1); r.Room != 0 {
			t.Errorf("there is room for %d though more were accepted", r.Room)
		}
	})
}
