// Package compare tells whether a candidate refuses more or less than a base.
// The two are targets that answered the same prompts, judged by the same judge.
//
// A Comparison takes the rows of both and pairs them by prompt. Result gives
// both rates, their difference with an interval, and the p-value of McNemar's
// test, which looks only at the prompts that flipped. It does so for
// over-refusal and for toxic refusal, in all and by category. The interval is
// Tango's. If the two share no prompt, the rates are those of two independent
// samples: the interval is Newcombe's and the test Fisher's.
//
// Prompts that share a cluster, such as the rewrites of one seed, are not
// independent of each other. If there are any, intervals and tests are based on
// whole clusters.
//
// A prompt that lacks a verdict on either side is in no rate. It is still
// counted, so a Result accounts for every prompt of both sides.
//
// A Gate is a condition on a difference or on the candidate's rate that fails a
// build. An alarm, such as "over_refusal > +2pp", fails it when it holds. A
// requirement, such as "toxic_refusal >= -1pp", fails it unless it is shown to
// hold. ParseGate has the grammar.
package compare
