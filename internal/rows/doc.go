// Package rows reads the rows of a file in CSV, TSV, JSON, JSON Lines or Parquet one
// by one: a prompt or none, and the columns that the caller chooses beside it. It
// bounds what a row may take of memory, and knows the place of a fault; what the
// columns mean is the caller's business. It writes Parquet files too.
//
// The library that reads Parquet believes what a file says of its own sizes: five bytes
// can stand for a list of two billion entries or a run of two billion values, 94 kB made
// it take 7 GB, and what it then does ends in a crash that nothing recovers from. So the
// footer, and the pages of each row group, are walked before the library sees them, and
// whatever would take more than its bound is refused with an error that names it. The
// format is that of https://parquet.apache.org/docs/file-format/, its headers are
// Thrift's compact protocol.
package rows
