// Package parquetfile reads rows of Parquet files for package rows, and writes such files. The
// program gives Open to package rows; what only reads other files does without the library.
//
// The library that reads Parquet trusts the sizes that a file states. Five bytes can
// stand for a list of two billion entries or a run of two billion values. A file of 94 kB
// made the library take 7 GB and then crash in a way that nothing can recover from. So
// this package walks over the footer, and the pages of each row group, before the library
// sees them. It refuses whatever would take more than its bound, with an error that names
// it. The format is that of https://parquet.apache.org/docs/file-format/; its headers use
// Thrift's compact protocol.
package parquetfile
