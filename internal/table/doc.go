// Package table shows what commands found, in one way: a View is a Document for people,
// from which text and Markdown follow, rows for CSV and data for JSON. Each is written by
// a Format, one to a file. It knows no evaluation; it has how every number and name is
// printed.
package table
