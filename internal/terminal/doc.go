// Package terminal tells what a stream of output is shown on: whether it is a
// terminal, how wide it is, and whether it shall have colors.
package terminal
