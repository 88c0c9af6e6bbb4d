// Package rows reads the rows of a file in CSV, TSV, JSON, JSON Lines or Parquet one
// by one: a prompt or none, and the columns that the caller chooses beside it. It
// bounds what a row may take of memory, and knows the place of a fault; what the
// columns mean is the caller's business.
package rows
