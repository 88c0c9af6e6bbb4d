// Package help writes what a command says of itself: for a terminal, for
// docs/commands.md and as pages for man. Flags stand in groups, and lines break
// between words.
package help
