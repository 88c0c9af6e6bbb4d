// Package table prints figures: sections of rows as text, Markdown, CSV and JSON,
// and every number and name in them in one way. It knows no evaluation.
package table
