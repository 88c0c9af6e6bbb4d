package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/untrusted"
)

// LocalIfPeople sets f.Local if a file of recorded answers says who asked, unless the user has
// said whether the command is local.
func (e *Env) LocalIfPeople(c *cobra.Command, f *Calls, path string, columns dataset.Options) error {
	if c.Flags().Changed("local") {
		return nil
	}
	column, err := dataset.SaysWho(path, columns)
	if err == nil && column != "" {
		f.Local = true
		e.Infof("%s says who asked (column %s), so its texts stay on this machine; --local=false allows other servers", path, untrusted.Quote(column))
	}
	return err
}

// stayLocal keeps all connections to this machine, to servers that the user gave and to the
// store.
func (e *Env) stayLocal(given map[string]string) {
	said := ""
	if hosts := client.StayLocal(given); len(hosts) > 0 {
		said = ", " + strings.Join(hosts, ", ")
	}
	e.Infof("local: connections go only to this machine%s and the store", said)
	e.local = true
}

// sayRecipient warns of a server that may not have its key yet, and of one that is
// asked in the open. Its key is a secret from now on.
func (e *Env) sayRecipient(r provider.Recipient) {
	if r.HasKey() {
		e.Secrets.add(e.Getenv(r.KeyEnv))
	}
	if r.Withheld {
		e.Infof("before calls are made: %s", e.WithFlags(client.Withheld(r)))
	}
	if !r.Exposed() {
		return
	}
	what := "prompts and answers"
	if r.HasKey() {
		what = "prompts, answers and the key in " + r.KeyEnv
	}
	e.Infof("warning: %s is asked over plain http at %s: %s can be read on the way; use https, or a tunnel to this machine", r.Provider, r.Host(), what)
}
