package provider

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Recipient is a server that is asked, and the key that it is sent.
type Recipient struct {
	Provider string `json:"provider"`
	Address  string `json:"address"`
	// KeyEnv is the variable whose key is sent there, empty for a server that wants none.
	KeyEnv string `json:"key_env,omitempty"`
	// Unset is true if the variable is empty, so that no key is sent.
	Unset bool `json:"unset,omitempty"`
	// Withheld is true where only a file names the host, and the user has not said
	// that it may have the key: then nothing is sent.
	Withheld bool `json:"withheld,omitempty"`
}

// Host is the host of the recipient's address; see Host.
func (r Recipient) Host() string { return Host(r.Address) }

// HasKey reports whether a key would be sent there.
func (r Recipient) HasKey() bool { return r.KeyEnv != "" && !r.Unset }

// Exposed reports whether what is sent there can be read on its way: it goes over
// plain HTTP, and to another machine.
func (r Recipient) Exposed() bool {
	return strings.HasPrefix(r.Address, "http://") && !onLoopback(r.Address)
}

// Host is the host that an address names, in lower case, with its port but for the
// usual one of https; empty for what is no address. So the same host over plain http
// is another.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	switch {
	case u.Scheme == "https":
		return strings.TrimSuffix(host, ":443")
	case u.Port() == "":
		return strings.TrimSuffix(host, ":") + ":80"
	}
	return host
}

// ParseHost reads a host as Host gives it, such as gateway.example or
// gateway.example:8443. A whole address stands for its host.
func ParseHost(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") || strings.ContainsAny(u.Host, "*, ") || !isPort(u.Port()) {
		return "", errors.New("it is not a host")
	}
	return Host(text), nil
}

// KeyBelongs reports whether the endpoint may have its key without the user's permission:
// it has none, it is on this machine, or it is where the built-in provider of the key's
// variable is asked, by the table or by the user's own environment.
func (e Endpoint) KeyBelongs(getenv func(string) string) bool {
	if e.KeyEnv == "" || onLoopback(e.BaseURL) {
		return true
	}
	for _, p := range Default() {
		if !slices.Contains(p.KeyEnv, e.KeyEnv) {
			continue
		}
		located, _ := p.Locate("", getenv) // an address that is none is no host's
		if host := Host(e.BaseURL); host == Host(p.BaseURL) || host == Host(located.BaseURL) {
			return true
		}
	}
	return false
}

// onLoopback reports whether an address is on this machine, by an address of loopback
// or by the name that means it everywhere.
func onLoopback(address string) bool {
	name, ip := hostOf(address)
	return strings.EqualFold(name, "localhost") || ip.IsLoopback()
}

// hostOf is the name of the host in an address, and its IP address where it is one; both are
// empty for what is no address.
func hostOf(address string) (name string, ip netip.Addr) {
	u, err := url.Parse(address)
	if err != nil {
		return "", ip
	}
	ip, _ = netip.ParseAddr(u.Hostname()) // any other name has none
	return u.Hostname(), ip.Unmap()
}

// keyVariables are the variables beside those that end in _API_KEY that a file may
// name as those of keys.
var keyVariables = []string{"HF_TOKEN", "REPLICATE_API_TOKEN", "CLOUDFLARE_API_TOKEN", "DATABRICKS_TOKEN", "AZURE_OPENAI_KEY"}

// addressEndings are how the names of variables end that a file may name as those of
// addresses.
var addressEndings = []string{"_URL", "_HOST", "_ENDPOINT", "_API_BASE"}

// checkVariables refuses environment variables that hold neither keys of models nor
// addresses: a file, which may be another's, must not have the program send any
// secret of the user's anywhere.
func (p Provider) checkVariables() error {
	for _, name := range p.KeyEnv {
		if !strings.HasSuffix(name, "_API_KEY") && !slices.Contains(keyVariables, name) {
			return errors.New(p.Name + ": key_env: a file may name only variables that end in _API_KEY, and " + strings.Join(keyVariables, ", ") + "; " + name + " is not one of them")
		}
	}
	ends := func(ending string) bool { return strings.HasSuffix(p.BaseURLEnv, ending) }
	if p.BaseURLEnv != "" && !slices.ContainsFunc(addressEndings, ends) {
		return errors.New(p.Name + ": base_url_env: a file may name only variables that end in " + strings.Join(addressEndings, ", ") + "; " + p.BaseURLEnv + " does not")
	}
	return nil
}
