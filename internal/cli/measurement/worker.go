package measurement

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/model"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	store  string
	calls  command.Calls
	shards int
	turn   time.Duration
	drain  bool
	// health is where the worker says that it works, empty for nowhere.
	health    string
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
  orbench worker --health 8080 --log-format json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.worker(c.Context(), f) },
	}
	f.calls.RegisterWorker(c)
	a.StoreFlag(c, &f.store)
	c.Flags().IntVar(&f.shards, "shards", 4, "shards (some hundred calls each) to hold at once")
	c.Flags().DurationVar(&f.turn, "turn", 30*time.Second, "how long to keep a shard before what is left of it goes to any worker")
	c.Flags().BoolVar(&f.drain, "drain", false, "end when no calls are waiting")
	c.Flags().StringVar(&f.health, "health", "", "answer probes over http at this `[HOST:]PORT` with 200 while the database answers, else with 503; the host is 127.0.0.1 where none is given")
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
	memory, err := a.OpenStore(ctx, f.store, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	q, err := queue.Open(ctx, memory)
	if err != nil {
		return err
	}
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
				Model: c.Model, Concurrency: f.calls.Concurrency(c), Key: c.Endpoint.Key,
			}, err
		},
		Turn: f.turn, Shards: f.shards, Abort: a.Abort, Log: a.Logger(slog.LevelWarn),
	})
	if f.health != "" {
		server, failed := serveHealth(f.health, q)
		if failed != nil {
			return command.InputError("--health "+f.health, "cannot listen: "+failed.Error(), "give a free port, such as 8080")
		}
		defer server.Close() // nothing of it is lost
	}
	if !a.Quiet {
		a.Infof("%s takes calls from %s", name, address.Shown(f.store))
	}
	err = w.Run(ctx, f.drain)
	answered, failed := w.Counts()
	fmt.Fprintf(a.Stdout, "%d calls answered, %d failed\n", answered, failed)
	return err
}

// probeTime is how long the database may take to answer a probe.
const probeTime = 2 * time.Second

// serveHealth answers probes at an address with 200 while the database of the queue answers.
func serveHealth(address string, q *queue.Queue) (*http.Server, error) {
	if port := strings.TrimPrefix(address, ":"); !strings.Contains(port, ":") {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), probeTime)
		defer cancel()
		if _, err := q.Waiting(ctx); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		}
	})}
	go s.Serve(listener) //nolint:errcheck // it ends when the server is closed
	return s, nil
}
