// Package fill makes the calls that the store lacks: the only work in orbench
// that has side effects.
//
// What depends on replies is a model.Step. Recall does many of them with what the
// store holds, and says what each lacks; that is all that deriving takes. Work
// streams what is lacking to a Filler, which gets it into the store and knows
// nothing else of who wants it.
//
// Live is the Filler that calls the models at once. It has one Lane, which is a
// queue with its own bounds, for each provider endpoint, and sends what is neither
// remembered, nor in flight, nor failed before in this process. What becomes of a
// request:
//
//	wanted ─► remembered? ──yes──► (nothing)
//	            │ no
//	        claim: free? ──no──► another process makes it: looked up again
//	            │ yes
//	            ▼
//	 ┌─► pacer: the rate that the provider was found to allow ◄── rejects and answers
//	 │    gate: a place among the lane's concurrent calls           ◄── how long answers take
//	 │    pace: requests per minute, as the user bounds them
//	 │    budget: reserve the most that the call can cost, of what is held of the Account
//	 │    attempt: one call, with a time limit
//	 │       │
//	 │       ├─ response ─► store.Remember (durable) ─► counted
//	 │       └─ error ─► worth another attempt? ─no─► failure noted, counted
//	 └──── back-off ◄─────────yes┘
//
// A call keeps its place until its response is durable. So when the process is killed,
// at most Limits.Concurrency answers of a lane were paid for and lost.
//
// A call that waits by itself for its next attempt leaves its worker's turn to another.
//
// When the context ends, no new attempt starts; attempts under way are finished
// and remembered. Closing LiveConfig.Abort abandons those too.
//
// A model that cannot work (bad key, no such model, no credit, a certificate that is not
// accepted, or a row of calls that failed with nothing in between) is given up, with its
// error, while the other models of the lane go on. A 403 counts only before the first answer,
// as a guard gives it for single prompts.
package fill
