// Package cli is the command line: it makes the tree of commands, runs one, and
// turns what ended it into an exit code. The commands that ask, judge and compare
// are in package measurement; those that make and check prompts, and those about orbench
// itself (config, doctor, sim, version), are here, beside what a command says of itself and
// what shells complete; what commands share is in package command.
//
// Rules that every command keeps: results go to standard output and everything
// else to standard error; an error is one line that says what happened, where,
// and what to do; the exit codes are those of ends and of docs/cli.md; and
// nothing is written before all input has been found good.
package cli
