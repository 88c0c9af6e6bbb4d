// Package vote counts votes: of judges on an answer, of moderators on a prompt, and
// of people on a label.
package vote
