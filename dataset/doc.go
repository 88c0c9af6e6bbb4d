// Package dataset reads sets of prompts: CSV, TSV, JSON Lines and Parquet files,
// the built-in set "starter", and the published benchmarks that Pull fetches
// from the Hugging Face hub.
//
// Open reads a whole dataset once and checks every row, so that a fault in the
// last row is found before the first call is paid for. What it keeps is the
// description (a Dataset): the counts, the columns used and a hash of the
// content. Prompts then streams the same rows again, so memory does not grow
// with the dataset except, while Open runs, by some twenty bytes a row.
//
// Rows with the same text count once; Dataset.Duplicates says how many were
// left out. The hash covers the prompts in order and not the file around them:
// the same rows as CSV and as Parquet have the same hash.
//
// OpenRecording reads files of answers that were given elsewhere, with people's
// labels where there are any, in the same two steps. Its rows all count, since
// each is an answer of its own.
//
// A fault in what the user gave is an *orbench.InputError with the file, the
// line and a hint. The package does not write datasets, and it reads no
// environment variables.
package dataset
