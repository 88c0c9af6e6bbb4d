package store

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/model"
)

// ErrChanged is the damage of a row that is no longer what was written.
const ErrChanged = Damage("a row is not what was written")

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

// RunChecksum is that of the row of a run.
func RunChecksum(name, config, datasets, made []byte, saved int64) int64 {
	return Checksum(name, config, datasets, made, strconv.AppendInt(nil, saved, 10))
}

// verify compares the checksum of a row with the one that was stored of it: nil, which is
// unknown, holds, and anything but a number does not.
func verify(stored any, sum int64) error {
	if stored == nil || stored == sum {
		return nil
	}
	return ErrChanged
}

// HashOf is a stored hash, zero where it has another length.
func HashOf(b []byte) (h model.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// readOnce reads JSON as encoding/json does, but for its first pass over the text: that
// only keeps the value as it was where the text is damaged, and here the value is dropped.
var readOnce = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// ReadResponse reads the JSON of a stored response, which must have the checksum that was
// stored of it and its hash.
func ReadResponse(hash, response []byte, sum any) (r model.Response, err error) {
	if err := verify(sum, Checksum(hash, response)); err != nil {
		return r, err
	}
	if json.Unmarshal(response, &r, readOnce) != nil {
		return r, ErrChanged
	}
	return r, nil
}
