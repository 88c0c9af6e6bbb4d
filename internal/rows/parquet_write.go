package rows

import (
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// batch is how many rows are handed to the library together.
const batch = 1024

// WriteParquet writes rows of a struct type, compressed with Zstandard; fields are named by their
// tags `parquet`, as the library reads them.
func WriteParquet[T any](w io.Writer, rows []T) error {
	var row T
	out := NewParquetWriter(w, parquet.SchemaOf(row))
	for piece := range slices.Chunk(rows, batch) {
		written := make([]any, len(piece))
		for i := range piece {
			written[i] = &piece[i]
		}
		if _, err := out.Write(written); err != nil {
			return err
		}
	}
	return out.Close()
}

// ParquetWriter writes rows. It is the library's, as an interface: with its generic type each
// package that writes a file would compile some hundred functions of the library again.
type ParquetWriter interface {
	// Write writes structs, or pointers to them.
	Write(rows []any) (int, error)
	// WriteRows writes rows by their columns.
	WriteRows(rows []parquet.Row) (int, error)
	// Flush ends a row group.
	Flush() error
	Close() error
}

// NewParquetWriter makes a ParquetWriter of files compressed with Zstandard.
//
//go:noinline
func NewParquetWriter(w io.Writer, schema *parquet.Schema) ParquetWriter {
	return parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd))
}
