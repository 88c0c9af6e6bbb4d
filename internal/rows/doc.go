// Package rows reads the rows of a file in CSV, TSV, JSON, JSON Lines or Parquet, or the
// answers in another tool's log, one by one: a prompt, if there is one, and the other columns
// that the caller chooses. It bounds the memory of a row and reports the place of a fault. The
// caller decides what the columns mean. Package parquetfile reads and writes Parquet.
package rows
