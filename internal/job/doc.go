// Package job walks what a study asks, as far as the stored replies allow. The missing
// replies are the work. One walk gives the calls to make, their number and their possible
// cost, a sample of these, the purpose of each call, and what was used so far.
//
// A kind of study says how its items are walked, and does not know who makes calls. InOrder
// walks several of them at once.
package job
