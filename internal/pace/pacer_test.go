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

// A provider says what is left; calls are told so far apart, or held.
func TestHeed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left       model.Window
		told, held time.Duration
	}{
		"nothing":                   {model.Window{Remaining: 0, Reset: time.Second}, 0, time.Second},
		"one call":                  {model.Window{Remaining: 1, Reset: 10 * time.Second}, 10 * time.Second, 0},
		"some":                      {model.Window{Remaining: 20, Reset: 10 * time.Second}, time.Second / 2, 0},
		"many":                      {model.Window{Remaining: 1000, Reset: time.Second}, time.Millisecond, 0},
		"more than worth a wait":    {model.Window{Remaining: 1001, Reset: time.Second}, 0, 0},
		"nothing, for no time":      {model.Window{}, 0, 0},
		"nothing for long":          {model.Window{Reset: LongestWait}, 0, LongestWait},
		"nothing for the whole day": {model.Window{Reset: LongestWait + 1}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := New(time.Second, nil)
			p.Accept(t.Context(), Pass{}, &model.Allowance{Requests: c.left}, 10)
			if p.Told != c.told || p.paced() != (c.told > 0) {
				t.Errorf("%s: calls are %v apart, paced %t", name, p.Told, p.paced())
			}
			held := time.Duration(0)
			if !p.HeldUntil.IsZero() {
				held = time.Until(p.HeldUntil)
			}
			_, _, before := p.Held(time.Now())
			p.Join(1)
			if _, until, told := p.Held(time.Now()); before || told != (c.held > 0) || told && time.Until(until) != c.held {
				t.Errorf("%s: told that it is held %t, before any call %t, until %v", name, told, before, until)
			}
			if held != c.held || (c.held == 0) != p.HeldUntil.IsZero() {
				t.Errorf("%s: held for %v, want %v", name, held, c.held)
			}
		})
	}
}

// TestPacerCloses rejects calls of a pacer without a rate until it closes, opens it again
// at the rate that was taken, and slows it down.
func TestPacerCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(time.Second, nil)
		reject := func(mine Pass, tries int, alone, again bool) {
			t.Helper()
			if a, b := p.Reject(t.Context(), mine, nil, 0, tries); a != alone || b != again {
				t.Errorf("waits alone %t, tried again %t; want %t, %t", a, b, alone, again)
			}
		}
		near := func(what string, got, want time.Duration) {
			t.Helper()
			if d := got - want; d < -time.Microsecond || d > time.Microsecond {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		reject(Pass{}, 1, true, true)
		reject(Pass{}, 1, true, true)
		for range 10 {
			p.Accept(t.Context(), Pass{}, nil, 1)
		}
		if p.Burden < 0.99 || p.Burden > 1.01 || p.paced() {
			t.Errorf("the burden is %g after two rejects and ten answers, want 1; paced %t", p.Burden, p.paced())
		}
		reject(Pass{}, 1, true, true)
		reject(Pass{}, 1, true, true)
		if p.Closed {
			t.Error("two rejects in a row close it")
		}
		time.Sleep(time.Minute)
		reject(Pass{}, 1, false, true)
		if !p.Closed || p.Epoch != 1 || p.Burden != 0 || !p.paced() {
			t.Errorf("after a third it is closed %t, epoch %d, burden %g, paced %t", p.Closed, p.Epoch, p.Burden, p.paced())
		}
		// It is tried after a second, and after two more: the second try of two was the last.
		for n, again := range []bool{true, false} {
			near("the wait", time.Until(p.HeldUntil), time.Second<<n)
			if _, wait, ok := p.take(time.Now()); ok || wait != time.Second<<n {
				t.Errorf("a call goes while it is closed: %t, %v", ok, wait)
			}
			time.Sleep(time.Second << n)
			mine, _, ok := p.take(time.Now())
			if _, _, second := p.take(time.Now()); !ok || second || !mine.tries {
				t.Errorf("tried %t, twice at once %t, %+v", ok, second, mine)
			}
			reject(mine, 2, false, again)
		}
		time.Sleep(4 * time.Second)
		mine, _, _ := p.take(time.Now())
		p.Accept(t.Context(), mine, nil, 1)
		// Ten calls in 67 seconds, or in the 63 of them before the last wait.
		near("the learned time between calls", p.Interval, 65*time.Second*105/1000)
		if p.Closed || p.Accepted != 1 || !p.paced() {
			t.Errorf("closed %t, %d accepted, paced %t", p.Closed, p.Accepted, p.paced())
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

// Many rejects close a pacer though answers stand between them.
func TestPacerClosesForItsBurden(t *testing.T) {
	t.Parallel()
	p := New(time.Second, nil)
	p.Burden = bearable - 1
	if p.Reject(t.Context(), Pass{}, nil, 0, 1); !p.Closed {
		t.Error("more than one reject for ten answers does not close it")
	}
	p = New(time.Second, nil)
	p.Burden = bearable - 1.01
	if p.Reject(t.Context(), Pass{}, nil, 0, 1); p.Closed || p.Burden < bearable-0.02 {
		t.Errorf("closed %t at a burden of %g", p.Closed, p.Burden)
	}
}

// A rate that is known falls with a reject, a little or to what was taken since, and the
// next one in a row closes the pacer.
func TestPacerSlowsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grown, acceptedSet int
		since              time.Duration // the rate was set
		want               time.Duration
	}{
		"a little":          {0, 0, time.Minute, 2200 * time.Millisecond},
		"to what was taken": {0, 20, time.Minute, 3 * time.Second},
		"by much at most":   {0, 1, time.Minute, 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := New(time.Second, nil)
			p.pace(time.Now(), float64(2*time.Second))
			time.Sleep(c.since)
			p.Grown, p.AcceptedSet = c.grown, c.acceptedSet
			if alone, again := p.Reject(t.Context(), Pass{}, nil, 0, 1); alone || !again || p.Closed || p.Epoch != 1 || p.Interval != c.want {
				t.Errorf("%s: %v apart, want %v; alone %t, again %t, closed %t, epoch %d", name, p.Interval, c.want, alone, again, p.Closed, p.Epoch)
			}
			if p.Reject(t.Context(), Pass{epoch: 1}, nil, 0, 1); !p.Closed || p.Epoch != 2 {
				t.Errorf("%s: after a second reject closed %t, epoch %d", name, p.Closed, p.Epoch)
			}
		})
	}
}

