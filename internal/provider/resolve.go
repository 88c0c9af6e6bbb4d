package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
)

// Endpoint is a provider's entry with everything resolved that a client of its dialect
// needs.
type Endpoint struct {
	Provider Provider
	// BaseURL is the address to use, without a slash at its end.
	BaseURL string
	// Key is the secret to send; empty sends none.
	Key string
	// KeyEnv is the variable that has the key, empty where none is set.
	KeyEnv string
	// MaxTokensField is the field for the token limit in the openai dialect.
	MaxTokensField string
	// Identity is what model.Request.Endpoint must be: BaseURL where it is not
	// the provider's own, else empty.
	Identity string
}

// Resolve finds the address and the key of the provider. The arguments and errors are those
// of Locate. With a base URL from the user, the key is sent if there is one, but not
// required.
func (p Provider) Resolve(baseURL string, getenv func(string) string) (Endpoint, error) {
	e, err := p.Locate(baseURL, getenv)
	if err != nil {
		return Endpoint{}, err
	}
	if e.Key, err = key(e.KeyEnv, getenv); err != nil {
		return Endpoint{}, err
	}
	if e.Key == "" && !p.KeyOptional && baseURL == "" {
		return Endpoint{}, &orbench.InputError{
			Problem: fmt.Sprintf("there is no key for %s", p.Name),
			Hint:    "set " + strings.Join(p.KeyEnv, " or ") + p.misnamed(getenv),
		}
	}
	return e, nil
}

// misnamed names a variable that is set and that people confuse with the one for the key.
func (p Provider) misnamed(getenv func(string) string) string {
	for _, name := range p.KeyEnv {
		for _, ending := range []string{"_KEY", "_APIKEY", "_TOKEN", "_API_TOKEN"} {
			if wrong := strings.TrimSuffix(name, "_API_KEY") + ending; wrong != name && getenv(wrong) != "" {
				return "; " + wrong + ", which is set, is not read"
			}
		}
	}
	return ""
}

// Locate finds the provider's address, without a key. That is enough to know which calls
// are remembered, and to plan the others. The base URL is the user's, or empty; getenv
// looks up environment variables, as os.Getenv does. What is missing or malformed is an
// *orbench.InputError that names the setting, never the key's value.
func (p Provider) Locate(baseURL string, getenv func(string) string) (Endpoint, error) {
	e := Endpoint{Provider: p, MaxTokensField: cmp.Or(p.MaxTokensField, "max_tokens")}
	if i := slices.IndexFunc(p.KeyEnv, func(name string) bool { return strings.TrimSpace(getenv(name)) != "" }); i >= 0 {
		e.KeyEnv = p.KeyEnv[i]
	}
	own := strings.TrimRight(p.BaseURL, "/")
	var err error
	switch {
	case baseURL != "":
		if e.BaseURL, err = cleanURL(baseURL); err != nil {
			return Endpoint{}, &orbench.InputError{Setting: "base-url", Problem: fmt.Sprintf("the base URL of %s is wrong: %v", p.Name, err), Hint: "give an address such as http://127.0.0.1:8080/v1"}
		}
		if p.OtherServerMaxTokensField != "" && !sameDomain(e.BaseURL, own) {
			e.MaxTokensField = p.OtherServerMaxTokensField
		}
	case p.BaseURLEnv != "" && strings.TrimSpace(getenv(p.BaseURLEnv)) != "":
		if e.BaseURL, err = p.fromEnv(getenv(p.BaseURLEnv)); err != nil {
			return Endpoint{}, &orbench.InputError{Problem: fmt.Sprintf("the address in %s is wrong: %v", p.BaseURLEnv, err), Hint: "correct it, or give `base-url`"}
		}
	case p.addressUnread(getenv) != "":
		return Endpoint{}, &orbench.InputError{
			Problem: fmt.Sprintf("%s is set, which orbench does not read", p.addressUnread(getenv)),
			Hint:    fmt.Sprintf("give `base-url=%s=URL`, or unset it to ask %s at %s", p.Name, p.Name, cmp.Or(own, "its own address")),
		}
	case own != "":
		e.BaseURL = own
	default:
		return Endpoint{}, &orbench.InputError{
			Problem: fmt.Sprintf("the address of %s is not known", p.Name),
			Hint:    fmt.Sprintf("set %s to it, or give `base-url`", p.BaseURLEnv),
		}
	}
	switch {
	case p.Classifier != nil:
		// The same text asked in another way is another request.
		e.Identity = sameMachine(e.BaseURL) + p.Classifier.Path + "#" + p.Classifier.Identity()
	case sameMachine(e.BaseURL) != sameMachine(own):
		e.Identity = sameMachine(e.BaseURL)
	}
	return e, nil
}

