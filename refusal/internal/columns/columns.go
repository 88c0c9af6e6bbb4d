package columns

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Append writes lists, each after how many numbers it has, in little-endian order. Each is
// a *[]uint8, *[]uint16, *[]uint32 or *[]uint64.
func Append(b []byte, lists ...any) []byte {
	for _, list := range lists {
		switch list := list.(type) {
		case *[]uint8:
			b = appendList(b, *list)
		case *[]uint16:
			b = appendList(b, *list)
		case *[]uint32:
			b = appendList(b, *list)
		case *[]uint64:
			b = appendList(b, *list)
		default:
			panic("columns: a list of another type")
		}
	}
	return b
}

func appendList[N uint8 | uint16 | uint32 | uint64](b []byte, list []N) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	b, err := binary.Append(b, binary.LittleEndian, list)
	if err != nil {
		panic(err) // numbers can be written
	}
	return b
}

// errCut says that there are fewer bytes than the lists have.
var errCut = errors.New("the lists are cut")

// Read fills lists of the same types with what Append wrote. An error means that there is
// less.
func Read(b []byte, lists ...any) (err error) {
	for _, list := range lists {
		switch list := list.(type) {
		case *[]uint8:
			*list, b, err = readList[uint8](b)
		case *[]uint16:
			*list, b, err = readList[uint16](b)
		case *[]uint32:
			*list, b, err = readList[uint32](b)
		case *[]uint64:
			*list, b, err = readList[uint64](b)
		default:
			panic("columns: a list of another type")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readList reads a list, and gives the rest.
func readList[N uint8 | uint16 | uint32 | uint64](b []byte) (list []N, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errCut
	}
	n := int(binary.LittleEndian.Uint32(b))
	size := n * binary.Size(N(0))
	if b = b[4:]; size > len(b) {
		return nil, nil, errCut
	}
	list = slices.Grow(list, n)[:n]
	_, err = binary.Decode(b[:size], binary.LittleEndian, list)
	return list, b[size:], err
}
