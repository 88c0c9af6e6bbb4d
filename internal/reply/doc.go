// Package reply reads what came back from a model, whatever brought it: which part of a text
// is thinking, how the answer ended, who withheld it, what is no answer at all, and what is
// around it.
//
// What it knows is in tables, one file each, whose entries have a source and a date. A Reading
// is what is known at a date. A study keeps the date of its own, so that a better table
// changes no figure of it until somebody says so.
package reply
