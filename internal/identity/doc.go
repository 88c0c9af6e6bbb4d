// Package identity says why calls are asked and not remembered: which parts of a request
// differ from the nearest one that a store has a response to, and how many calls share
// the cause. It asks nothing and stores nothing.
//
// A request is remembered by the hash of everything in it; see [model.Request]. Find
// compares the calls of a run with all others of a store. Nearest is the one with the
// least that differs, where the model counts for more than a parameter; a call about
// another text is near only where the texts are near duplicates, as after an edit.
//
// Millions of calls are compared, so what each says is kept as numbers that stand for the
// values of its parts, and one pass over the store finds the nearest. A second pass looks
// for texts that are alike, where some calls have none near and the store has texts that
// the run does not ask. The few texts that are shown are read by hash in the end.
package identity
