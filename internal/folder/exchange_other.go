//go:build !linux && !darwin

package folder

// exchange gives two directories each other's name.
func exchange(a, b string) error { return exchangeInSteps(a, b) }
