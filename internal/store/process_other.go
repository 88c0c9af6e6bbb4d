//go:build !linux && !darwin

package store

// ProcessPlace is empty: nothing is known of other processes here, and their claims end in time.
func ProcessPlace() string { return "" }

// ProcessGone is never true.
func ProcessGone(int) bool { return false }
