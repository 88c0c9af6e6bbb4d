// Package table shows the results of commands in one way. A View has a Document
// for people, rows for CSV and data for JSON. Text and Markdown are written
// from the Document. A Format writes a View; each format has a file of its own.
// The package knows nothing about evaluation; it decides how every number and
// name is printed.
package table
