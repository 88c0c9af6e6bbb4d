// Package untrusted makes text that came from a model, a dataset, a provider or a
// person fit for where it is shown: a terminal, Markdown, a spreadsheet's cell, an
// attribute of a page, an error, a line of a prompt. Ordinary text stays as it is. It
// also reads files that may be longer than they should be.
package untrusted