// A closed pacer that took nothing else before a try was accepted keeps its rate, or one
// up to four times as slow.
func TestPacerReopensWithoutAnswers(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{time.Second: 2 * time.Second, 3 * time.Second: 3 * time.Second, time.Minute: 8 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			p := New(time.Second, nil)
			p.pace(time.Now(), float64(2*time.Second))
			p.Closed, p.Trying, p.Accepted = true, true, 0
			time.Sleep(took)
			if p.Accept(t.Context(), Pass{tries: true, at: time.Now()}, nil, 1); p.Closed || p.Interval != want {
				t.Errorf("after %v closed %t, calls %v apart, want %v", took, p.Closed, p.Interval, want)
			}
		})
	}
}

// Where a lower rate leads to rejects as soon for six times, it is let go, and what it was
// about to let go later may go at once.
func TestPacerLetsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(time.Second, nil)
		p.pace(time.Now(), float64(2*time.Second))
		slow := func(grown int) {
			p.Grown = grown
			p.slow(time.Now(), time.Now())
		}
		slow(19)
		if slow(20); p.Futile != 0 { // half a plateau
			t.Errorf("futile %d times", p.Futile)
		}
		for n := range mostFutile {
			if p.Interval == 0 || p.Futile != n {
				t.Errorf("%v apart, futile %d times, want %d", p.Interval, p.Futile, n)
			}
			slow(19)
		}
		if p.Interval != 0 || p.Blind != blindFor || p.Epoch != mostFutile+2 {
			t.Errorf("%v apart, blind for %d, epoch %d", p.Interval, p.Blind, p.Epoch)
		}
		if _, wait, ok := p.take(time.Now()); !ok || !p.Next.Equal(time.Now()) {
			t.Errorf("waits %v", wait)
		}
		p.pace(time.Now(), float64(time.Second))
		for n := range 1000 {
			p.Accept(t.Context(), Pass{epoch: p.Epoch}, nil, 1)
			if p.Interval == 0 {
				if n != 247 { // 60 calls a minute raise it eightfold in the fifth minute
					t.Errorf("let go after %d answers", n+1)
				}
				break
			}
		}
		if p.Interval != 0 {
			t.Error("a rate that bounds nothing is kept")
		}
	})
}
