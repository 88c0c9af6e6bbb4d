package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// TestWatch has a judge asked about 300 answers, walk after walk, and gives it up no sooner and no
// later than after twenty unreadable replies in a row, with under a tenth readable.
func TestWatch(t *testing.T) {
	t.Parallel()
	every := func(model.Ref) bool { return true }
	for name, tt := range map[string]struct {
		readable func(n int) bool
		asked    int
		dead     bool
	}{
		"never":             {func(int) bool { return false }, 20, true},
		"always":            {func(int) bool { return true }, 300, false},
		"five at first":     {func(n int) bool { return n < 5 }, 51, true},
		"no longer at last": {func(n int) bool { return n < 100 }, 300, false},
		"one in ten":        {func(n int) bool { return n%10 == 0 }, 300, false},
		"one in fifteen":    {func(n int) bool { return n%15 == 0 }, 300, false},
		"one in fifty":      {func(n int) bool { return n%50 == 0 }, 20 + 1, true},
	} {
		w := &Watch{open: map[model.Hash]*watched{}}
		asked := map[int]bool{}
		for more := true; more; {
			lets, now := w.walk(every), []int(nil)
			for n := range 300 {
				c := Step{About: Call{Role: Judge, Judge: "j"}}.call(model.Request{Provider: "p", Model: "m", Messages: []orbench.Message{{Content: fmt.Sprint(n)}}}, false)
				if !asked[n] && lets(&c) {
					asked[n], now = true, append(now, n)
					w.Read([]Reply{{Request: c.Request, Response: model.Response{Text: "Hm."}, Unread: !tt.readable(n)}})
				}
			}
			more = len(now) > 0
		}
		err := w.givenUp()
		if len(asked) != tt.asked || (err != nil) != tt.dead || err != nil && !strings.Contains(err.Error(), `gave up p/m: `) {
			t.Errorf("%s: asked %d times, %v", name, len(asked), err)
		}
	}
	// Where all calls that were let through fail, others follow.
	w := &Watch{open: map[model.Hash]*watched{}}
	let := 0
	for range 3 {
		lets := w.walk(every)
		for n := range 100 {
			if c := (Step{About: Call{Role: Judge, Judge: "j"}}).call(model.Request{Sample: n}, false); lets(&c) {
				let++
			}
		}
		if !w.held(every) || w.held(every) {
			t.Error("it does not say, once, that calls are held back")
		}
	}
	if let != 20+21+22 {
		t.Errorf("%d calls were let through", let)
	}
}
