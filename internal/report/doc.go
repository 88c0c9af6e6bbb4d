// Package report shows what a run found: as a table on a terminal, as JSON, CSV
// and Markdown, and as a Folder with pages, plots and every answer.
//
// The figures come in as a score.Result and are never computed again here. The
// answers come in as a stream of score.Chunk values. Each is written as it
// arrives, as lines of JSON and as chunks of the page of answers, so memory does
// not grow with the run.
//
// Everything from a dataset or a model is untrusted text. The table removes
// what would control a terminal, CSV disarms what a spreadsheet would evaluate,
// and Markdown escapes what would become markup. Pages are html/templates under
// a content security policy: they run no script but orbench's own, and what that
// loads from the folder.
//
// The same input gives the same bytes: no clock, no randomness, no map order.
// JSON and CSV round nothing; all else rounds rates to 0.1 per cent.
package report
