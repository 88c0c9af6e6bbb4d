package command

import (
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/provider"
)

// allowedHosts are the hosts that the user lets have keys: those of the flag, and those
// that are remembered.
func allowedHosts(flags []string) ([]string, error) {
	hosts, err := provider.AllowedHosts(provider.AllowedPath())
	if err != nil {
		return nil, err
	}
	for _, text := range flags {
		host, err := provider.ParseHost(text)
		if err != nil {
			return nil, InputError("--allow-host", err.Error(), "write one such as gateway.example or gateway.example:8443")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// sayRecipient warns of a server that may not have its key yet, and of one that is
// asked in the open. Its key is a secret from now on.
func (e *Env) sayRecipient(r provider.Recipient) {
	if r.HasKey() {
		e.Secrets.add(e.Getenv(r.KeyEnv))
	}
	if r.Withheld {
		e.Infof("before calls are made: %s", WithFlags(client.Withheld(r)))
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
