// Package identity says why calls are asked and not remembered: which parts of a request
// differ from the nearest one that a store has a response to, and how many calls share
// the cause. It asks nothing and stores nothing.
//
// A request is remembered by the hash of everything in it; see [model.Request]. Find
// compares the calls of a run with all others of a store. The nearest call is the one that
// differs least; a different model counts for more than a different parameter. A call about
// another text is near only if the texts are near duplicates, as after an edit.
//
// Millions of calls are compared, so each is kept as numbers that stand for the values of
// its parts. One pass over the store finds the nearest calls. If some calls have none near
// and the store has texts that the run does not ask, a second pass looks for similar texts.
// At the end the few texts that are shown are read by hash.
package identity
