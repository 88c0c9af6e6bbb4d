// Package rows reads the rows of a file in CSV, TSV, JSON, JSON Lines or Parquet, or the
// answers in another tool's log, one by one: a prompt, if there is one, and the other columns that the caller chooses. It
// bounds the memory of a row and reports the place of a fault. The caller decides what
// the columns mean. The package writes Parquet files too.
//
// The library that reads Parquet trusts the sizes that a file states. Five bytes can
// stand for a list of two billion entries or a run of two billion values. A file of 94 kB
// made the library take 7 GB and then crash in a way that nothing can recover from. So
// this package walks over the footer, and the pages of each row group, before the library
// sees them. It refuses whatever would take more than its bound, with an error that names
// it. The format is that of https://parquet.apache.org/docs/file-format/; its headers use
// Thrift's compact protocol.
package rows
