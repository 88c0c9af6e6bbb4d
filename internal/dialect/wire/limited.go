package wire

import (
	"regexp"
	"slices"
	"strings"
)

// limits are the codes by which providers say that they limited, suspended or closed the
// account: OpenAI's (https://developers.openai.com/api/docs/guides/safety-checks/cybersecurity),
// Groq's, a router's, and Google's (google.api.ErrorReason).
var limits = []string{"cyber_policy", "account_deactivated", "access_terminated", "organization_restricted", "user_blocked", "consumer_suspended"}

// limitWords are how messages of providers without such a code begin: Anthropic's ("This
// organization has been disabled."), Azure's ("Your resource has been temporarily blocked
// because we detected …"), older ones of OpenAI. Only the beginning is looked at, since a
// message may quote a prompt.
var limitWords = regexp.MustCompile(`^(?:this key is associated with a deactivated account|(?:this service|gemini) has been disabled in this account for violation` +
	`|(?:permission denied: )?consumer '[^']*' has been suspended` +
	`|(?:your |this |the )?(?:openai )?(?:account|organization|access|resource)(?: associated with this api key)? (?:has been|was) (?:temporarily )?(?:disabled|deactivated|suspended|terminated|restricted|blocked|banned)\b)`)

// unpaid are words of an account that is suspended until it is paid for.
var unpaid = regexp.MustCompile(`\b(?:balance|billing|credits?|payment|quota|unpaid)\b`)

// Limited reports whether the codes or the message of a fault say that the provider
// limited, suspended or closed the account for what it was sent.
func Limited(message string, codes ...string) bool {
	if slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(limits, strings.ToLower(c)) }) {
		return true
	}
	message = strings.ToLower(strings.TrimSpace(message))
	return limitWords.MatchString(message) && !unpaid.MatchString(message)
}
