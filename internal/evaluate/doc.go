// Package evaluate measures over-refusal and toxic refusal.
//
// A Run is targets × datasets × judges. Two methods walk the same prompts in
// the same order:
//
//   - Job streams the calls whose responses the run needs, for a fill.Filler.
//     A judge's requests are known only when the answer is there, so that part is
//     walked again and again until nothing is missing.
//   - Derive computes the figures from the dataset and the store alone. It calls
//     nothing and stores nothing; the same inputs give the same bytes.
//
// So a run that was killed, extended by a judge, or repeated needs no state of
// its own: a Filler finds less to do.
//
// Neither keeps more than a few chunks of prompts in memory at a time.
package evaluate
