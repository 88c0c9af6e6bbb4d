// Package overlap shows what two datasets have in common and how varied each is:
// as text, Markdown, CSV and JSON, and pair by pair.
package overlap
