package wire_test

import (
	"testing"

	"github.com/orbench/orbench/internal/dialect/wire"
)

func TestLimited(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"This organization has been disabled.":                                                              true,
		"Your resource has been temporarily blocked because we detected unusual behavior.":                  true,
		"Organization has been restricted. Please reach out to support if you believe this was in error.":   true,
		"The OpenAI account associated with this API key has been deactivated. If you are the developer, …": true,
		"Your OpenAI account has been deactivated, please check your email for more information.":           true,
		"This key is associated with a deactivated account.":                                                true,
		"Your access was terminated due to violation of our policies":                                       true,
		"Your account has been disabled after an automatic review of your recent activities.":               true,
		"Permission denied: Consumer 'api_key:[key]' has been suspended.":                                   true,
		"Gemini has been disabled in this account for violation of Terms of Service.":                       true,
		"Your account org-1 is suspended due to insufficient balance, please recharge":                      false,
		"Your account has been suspended, as the payment of your last invoice failed":                       false,
		"Your account is not active, please check your billing details":                                     false,
		"You do not have access to the organization tied to the API key.":                                   false,
		"The request is prohibited due to a violation of provider Terms Of Service.":                        false,
		"messages.0: input should be a valid string, got: this organization has been disabled":              false,
		"Your organization must be verified to use this model":                                              false,
		"The resource 'm' has been disabled":                                                                false,
		"":                                                                                                  false,
	} {
		if got := wire.Limited(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
	for code, want := range map[string]bool{
		"cyber_policy": true, "ACCOUNT_DEACTIVATED": true, "CONSUMER_SUSPENDED": true, "billing_not_active": false, "permission_error": false, "": false,
	} {
		if got := wire.Limited("no", "other", code); got != want {
			t.Errorf("code %s: %v", code, got)
		}
	}
}
