package rows

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of values in Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

const (
	// maxEntries is how many entries of lists and maps one header may have in all. A
	// footer has a few dozen for each column of each row group, and an entry of some
	// bytes can take the library half a kilobyte.
	maxEntries = 400_000
	// maxHeaderDepth is how deep the values of a header may lie in each other.
	maxHeaderDepth = 32
)

var (
	errShort   = errors.New("a header ends too soon")
	errEntries = fmt.Errorf("a header has more than %d entries", maxEntries)
	errNested  = fmt.Errorf("more than %d values of a header lie in each other", maxHeaderDepth)
)

// walker walks over a struct in Thrift's compact protocol without keeping any of it.
type walker struct {
	data    []byte
	at      int
	entries int
	// lists are the numbers of entries of the outermost struct's lists, by field.
	lists map[int64]int
	field int64
}

// headerLength is the length of the struct that data begins with, and the numbers of
// entries of its lists by field. It fails where the struct does not end in data, and
// where it would take too much to decode.
func headerLength(data []byte) (int, map[int64]int, error) {
	w := walker{data: data, lists: map[int64]int{}}
	err := w.structure(0)
	return w.at, w.lists, err
}

func (w *walker) byte() (byte, error) {
	if w.at >= len(w.data) {
		return 0, errShort
	}
	w.at++
	return w.data[w.at-1], nil
}

func (w *walker) uvarint() (uint64, error) {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 {
		return 0, errShort
	}
	w.at += n
	return v, nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

// structure walks over the fields of a struct up to its end.
func (w *walker) structure(depth int) error {
	if depth > maxHeaderDepth {
		return errNested
	}
	field := int64(0)
	for {
		b, err := w.byte()
		if err != nil || b == 0 {
			return err
		}
		if delta := b >> 4; delta != 0 {
			field += int64(delta)
		} else {
			id, n := binary.Varint(w.data[w.at:])
			if n <= 0 {
				return errShort
			}
			w.at += n
			field = id
		}
		if depth == 0 {
			w.field = field
		}
		if err := w.value(b&0xf, depth, false); err != nil {
			return err
		}
	}
}

// value walks over a value. A boolean in a list has a byte of its own.
func (w *walker) value(kind byte, depth int, listed bool) error {
	switch kind {
	case thriftTrue, thriftFalse:
		if listed {
			return w.skip(1)
		}
		return nil
	case thriftByte:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := w.uvarint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftBinary:
		n, err := w.uvarint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftStruct:
		return w.structure(depth + 1)
	case thriftList, thriftSet:
		b, err := w.byte()
		if err != nil {
			return err
		}
		n := uint64(b >> 4)
		if n == 15 {
			if n, err = w.uvarint(); err != nil {
				return err
			}
		}
		return w.list(n, depth, b&0xf)
	case thriftMap:
		n, err := w.uvarint()
		if err != nil || n == 0 {
			return err
		}
		b, err := w.byte()
		if err != nil {
			return err
		}
		return w.list(n, depth, b>>4, b&0xf)
	}
	return fmt.Errorf("a header holds a value of the unknown type %d", kind)
}

// list walks over n entries with a value of each kind.
func (w *walker) list(n uint64, depth int, kinds ...byte) error {
	if depth >= maxHeaderDepth {
		return errNested
	}
	if n > uint64(maxEntries-w.entries) {
		return errEntries
	}
	w.entries += int(n)
	if depth == 0 {
		w.lists[w.field] = max(w.lists[w.field], int(n))
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1, true); err != nil {
				return err
			}
		}
	}
	return nil
}
