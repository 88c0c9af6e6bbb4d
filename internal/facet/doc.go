// Package facet says what answers are chosen by. An answer has a sample and a kind, and each
// of these has terms: the values that the parameters of a page's address may name. Whoever
// chooses or counts answers goes by terms alone: Choice for a server, and for the page of a
// folder its script, which has the terms as data. So only this package says what a value
// means.
package facet
