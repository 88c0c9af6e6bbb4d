package web

import (
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
)

// TestHolds has windows that do not get what another shows, until that is long ago.
func TestHolds(t *testing.T) {
	t.Parallel()
	var entries []annotation.Entry
	for i := range 6 {
		entries = append(entries, annotation.Entry{Subject: orbench.Subject{byte(i)}})
	}
	queueOf := func(person string, how orbench.How) *queue {
		return &queue{asked: asked{person: person}, how: how, Queue: annotation.NewQueue(entries, annotation.NewWords(nil), person, how)}
	}
	d := queues{holds: map[string]hold{}}
	now := time.Unix(0, 0)
	for _, step := range []struct {
		why, person, window string
		how                 orbench.How
		after               time.Duration
		want                string
	}{
		{"the first window", "ana", "1", orbench.Blind, 0, "0123"},
		{"the same window again", "ana", "1", orbench.Blind, time.Minute, "0123"},
		{"another window of the same person", "ana", "2", orbench.Blind, time.Minute, "45"},
		{"another person labels all", "ben", "3", orbench.Blind, time.Minute, "0123"},
		{"a dispute", "ana", "1", orbench.Settled, time.Minute, "0123"},
		{"a dispute is settled by one", "cem", "4", orbench.Settled, time.Minute, "45"},
		{"the first window did nothing since", "ana", "2", orbench.Blind, time.Minute + holding + time.Second, "0123"},
	} {
		got := ""
		for _, e := range d.take(queueOf(step.person, step.how), step.window, now.Add(step.after)) {
			got += string('0' + rune(e.Subject[0]))
		}
		if got != step.want {
			t.Errorf("%s: gets %s, want %s", step.why, got, step.want)
		}
	}
	d.leave("3")
	if got := d.take(queueOf("ben", orbench.Blind), "5", now.Add(time.Minute)); len(got) != prefetched || got[0].Subject != (orbench.Subject{}) {
		t.Errorf("a closed window keeps its entries: another gets %v", got)
	}
}
