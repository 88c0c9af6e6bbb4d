// Package study is what a store keeps by name of what was asked of whom about what, whatever
// its kind: an evaluation, the judging of a file, a vote of moderators. It lists and finds
// studies, holds a new one to what the store has by its name, and keeps with it how it was
// made and the prompts that it asks.
//
// What a study's settings mean is the matter of its kind.
package study
