package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

const (
	// magic begins and ends a file.
	magic = "PAR1"
	// maxFooter is the longest footer, in bytes.
	maxFooter = 16 << 20
	// maxElements is the most columns and groups of columns.
	maxElements = 20_000
	// maxChunks is the most column chunks: columns times row groups.
	maxChunks = 200_000

	// The fields of a footer that are lists of the schema's elements and of row groups.
	schemaField, groupsField = 2, 4
)

// boundedFile is a Parquet file whose footer is within bounds.
type boundedFile struct {
	*parquet.File
	in     io.ReaderAt
	size   int64
	leaves []*parquet.Column
}

// openBounded opens a file of the given size. It reads neither the page index nor
// Bloom filters. It may panic on a damaged file, as the library does.
func openBounded(in io.ReaderAt, size int64) (*boundedFile, error) {
	if err := checkFooter(in, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	return &boundedFile{File: f, in: in, size: size, leaves: leavesOf(f.Root(), nil)}, nil
}

func leavesOf(c *parquet.Column, leaves []*parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return append(leaves, c)
	}
	for _, child := range c.Columns() {
		leaves = leavesOf(child, leaves)
	}
	return leaves
}

// checkFooter refuses a footer that would take too much to decode. The library reports a
// file that is not Parquet at all.
func checkFooter(in io.ReaderAt, size int64) error {
	var end [8]byte
	if size < int64(len(end)) {
		return nil
	}
	if _, err := in.ReadAt(end[:], size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(end[4:]) != magic {
		return nil
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-int64(len(end)) {
		return errors.New("the footer is longer than the file")
	}
	if length > maxFooter {
		return fmt.Errorf("the footer has more than %d bytes", maxFooter)
	}
	footer := make([]byte, length)
	if _, err := in.ReadAt(footer, size-int64(len(end))-length); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, lists, err := headerLength(footer)
	if err != nil {
		return fmt.Errorf("the footer: %w", err)
	}
	if lists[schemaField] > maxElements {
		return fmt.Errorf("more than %d columns", maxElements)
	}
	if lists[schemaField]*lists[groupsField] > maxChunks {
		return fmt.Errorf("columns and row groups make more than %d pieces", maxChunks)
	}
	return nil
}

// Check walks over the pages of some columns in a row group, given by their indexes; nil
// means all. It reports what would exceed the bounds. A group must be checked before any
// of its columns is read.
func (f *boundedFile) Check(group int, columns []int) error {
	if columns == nil {
		for i := range f.leaves {
			columns = append(columns, i)
		}
	}
	chunks := f.Metadata().RowGroups[group].Columns
	left := int64(maxPages)
	inflater := &inflater{}
	for _, i := range columns {
		if i >= len(chunks) || i >= len(f.leaves) {
			return fmt.Errorf("row group %d has no column %d", group+1, i+1)
		}
		meta := &chunks[i].MetaData
		p := pages{in: f.in, column: f.leaves[i], codec: meta.Codec, at: meta.DataPageOffset, budget: left, inflater: inflater}
		if meta.DictionaryPageOffset != 0 {
			p.at = meta.DictionaryPageOffset
		}
		p.end = p.at + meta.TotalCompressedSize
		var err error
		if p.at < 0 || meta.TotalCompressedSize < 0 || p.end < p.at || p.end > f.size {
			err = errOffset
		} else {
			var largest int64
			largest, err = p.largest()
			left -= largest
		}
		if err != nil {
			return fmt.Errorf("row group %d, column %q: %w", group+1, strings.Join(f.leaves[i].Path(), "."), err)
		}
	}
	return nil
}
