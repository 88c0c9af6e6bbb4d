// Package study has the studies that a store keeps by name, of every kind: an evaluation,
// the judging of a file, a vote of moderators. It lists and finds studies, compares a new
// one with the stored one of its name, and keeps how each was made and the prompts that it
// asks.
//
// The package of each kind knows what the study's settings mean.
package study
