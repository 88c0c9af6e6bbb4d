package measurement

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/telemetry"
	"github.com/orbench/orbench/model"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	store  string
	calls  command.Calls
	shards int
	turn   time.Duration
	drain  bool
	// metrics is where metrics are served, empty for nowhere.
	metrics   string
	logFormat string
}

func (a app) workerCommand() *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   "worker",
		Short: "Make the calls that other commands queued for workers, on any machine",
		Long: `Make the calls that eval, judge, moderate and others queued with --set workers=true in a
PostgreSQL store, and store the answers there. Any number of workers on any machines
share the work. Each needs the keys of the providers, but no datasets or experiments. You
may start, kill or freeze a worker at any time: others take over its calls. Limits on
requests and tokens per minute, and budgets, come from the command that queued the calls
and apply to all workers together.`,
		Example: `  orbench worker --store postgres://ana@db/orbench
  orbench worker --drain --concurrency 64
  orbench worker --metrics 9464 --log-format json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.worker(c.Context(), f) },
	}
	f.calls.RegisterWorker(c)
	a.StoreFlag(c, &f.store)
	c.Flags().IntVar(&f.shards, "shards", 4, "shards (some hundred calls each) to hold at once")
	c.Flags().DurationVar(&f.turn, "turn", 30*time.Second, "how long to keep a shard before what is left of it goes to any worker")
	c.Flags().BoolVar(&f.drain, "drain", false, "end when no calls are waiting")
	c.Flags().StringVar(&f.metrics, "metrics", "", "serve metrics for Prometheus at /metrics of this `[HOST:]PORT`, and /healthz; the host is 127.0.0.1 where none is given")
	command.LogFlag(c, &f.logFormat)
	c.AddCommand(a.queuedCommands()...)
	return c
}

// worker makes calls until it is stopped.
func (a app) worker(ctx context.Context, f workerFlags) (err error) {
	switch {
	case f.shards < 1:
		return command.InputError("--shards", "the value is too small", "give a positive one, or leave the flag out")
	case f.turn < time.Second:
		return command.InputError("--turn", "the value is too small", "give a second or more, or leave the flag out")
	}
	if err := f.calls.Check(); err != nil {
		return err
	}
	a.LogFormat(f.logFormat)
	clients, err := a.Clients(f.calls, nil, nil)
	if err != nil {
		return err
	}
	memory, err := a.OpenStore(ctx, f.store, f.calls.Quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	q, err := queue.Open(ctx, memory)
	if err != nil {
		return err
	}
	told := a.Telemetry(f.metrics != "")
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	name := fmt.Sprintf("worker %d on %s", os.Getpid(), host)
	w := queue.NewWorker(q, memory, queue.WorkerConfig{
		Name: name,
		Connect: func(at model.Ref) (queue.Connection, error) {
			c, err := clients.Connect(at)
			return queue.Connection{
				Model: told.Model(c.Model, telemetry.Server{Ref: at, Endpoint: c.Endpoint}), Concurrency: f.calls.Concurrency(c), Key: c.Endpoint.Key,
			}, err
		},
		Turn: f.turn, Shards: f.shards, Abort: a.Abort, Log: a.Logger(slog.LevelWarn), Trace: told.Shard,
	})
	told.WatchWorker(w, q)
	if f.metrics != "" {
		page, failed := told.Serve(metricsAddress(f.metrics), func(ctx context.Context) error {
			_, err := q.Waiting(ctx)
			return err
		})
		if failed != nil {
			return command.InputError("--metrics "+f.metrics, "cannot listen: "+failed.Error(), "give a free port, such as 9464")
		}
		defer func() { err = errors.Join(err, page.Close()) }()
		a.Infof("metrics are at http://%s/metrics", page.Address)
	}
	if !f.calls.Quiet {
		a.Infof("%s takes calls from %s", name, address.Shown(f.store))
	}
	err = w.Run(ctx, f.drain)
	answered, failed := w.Counts()
	fmt.Fprintf(a.Stdout, "%d calls answered, %d failed\n", answered, failed)
	return err
}

// metricsAddress is where metrics are served, by the flag for it.
func metricsAddress(flag string) string {
	if port := strings.TrimPrefix(flag, ":"); !strings.Contains(port, ":") {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return flag
}
