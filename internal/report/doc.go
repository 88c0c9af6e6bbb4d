// Package report shows what a run found: as a table on a terminal, as JSON, CSV
// and Markdown, and as a Folder with a page, plots and every answer.
//
// The figures come in as a score.Result and are never computed again here. The
// answers come in as a stream of score.AnswerRow values into an
// answers.Collector. It writes each answer as it arrives and keeps a bounded
// sample for the page, so memory does not grow with the run.
//
// Everything from a dataset or a model is untrusted text. The table removes
// what would control a terminal, CSV disarms what a spreadsheet would evaluate,
// and Markdown escapes what would become markup. The page is an html/template
// under a content security policy: it loads nothing and runs only its own
// script.
//
// The same input gives the same bytes: no clock, no randomness, no map order.
// JSON and CSV round nothing; all else rounds rates to 0.1 per cent.
package report
