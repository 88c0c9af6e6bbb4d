package command

import (
	"testing"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/model"
)

func TestFillLine(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		stats fill.Stats
		total int
		took  time.Duration
		width int
	}{
		"0 of 10  $0.0000":                     {fill.Stats{}, 10, time.Second, 80},
		"0 of 0  $0.0000":                      {fill.Stats{}, 0, 0, 80},
		"4 of 10  2.0/s  2s  3s left  $0.1250": {fill.Stats{Answered: 4, USD: 0.125}, 10, 2 * time.Second, 80},
		"4 of 10  2.0/s  2s  3s left  $0.1250  2 being asked by another process": {fill.Stats{Answered: 4, USD: 0.125, Waiting: 2}, 10, 2 * time.Second, 80},
		"10 of 10  50/s  2s  $0.0000":                                            {fill.Stats{Answered: 100}, 10, 2 * time.Second, 80},
		"7 of 10  0.5/s  2s  6s left  6 already answered  $0.0000":               {fill.Stats{Answered: 1, Present: 6}, 10, 2 * time.Second, 80},
		"8 of 20  1.0/s  8s  12s left  price unknown  3 retries  2 failed": {
			fill.Stats{Answered: 6, Failed: 2, Retries: 3, Unpriced: []string{"a/b"}}, 20, 8 * time.Second, 100,
		},
		"8 of 20  12s left  price unknown  2 failed": {
			fill.Stats{Answered: 6, Failed: 2, Retries: 3, Unpriced: []string{"a/b"}}, 20, 8 * time.Second, 45,
		},
		"4 of 10  2.0/s  2s  3s left  $0.1250  rate limited by a/b, next try in 1m0s  rate limited by a/c for 3m20s, next try in 0s  9 rejected": {
			fill.Stats{Answered: 4, USD: 0.125, Rejected: 9, Held: []fill.Held{
				{Model: model.Ref{Provider: "a", Model: "b"}, In: time.Minute},
				{Model: model.Ref{Provider: "a", Model: "c"}, For: 200*time.Second + 1, In: 1},
			}}, 10, 2 * time.Second, 140,
		},
		"8 of 20  2 failed: timeout after 2m": {fill.Stats{Answered: 6, Failed: 2, Reasons: []fill.Reason{{Text: "timeout after 2m", Calls: 2}}}, 20, 8 * time.Second, 40},
		"8 of 20  2 failed":                   {fill.Stats{Answered: 6, Failed: 2}, 20, 8 * time.Second, 20},
		"8":                                   {fill.Stats{Answered: 6, Failed: 2}, 20, 8 * time.Second, 2},
	} {
		if got := fit(fillLine(tt.stats, tt.total, tt.took), tt.width); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSpent(t *testing.T) {
	t.Parallel()
	for want, stats := range map[string]fill.Stats{
		"$0.0000":       {},
		"$12.3457":      {USD: 12.34567},
		"price unknown": {Unpriced: []string{"a/b"}},
		"$0.5000 and more (price unknown: a/b, c/d)":              {USD: 0.5, Unpriced: []string{"a/b", "c/d"}},
		"$0.5000, and up to $0.2500 for 3 failed attempts":        {USD: 0.5, Charged: 3, FailedUSD: 0.25},
		"price unknown, and an unknown sum for 3 failed attempts": {Unpriced: []string{"a/b"}, Charged: 3},
	} {
		if got := Spent(stats); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
