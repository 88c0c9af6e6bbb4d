// Package dataset reads sets of prompts: CSV, TSV, JSON Lines and Parquet files, the
// built-in set "starter", and the published benchmarks that Pull fetches from the Hugging
// Face hub.
//
// Open reads a whole dataset once and checks every row, so that a fault in the last row
// is found before the first call is paid for. It keeps only the description (a Dataset):
// the counts, the columns used and a hash of the content. Prompts then streams the same
// rows again. So memory does not grow with the dataset, except for some twenty bytes a
// row while Open runs.
//
// Rows with the same text count once; Dataset.Duplicates gives the number left out. The
// hash covers the prompts in order and not the file around them: the same rows as CSV and
// as Parquet have the same hash.
//
// OpenRecording reads files of answers given elsewhere, with people's labels if there are
// any, in the same two steps. All its rows count, since each is an answer of its own.
//
// A fault in the user's input is an *orbench.InputError with the file, the line and a
// hint. The package does not write datasets and reads no environment variables.
package dataset
