// Package untrusted makes text from a model, a dataset, a provider or a person safe to
// show: in a terminal, Markdown, a spreadsheet's cell, an attribute of a page, an error,
// or a line of a prompt. Ordinary text stays unchanged. It also reads files that may be
// too long.
package untrusted
