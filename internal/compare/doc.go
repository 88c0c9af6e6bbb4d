// Package compare tells whether a candidate refuses more or less than a base:
// two targets that answered the same prompts, judged by the same judge.
//
// A Comparison takes the rows of both and pairs them by prompt. Result gives,
// for over-refusal and for toxic refusal, in all and by category, both rates,
// their difference with an interval, and the p-value of McNemar's test, which
// looks only at the prompts that flipped. The interval is Tango's.
// Where the two share no prompt, the rates are of two independent samples: the
// interval is Newcombe's and the test Fisher's.
//
// Prompts that share a cluster, such as the rewrites of one seed, are not
// independent of each other. Where there are any, whole clusters are what intervals
// draw and tests count.
//
// A prompt that lacks a verdict on either side is in no rate. It is counted, so
// that every prompt of both sides is found again in a Result.
//
// A Gate is a condition on a difference or on the candidate's rate that fails a build:
// an alarm when it holds, such as "over_refusal > +2pp", a requirement unless it is
// shown to hold, such as "toxic_refusal >= -1pp"; ParseGate has the grammar.
package compare
