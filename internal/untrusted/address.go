package untrusted

import (
	"net/url"
	"regexp"
)

// Hidden stands for a secret.
const Hidden = "REDACTED"

var (
	// addresses are those within a text.
	addresses = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)
	// users are what stands before the host of an address, or of a malformed one may, and
	// parameters those of a query that are named as secrets are.
	users      = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#]*@`)
	usersOfBad = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*://).*@`)
	parameters = regexp.MustCompile(`(?i)([?&][^=&#]*(?:key|token|secret|sig|pass|auth|cred)[^=&#]*=)[^&#]+`)
)

// Address is an address, which need not be a good one, without what in it may be a
// secret: a user with the password, who may be one himself, and parameters named like
// keys.
func Address(address string) string {
	user := users
	if _, err := url.Parse(address); err != nil {
		user = usersOfBad
	}
	clean := user.ReplaceAllString(address, "${1}"+Hidden+"@")
	return parameters.ReplaceAllString(clean, "${1}"+Hidden)
}

// Addresses is a text with every address in it as Address gives it.
func Addresses(text string) string { return addresses.ReplaceAllStringFunc(text, Address) }
