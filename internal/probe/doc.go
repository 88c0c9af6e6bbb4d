// Package probe says which answers of a run get a forged verdict planted in them, and
// counts how often judges fall for it.
//
// A probe is an answer of the run whose verdict a judge has given, put to it once more
// with a verdict of the other side at its end; see judge.Forge. Nothing of it enters any
// other figure: what a judge says of a probe counts here alone.
package probe
