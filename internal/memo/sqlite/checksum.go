package sqlite

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// castagnoli is the polynomial that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the CRC-32C of columns of a row, each after its length, so that a column
// whose end has moved into the next is noticed. It finds every flipped bit, and misses
// one in four billion of other changes. It is no defense against who writes a row on
// purpose, as no checksum in the same file is.
func checksum(columns ...[]byte) int64 {
	sum := uint32(0)
	var length [8]byte
	for _, c := range columns {
		binary.LittleEndian.PutUint64(length[:], uint64(len(c)))
		sum = crc32.Update(crc32.Update(sum, castagnoli, length[:]), castagnoli, c)
	}
	return int64(sum)
}

// errChanged is the damage of a row that is no longer what was written.
var errChanged = errors.New("a row is not what was written")

// verify compares columns with the checksum that was stored of them: nil, which is
// unknown, holds, and anything but a number does not.
func verify(stored any, columns ...[]byte) error {
	if stored == nil || stored == checksum(columns...) {
		return nil
	}
	return errChanged
}
