package measurement

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// checkShard reads --shard and refuses what goes with no shard.
func checkShard(f evalFlags, name, until string) (evaluate.Shard, error) {
	s, err := evaluate.ParseShard(f.shard)
	if err != nil || f.shard == "" {
		return s, err
	}
	const hint = "merge the stores of all shards, then: orbench report RUN"
	switch {
	case name == "":
		return s, command.InputError("--shard", "the run has no name by which its shards are one run", "give all of them the same --name")
	case until != "":
		return s, command.InputError("--shard, --until", "a shard does not know what the others are answered, so it cannot know when they are enough", "give one of them; eval --until makes fewer calls by itself")
	case f.out.Dir != "":
		return s, command.InputError("--out", "a shard makes no report", hint)
	}
	return s, command.CheckFormat(f.out.Format, command.TwoFormats)
}

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
	if !m.calls.Quiet {
		a.Sayf("when all %d shards are done: orbench store merge STORE... --out FILE, then orbench report --store FILE %s", m.Shard.Of, untrusted.Shell(m.Name))
	}
	return nil
}
