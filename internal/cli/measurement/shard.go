package measurement

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// showShard says how far a shard is. It shows no figures: those of some of the prompts
// would pass for the run's.
func (a app) showShard(ctx context.Context, m measurement, memory store.Reader, stats fill.Stats) error {
	plans, err := m.Job().Plan(ctx, memory, job.AtMost)
	if err != nil {
		return err
	}
	whole := *m.Run
	whole.Shard = evaluate.Shard{}
	s := evaluate.ShardResult{
		Run: m.Name, Shard: m.Shard.String(), Prompts: m.Prompts(), Of: whole.Prompts(), Calls: stats.Requests, Remembered: stats.Present,
	}
	for _, p := range plans {
		s.Lacking += p.Calls
	}
	if m.out.Format == "json" {
		enc := json.NewEncoder(a.Stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(s)
	} else {
		_, err = fmt.Fprintf(a.Stdout, "Shard %s of run %s: %d of its %d prompts; %d calls made now, %d remembered, %d lacking.\n",
			s.Shard, untrusted.Terminal(s.Run), s.Prompts, s.Of, s.Calls, s.Remembered, s.Lacking)
	}
	if err != nil {
		return err
	}
	if !m.asking.Calls.Quiet {
		a.Sayf("when all %d shards are done: orbench store merge STORE... --out FILE, then orbench report --store FILE %s", m.Shard.Of, untrusted.Shell(m.Name))
	}
	return nil
}
