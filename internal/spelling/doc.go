// Package spelling finds the name that a misspelled one most likely means, for the
// errors that say "did you mean".
package spelling
