// Package transition has the moves of a machine from state to state in one array that
// is small and quick to look up.
package transition
