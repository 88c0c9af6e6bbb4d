package provider

import (
	"net/netip"
	"net/url"
	"strings"
)

// Own reports whether the endpoint is a server of the user's own, and not a provider's public
// API. Those that give each customer an address are public too.
func (e Endpoint) Own() bool {
	public := e.Provider.BaseURL
	switch {
	case public == "":
		return false
	case onLoopback(e.BaseURL) || isPrivate(e.BaseURL):
		return true
	}
	return !sameDomain(e.BaseURL, strings.TrimRight(public, "/"))
}

// isPrivate reports whether an address is in a network of one's own.
func isPrivate(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip.Unmap().IsPrivate() || ip.Unmap().IsLinkLocalUnicast()) || err != nil && !strings.Contains(u.Hostname(), ".")
}
