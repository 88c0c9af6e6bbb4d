package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

const (
	// maxEntries is the most entries of all lists and maps in one header. A footer has a
	// few dozen for each column of each row group. An entry of a few bytes can take half
	// a kilobyte of the library's memory.
	maxEntries = 400_000
	// maxHeaderDepth is how deep the values of a header may be nested.
	maxHeaderDepth = 32
)

var (
	errShort   = errors.New("a header ends too soon")
	errEntries = fmt.Errorf("a header has more than %d entries", maxEntries)
	errNested  = fmt.Errorf("a header with more than %d nested values", maxHeaderDepth)
)

// walker walks over a struct in Thrift's compact protocol without keeping any of it.
type walker struct {
	in      thrift.BytesReader
	entries int
	// lists has the lengths of the outermost struct's lists, by field.
	lists map[int16]int
	field int16
}

// headerLength is the length of the struct at the start of data, and the lengths of its
// lists by field. It fails if the struct does not end within data, or would take too much
// to decode.
func headerLength(data []byte) (int, map[int16]int, error) {
	w := walker{in: (&thrift.CompactProtocol{}).NewReaderFromBytes(data), lists: map[int16]int{}}
	err := w.structure(0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
	}
	return w.in.BytesRead(), w.lists, err
}

// structure walks over the fields of a struct up to its end.
func (w *walker) structure(depth int) error {
	if depth > maxHeaderDepth {
		return errNested
	}
	id := int16(0)
	for {
		f, err := w.in.ReadField()
		if err != nil || f.Type == thrift.STOP {
			return err
		}
		if f.Delta {
			f.ID += id
		}
		id = f.ID
		if depth == 0 {
			w.field = id
		}
		// A boolean's type contains its value.
		if f.Type == thrift.TRUE || f.Type == thrift.FALSE {
			continue
		}
		if err := w.value(f.Type, depth); err != nil {
			return err
		}
	}
}

// value walks over a value that has its own bytes.
func (w *walker) value(kind thrift.Type, depth int) (err error) {
	switch kind {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		_, err = w.in.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = w.in.ReadInt64()
	case thrift.DOUBLE:
		_, err = w.in.ReadFloat64()
	case thrift.UUID:
		if _, err = w.in.ReadFloat64(); err == nil {
			_, err = w.in.ReadFloat64()
		}
	case thrift.BINARY:
		_, err = w.in.ReadBytes()
	case thrift.STRUCT:
		err = w.structure(depth + 1)
	case thrift.LIST, thrift.SET:
		var l thrift.List
		if l, err = w.in.ReadList(); err == nil {
			err = w.list(int(l.Size), depth, l.Type)
		}
	case thrift.MAP:
		var m thrift.Map
		if m, err = w.in.ReadMap(); err == nil {
			err = w.list(int(m.Size), depth, m.Key, m.Value)
		}
	default:
		err = fmt.Errorf("a header holds a value of the unknown type %d", kind)
	}
	return err
}

// list walks over n entries; each has a value of every kind.
func (w *walker) list(n, depth int, kinds ...thrift.Type) error {
	if depth >= maxHeaderDepth {
		return errNested
	}
	if w.entries += n; w.entries > maxEntries {
		return errEntries
	}
	if depth == 0 {
		w.lists[w.field] = max(w.lists[w.field], n)
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
