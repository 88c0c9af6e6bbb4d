package main

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/orbench/orbench/internal/cli"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/rows"
)

// enough is the memory within which garbage is collected seldom.
const enough = 768 << 20

func main() {
	// What is alive at any time is small, so collecting it less often costs
	// little memory and saves a tenth of the processor's time.
	debug.SetGCPercent(400)
	// Where a container has less memory than the machine, collecting more often is
	// better than being killed. What cannot be found out is left as it is.
	_, _ = memlimit.Set()
	rows.Parquet = parquetfile.Open
	env := command.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Program: os.Args[0], Args: os.Args[1:],
	}
	// The few commands that hold much of a large store collect more often too.
	env.LimitMemory(enough)
	os.Exit(cli.Run(&env))
}
