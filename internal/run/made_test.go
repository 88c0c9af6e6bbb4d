package run_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/run"
)

// Of two processes that ask for one run, the one that ends last keeps what the other's
// failed attempts may have cost, and its command.
func TestHistoryOfTwoProcesses(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), openStore(t, filepath.Join(t.TempDir(), "orbench.db"))
	clients, now := newClients(t), time.Now().UTC()
	var both [2]*run.Run
	var commands [2]provenance.Command
	for i := range both {
		r, err := run.New(ctx, parse(t, "name: mine\ntargets: [sim/balanced]\ndatasets: [starter]\njudges: [lexical]\nlimit: 2\n"), clients, "")
		if err != nil {
			t.Fatal(err)
		}
		commands[i] = provenance.Command{Line: []string{"first", "second"}[i], Date: now.Add(time.Duration(i))}
		if err := r.Start(ctx, m, commands[i], price.Table{}); err != nil {
			t.Fatal(err)
		}
		both[i] = r
	}
	if err := both[0].Failed(ctx, m, now, fill.Stats{Charged: 3, FailedUSD: 0.5}); err != nil {
		t.Fatal(err)
	}
	for i, r := range both {
		if err := r.Paid(ctx, m, commands[i], now); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := run.Find(ctx, m, "mine")
	if err != nil {
		t.Fatal(err)
	}
	attempts, usd := kept.History.FailedCost()
	if attempts != 3 || usd == nil || *usd != 0.5 || len(kept.History.Commands) != 2 {
		t.Errorf("kept %+v, want 3 attempts for $0.5 and both commands", kept.History)
	}
}
