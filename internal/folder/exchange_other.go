//go:build !linux && !darwin

package folder

// exchange swaps the names of two directories.
func exchange(a, b string) error { return exchangeInSteps(a, b) }
