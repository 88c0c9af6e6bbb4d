package measurement

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/web"
)

func (a app) serveCommand() *cobra.Command {
	var at, addr string
	config := web.Config{CacheDir: a.CacheDir(), Program: a.Version, Say: a.say}
	c := &cobra.Command{
		Use:   "serve [STUDY...|SHEET]",
		Short: "Read, compare and label every answer of a store in the browser",
		Long: `Serve the pages of a store until the command is interrupted: studies with their progress,
reports, every answer with the words that decided the verdict, comparisons, and labels by
the keys of "orbench label". Every count links to the answers that it counts. Every page has
an address; with .json at its end it gives the data. No model is asked. Of a sheet of
"orbench logs draw" the page asks for the labels.

The server listens on this machine alone. Another --addr needs a --token, which each
browser gives once. The server has no TLS: put a server with TLS in front of it, or use a
tunnel.`,
		Example: `  orbench serve
  orbench serve main --addr 127.0.0.1:8080
  orbench serve sheet.csv
  orbench serve --read-only --addr 0.0.0.0:8080 --token "$(openssl rand -hex 16)"`,
		RunE: func(c *cobra.Command, names []string) error { return a.serve(c.Context(), at, addr, config, names) },
	}
	a.StoreFlag(c, &at)
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:7357", "`ADDRESS` to listen on; port 0 takes a free one")
	c.Flags().StringVar(&config.Token, "token", "", "`TOKEN` that a browser must give, as ?token=TOKEN")
	c.Flags().BoolVar(&config.ReadOnly, "read-only", false, "take no labels")
	personFlag(c, &config.Person)
	return c
}

// serveMemory is the memory within which a server collects garbage seldom.
const serveMemory = 320 << 20

// closing is how long requests that are under way may take when the server ends.
const closing = 3 * time.Second

// serve serves the pages of the store at a place.
func (a app) serve(ctx context.Context, at, addr string, c web.Config, names []string) (err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return command.InputError("--addr", fmt.Sprintf("%s is no address: %v", addr, err), "give a host and a port, such as 127.0.0.1:8080")
	}
	open := !loopback(host)
	if open && len(c.Token) < 16 {
		return command.InputError("--addr", host+" can be reached from other machines, so the pages need a token", "give one of at least 16 characters with --token, or listen on 127.0.0.1")
	}
	query := page.Query{}
	if c.Sheet, err = a.openSheet(names, c.Person); err != nil {
		return err
	}
	c.Person = a.person(c.Person)
	if c.Sheet == nil {
		if c.Store, err = a.OpenExisting(ctx, at); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Store.Close()) }()
		for _, name := range names {
			r, err := a.OpenRun(ctx, c.Store, at, name)
			if err != nil {
				return err
			}
			query = query.With("study", r.Name)
		}
		c.Index = a.OpenIndex(ctx, at, c.Store)
		defer c.Index.Close()
	}
	// A server stays for hours beside other work, so it collects garbage more often.
	a.LimitMemory(serveMemory)
	listener, reached, err := web.Listen(addr)
	if err != nil {
		return command.InputError("--addr", err.Error(), "choose another port; 0 takes a free one")
	}
	c.Hosts = hostsOf(listener.Addr(), host)
	s, err := web.New(c)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer s.Close()
	server := s.HTTP()
	address := url.URL{Scheme: "http", Host: reached, Path: "/"}
	if open {
		address.RawQuery = "token=" + url.QueryEscape(c.Token)
		if reached != listener.Addr().String() {
			a.Infof("from other machines, open it with the address of this machine in place of 127.0.0.1")
		}
		a.Infof("without TLS, others on the network can read the pages and the token")
	}
	fmt.Fprintf(a.Stdout, "%s\n", address.ResolveReference(&url.URL{Path: "/", RawQuery: strings.Trim(address.RawQuery+"&"+url.Values(query).Encode(), "&")}))
	a.Infof("press Ctrl-C to end")
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if server.Shutdown(end) != nil {
		if err := server.Close(); err != nil { // whoever still reads is cut off
			return err
		}
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// loopback reports whether a host is this machine alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hostsOf lists the hosts by which browsers may name a server: the address that it listens
// on, localhost for a loopback address, and any address of this machine where it listens on
// all.
func hostsOf(at net.Addr, host string) []string {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return []string{at.String()}
	}
	hosts := []string{at.String(), net.JoinHostPort(host, port)}
	ip := net.ParseIP(host)
	all := host == "" || ip != nil && ip.IsUnspecified()
	if all || loopback(host) {
		hosts = append(hosts, net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port))
	}
	if addresses, err := net.InterfaceAddrs(); all && err == nil {
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok {
				hosts = append(hosts, net.JoinHostPort(n.IP.String(), port))
			}
		}
	}
	return hosts
}
