package store

import (
	"bytes"
	"embed"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// dictionaries have requests of each wording of orbench, without data. Long requests repeat
// such text thousands of times, so they are packed against it. Frames name their dictionary by
// its number. One that was used is never edited: a better one is a file with the next number,
// newest then, and an empty migration of each backend, so that programs that lack it refuse
// the store. TestDictionary says when one is due, and writes it.
//
//go:embed dictionaries/*.txt
var dictionaries embed.FS

// newest is the number of the dictionary that is packed against.
const newest = 1

// packedFrom is the least length of a request that is packed, in bytes. Shorter ones have
// little text of a wording, and are many.
const packedFrom = 1024

// frame begins whatever is packed; JSON never begins so.
var frame = []byte{0x28, 0xb5, 0x2f, 0xfd}

// packer packs, and unpacker reads what any version has packed. They are made when they are
// first used: most commands read no request.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(newest, dictionary(newest)),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(64<<10), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false)) // the hash of the request is a stronger one
		if err != nil {
			panic("store: " + err.Error())
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		options := []zstd.DOption{zstd.WithDecoderMaxMemory(MaxValue), zstd.WithDecoderConcurrency(0)}
		for number := uint32(1); number <= newest; number++ {
			options = append(options, zstd.WithDecoderDictRaw(number, dictionary(number)))
		}
		d, err := zstd.NewReader(nil, options...)
		if err != nil {
			panic("store: " + err.Error())
		}
		return d
	})
)

// dictionary reads the dictionary of a number. It panics if there is none, since they are part
// of the program.
func dictionary(number uint32) []byte {
	text, err := dictionaries.ReadFile(fmt.Sprintf("dictionaries/%d.txt", number))
	if err != nil {
		panic("store: " + err.Error())
	}
	return text
}

// Pack gives the two columns of a request, one of them empty: a short one stays as it is, and
// a long one is packed as Zstandard (RFC 8878) with a dictionary of orbench.
func Pack(request []byte) (plain, packed []byte) {
	if len(request) < packedFrom {
		return request, nil
	}
	return []byte{}, packer().EncodeAll(request, nil)
}

// unpack gives a request as it was, whether it was packed or not.
func unpack(stored []byte) ([]byte, error) {
	if !bytes.HasPrefix(stored, frame) {
		return stored, nil
	}
	request, err := unpacker().DecodeAll(stored, nil)
	if err != nil {
		return nil, ErrChanged
	}
	return request, nil
}
