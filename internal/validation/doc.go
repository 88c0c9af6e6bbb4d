// Package validation holds what judges were measured to be on answers that people
// labeled, so that every rate can say how far its judge is known to be off.
//
// A measurement is a confusion table of one judge on the answers of one model to the
// prompts of one set. Those on answers that the judge was fitted to are kept apart
// from the others: they show what fitting reached and say nothing of new answers.
// docs/judges.md says where the answers come from.
package validation
