// Package batch has the calls that a run lacks, or other work that has a name, made by
// batch: written to files or handed to a provider's batch service, which answers within a
// day at about half the price, and remembered when they come back.
//
// A batch is calls of one model, kept in the store with their requests before anything
// leaves. From then on nobody makes them live without being told to. What becomes of it:
//
//	lacking calls ─► planned ─► out ─► collected: answers remembered, failures noted,
//	                    │        │                the other calls are free again
//	                    └────────┴───► canceled:  what was answered is collected first
//
// Each arrow is one write to the store after the step that it tells of, and every step
// can be done again: a file that was written is written anew, an answer that is there is
// passed over. So a process may be killed at any moment.
//
// A call is known by its hash, which is the custom ID under which it is out. So what comes
// back finds its place in any order and from any file.
package batch
