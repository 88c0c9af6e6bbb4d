// Package moderation has an ensemble of moderators label the prompts of any dataset,
// under one policy of harm or several. It shows which labels change with the policy.
//
// It asks for votes in the same words as a build. So each finds in the store the votes
// that the other has paid for.
package moderation
