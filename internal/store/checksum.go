package store

import (
	"encoding/binary"
	"hash/crc32"
)

// castagnoli is the polynomial that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of columns of a row, each after its length, so that a column
// whose end has moved into the next is noticed. It finds every flipped bit, and misses
// one in four billion of other changes. It is no defense against who writes a row on
// purpose, as no checksum in the same store is.
func Checksum(columns ...[]byte) int64 {
	sum := uint32(0)
	var length [8]byte
	for _, c := range columns {
		binary.LittleEndian.PutUint64(length[:], uint64(len(c)))
		sum = crc32.Update(crc32.Update(sum, castagnoli, length[:]), castagnoli, c)
	}
	return int64(sum)
}
