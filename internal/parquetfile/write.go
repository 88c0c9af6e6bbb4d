package parquetfile

import (
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// batch is the number of rows passed to the library at once.
const batch = 1024

// Write writes rows of a struct type, compressed with Zstandard. The library names
// the fields by their `parquet` tags.
func Write[T any](w io.Writer, rows []T) error {
	var row T
	out := NewWriter(w, parquet.SchemaOf(row))
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

// Writer writes rows. It is an interface over the library's writer. With the
// library's generic type, each package that writes a file would compile some hundred of
// its functions again.
type Writer interface {
	// Write writes structs, or pointers to them.
	Write(rows []any) (int, error)
	// WriteRows writes rows given by their columns.
	WriteRows(rows []parquet.Row) (int, error)
	// Flush ends a row group.
	Flush() error
	Close() error
}

// NewWriter makes a Writer of files compressed with Zstandard.
//
//go:noinline
func NewWriter(w io.Writer, schema *parquet.Schema) Writer {
	return parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd))
}
