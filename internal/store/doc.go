// Package store remembers paid calls: the one piece of state that everything
// else is derived from.
//
// A Store maps the hash of a request to the response that was paid for. A
// response counts only once it is durable: Put returns after the transaction
// that holds it has reached the disk. Rows are added and never changed, so a
// process that is killed at any moment loses at most the calls that it had in
// flight, and one that starts again finds all others.
//
// Durability does not cost throughput, because commits are grouped: while one
// transaction is being written, the responses that arrive meanwhile gather for
// the next one.
//
//	worker ─┐
//	worker ─┼─► open group ─► committer ─► Backend.Put ─► each worker's Remember returns
//	worker ─┘
//
// Several processes may fill one store. Each claims calls before it makes them, for a
// term that it renews, so that no two make the same. In a file no clock of one machine is
// compared with that of another; see Watch. A database has a clock for all.
//
// What they spend on a study they tell each other by shares: what each has spent, and what it
// holds to spend next. Shares end with the last of them; what was spent follows from the rest.
//
// Calls may be out with a provider for a day, as a batch. A store keeps which, with their
// requests, so that what comes back finds its place, and so that nobody makes them
// meanwhile without knowing.
//
// A store also keeps the prompts of the datasets that were asked, so that it
// explains itself without the files that they came from, and what people say of
// answers and prompts. Both are named by the hash of their content and never
// changed, as responses are. Two things are there that no figure rests on: the last
// failure of each call that has no response, so that a report can tell failed from
// never asked, and the configurations of runs, by name.
//
// Packages sqlite and postgres are the backends. The statements that both have alike, and
// what tells a damaged row, are in Tables.
package store
