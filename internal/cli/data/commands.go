package data

import (
	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
)

// app is the world of the commands, which are its methods.
type app struct{ *command.Env }

// Commands are the commands that make, check and write prompts.
func Commands(env *command.Env) []*cobra.Command {
	a := app{env}
	return []*cobra.Command{a.datasetCommand(), a.buildCommand(), a.policyCommand(), a.exportCommand()}
}
