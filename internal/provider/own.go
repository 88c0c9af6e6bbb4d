package provider

import "strings"

// Own reports whether the endpoint is a server of the user's own, and not a provider's public
// API. Those that give each customer an address are public too.
func (e Endpoint) Own() bool {
	public := e.Provider.BaseURL
	name, ip := hostOf(e.BaseURL)
	switch {
	case public == "":
		return false
	case onLoopback(e.BaseURL), ip.IsPrivate(), ip.IsLinkLocalUnicast(), !ip.IsValid() && !strings.Contains(name, "."):
		return true // in a network of one's own
	}
	return !sameDomain(e.BaseURL, strings.TrimRight(public, "/"))
}
