// Package drift watches the refusals of one model over time.
//
// Runs of a model at different times, such as one each night, are not competitors: the
// question is whether the model has changed. Watch compares the last nights with the mean of
// a baseline and raises an alarm. The alarm holds over repeated looks: a model that has not
// changed gives one in at most 5% of years of 365 nights.
//
// The night-to-night spread is estimated from the nights themselves, so it needs no word on
// how often verdicts flip. It is smallest where each night asks the same prompts. All nights
// have the same judge, so its error is shared by them and is no part of a change.
package drift
