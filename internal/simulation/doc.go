// Package simulation proves by its tests that no schedule of faults loses a call, has one
// paid for twice that was not under way at a fault, or breaks a limit or a budget. It has
// no code besides.
//
// A seed decides a schedule: how many processes fill one store, with what limits and
// budget, which of them is killed, frozen or interrupted when, when the store and the
// providers fail, and what becomes of each call. All of it happens in virtual time, in
// memory alone but for the store, which is a real SQLite file. The fills, their claims,
// gates, pacers, budgets and leases are those of package fill; simulated are the providers,
// which count what they charge for, and the faults, which stand between a process and
// everything else. After the faults an undisturbed process fills what is left, and then
// rows, charges and counts are held against each other.
//
// What goroutines do at one virtual instant is up to Go's scheduler. So that little is,
// every call and every access to the store takes a time of its own, drawn from the seed
// down to nanoseconds, and one processor runs all: the same seed gives the same trace.
package simulation
