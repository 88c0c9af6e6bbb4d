package client

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// ParseURLs reads base URLs, each URL or PROVIDER=URL, and gives them by provider. A
// URL without a provider belongs to the only one that named lists. The error is an
// *orbench.InputError.
func ParseURLs(values, named []string) (map[string]string, error) {
	urls := map[string]string{}
	for _, v := range values {
		name, url, ok := strings.Cut(v, "=")
		if !ok || strings.Contains(name, "/") {
			if len(named) == 0 {
				return nil, wrongURL(untrusted.Addresses(v)+" is for no model that is named", "leave it out")
			}
			if len(named) > 1 {
				return nil, wrongURL(fmt.Sprintf("%s could be for any of %s", untrusted.Addresses(v), strings.Join(named, ", ")),
					"write `base-url` PROVIDER=URL")
			}
			name, url = named[0], v
		}
		if url == "" {
			return nil, wrongURL("the address of "+name+" is empty", "write it, such as http://127.0.0.1:8080/v1")
		}
		if old, twice := urls[name]; twice && old != url {
			return nil, wrongURL("two addresses are given for "+name, "give one, or each target its own as base_url in the file of `config`")
		}
		urls[name] = url
	}
	return urls, nil
}

func wrongURL(problem, hint string) error {
	return &orbench.InputError{Setting: "base-url", Problem: problem, Hint: hint}
}
