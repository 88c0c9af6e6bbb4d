// Package answers receives the rows of a run as they are derived. A Collector
// writes each row and keeps a bounded sample of those worth reading, cut to
// what a page shows.
package answers