// addressUnread is a variable with another address of the provider, which its own programs read,
// empty for none.
func (p Provider) addressUnread(getenv func(string) string) string {
	for _, name := range p.KeyEnv {
		stem := strings.TrimSuffix(name, "_API_KEY")
		for _, other := range []string{stem + "_BASE_URL", stem + "_API_BASE", stem + "_API_BASE_URL", stem + "_GEMINI_BASE_URL"} {
			at, err := cleanURL(getenv(other))
			if getenv(other) != "" && (err != nil || at != strings.TrimRight(p.BaseURL, "/")) {
				return other
			}
		}
	}
	return ""
}

// key reads the key from the variable of that name, which is empty for no key.
func key(name string, getenv func(string) string) (string, error) {
	if name == "" {
		return "", nil
	}
	key := strings.TrimSpace(getenv(name))
	// Such a key would be refused later, in a message that may quote it.
	if strings.ContainsFunc(key, func(r rune) bool {
		return r > unicode.MaxASCII || r <= ' ' || r == 0x7f || strings.ContainsRune("\"'`\\", r)
	}) {
		return "", &orbench.InputError{
			Problem: fmt.Sprintf("the key in %s holds a space, a line break, a quotation mark or a character that no key has", name),
			Hint:    "set it again, without quotation marks around it",
		}
	}
	return key, nil
}

// fromEnv completes an address from the environment, which people write as a
// bare host, a host with a port, or a URL.
func (p Provider) fromEnv(value string) (string, error) {
	value = strings.TrimSpace(value)
	bare := !strings.Contains(value, "://")
	if bare {
		scheme := "https"
		if strings.HasPrefix(p.BaseURL, "http://") {
			scheme = "http"
		}
		value = scheme + "://" + value
	}
	clean, err := cleanURL(value)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(clean)
	if err != nil {
		return "", err
	}
	host, port := u.Hostname(), u.Port()
	if own, err := url.Parse(p.BaseURL); err == nil && bare && port == "" {
		port = own.Port()
	}
	// A server's listening address on all interfaces is reached on loopback.
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u.Host = host
	if port != "" {
		u.Host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if !strings.HasSuffix(u.Path, p.BaseURLPath) {
		u.Path += p.BaseURLPath
	}
	return u.String(), nil
}

// cleanURL checks an address and brings it into the one form in which it is
// stored: without a slash at its end, and without the route of chat completions or
// of a classifier, which people copy along.
func cleanURL(s string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil:
		// The parser's error quotes the address, which may hold a password.
		return "", errors.New("it is not a URL that starts with http:// or https://")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("it must start with http:// or https://")
	case u.Host == "":
		return "", errors.New("it names no host")
	case strings.Contains(u.Path, ","):
		return "", errors.New("it holds a comma; give each address by itself")
	case !isPort(u.Port()):
		return "", fmt.Errorf("there is no port %s, since ports go from 1 to 65535", u.Port())
	case u.User != nil:
		return "", errors.New("it must not hold a user or a password, since addresses are stored; put the key in the provider's environment variable")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("it must not hold a ? or a #, since addresses are stored and keys must not be")
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimRight(route.ReplaceAllString(u.String(), ""), "/"), nil
}

// route is what APIs have behind their roots.
var route = regexp.MustCompile(`(?:/+(?:chat/completions|completions|responses|messages|embeddings|models(?:/[^/]+:[A-Za-z]+)?|predict|classify|moderations|api/(?:chat|generate|tags)))+/*$`)

// sameMachine is an address with one name for this machine, localhost being another.
func sameMachine(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() != "localhost" {
		return address
	}
	u.Host = strings.Replace(u.Host, "localhost", "127.0.0.1", 1)
	return u.String()
}

// isPort reports whether a port of an address can be one, or is left out.
func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// sameDomain reports whether two addresses share their last two labels, as
// eu.api.openai.com and api.openai.com do.
func sameDomain(a, b string) bool {
	domain := func(s string) string {
		u, err := url.Parse(s)
		if err != nil || net.ParseIP(u.Hostname()) != nil {
			return s
		}
		labels := strings.Split(u.Hostname(), ".")
		return strings.Join(labels[max(0, len(labels)-2):], ".")
	}
	return domain(a) == domain(b)
}
