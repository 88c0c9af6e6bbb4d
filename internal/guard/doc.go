// Package guard asks guards and reads their replies. A guard is a model trained to detect
// harmful prompts and answers.
//
// A Format is the request and reply of a family of guards, as its model card documents
// them. Classifier stands for endpoints that give a text labels with scores. A Guard is a
// format with the settings that decide what counts as flagged: a threshold, strictness, a
// policy. Its Ask is pure: it returns the requests whose replies are missing, and reads
// them when they are there. Judges and defenses ask guards about refusals and harm, and a
// guard can itself be measured.
//
// docs/guards.md says which formats were tried with the models themselves.
package guard
