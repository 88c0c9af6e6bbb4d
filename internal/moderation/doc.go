// Package moderation has an ensemble of moderators label the prompts of any dataset,
// under one policy of harm or several, and shows which labels change with the
// policy.
//
// Votes are asked for by the same questions as those of a build, so what one of them
// paid for the other finds in the store.
package moderation
