// Package spelling finds the name that a misspelt one most likely means, for the
// errors that say "did you mean".
package spelling
