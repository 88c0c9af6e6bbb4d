// Package job walks what a study asks, as far as the replies go that a store holds. What
// is missing is the work: from one walk follow the calls to make, how many they are and
// what they may cost, a sample of that, what stands behind each call, and what was used so
// far.
//
// A kind of study says how its items are walked, and knows nothing of who makes calls.
// InOrder walks several of them at once.
package job
