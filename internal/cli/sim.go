package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/sim"
)

func simCommand(env *command.Env) *cobra.Command {
	var addr, faults string
	var seed int64
	c := &cobra.Command{
		Use:   "sim",
		Short: "Serve simulated models over HTTP, with faults on request",
		Long:  simHelp(),
		Example: `  orbench sim --addr 127.0.0.1:8900
  orbench sim --addr 127.0.0.1:8900 --faults 429=0.1,500=0.05,reset=0.05,truncate=0.05,filter=0.02
  orbench eval --target openai/balanced --base-url http://127.0.0.1:8900/v1 --dataset starter`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := sim.ParseFaults(faults)
			if err != nil {
				return err
			}
			server, err := sim.Serve(c.Context(), addr, seed, f)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Stdout, "simulated models at %s\n", server.BaseURL())
			<-c.Context().Done()
			return server.Close()
		},
	}
	flags := c.Flags()
	flags.StringVar(&addr, "addr", "127.0.0.1:0", "`HOST:PORT` to listen on; port 0 takes a free one")
	flags.Int64Var(&seed, "seed", client.SimSeed, "seed of the models")
	flags.StringVar(&faults, "faults", "", "`SHARES` of faults, such as 429=0.1,slow=0.05,slow-by=2")
	return c
}

// simHelp lists the simulated models.
func simHelp() string {
	help := `Serve simulated models in the OpenAI chat dialect until interrupted. They read the
prompt and answer with placeholders; the same seed gives the same answers. No language
model is behind them, and every figure that uses one says "simulated". The targets
sim/NAME are the same models without a server.

Models:
`
	for _, m := range sim.Models() {
		if m.Description != "" {
			help += fmt.Sprintf("  %-12s  %s\n", m.Name, m.Description)
		}
	}
	return help + `Faults are shares of the requests: 429 and 500 answer with that status, reset closes the
connection, truncate breaks the answer off, slow waits slow-by seconds first, and filter withholds
the answer as a content filter does.`
}
