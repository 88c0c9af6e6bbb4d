// Package queue has calls made by workers on any number of machines, over one database.
//
// Filler is the fill.Filler that makes no call: it puts what is missing into the database,
// in shards of some hundred calls, each a job of River (github.com/riverqueue/river), and
// follows until all of them are answered or have failed. Worker takes shards, fills each
// with a fill.Live, whose answers go into the same store, and deletes from the queue what is
// answered.
//
//	eval ─► Filler ─► queued_calls + jobs of River ─► Worker ─► fill.Live ─► store
//	           ▲                                                               │
//	           └───────────────── answered, or failed ◄────────────────────────┘
//
// A call is queued once, by its hash, and its request is there with it, so a worker needs
// neither files nor the run. Everything can be done twice: an answered call is not asked
// again, a call under way is claimed, and who dies leaves its calls queued. So a worker may
// be killed or frozen at any moment: once it has said nothing for a while, by the clock of the
// database, the others take its shards.
//
// The shards of each fill and endpoint are a queue of River of their own, which every worker
// takes up that can ask the endpoint. So calls that wait for a limit hold up no others, and a
// worker without a key that is taken leaves them to others. Workers note every second that
// they run and what they leave; who follows a fill reads that.
//
// Limits per minute are kept in the database as times from which more may be used, taken
// ahead for a second's worth. A budget is that of a fill.Account, of which each worker has a share.
package queue
