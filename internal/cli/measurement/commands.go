package measurement

import (
	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
)

// app is the world of the commands, which are its methods.
type app struct{ *command.Env }

// Commands are the commands that measure.
func Commands(env *command.Env) []*cobra.Command {
	a := app{env}
	return []*cobra.Command{
		a.evalCommand(), a.judgeCommand(), a.reportCommand(), a.labelCommand(), a.compareCommand(), a.moderateCommand(),
		a.logsCommand(), a.workerCommand(), a.demoCommand(), a.serveCommand(),
	}
}
