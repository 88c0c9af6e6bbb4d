package store

import (
	"bytes"
	_ "embed"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// dictionary has requests of each wording of orbench, without data. Long requests repeat such
// text thousands of times, so they are packed against it. Frames name it by its number. It is
// never edited: a better one is a file with the next number, and an empty migration of each
// backend, so that programs that lack it refuse the store. TestDictionary says when one is due,
// and writes it.
//
//go:embed dictionary-1.txt
var dictionary []byte

// dictionaryNumber is its number.
const dictionaryNumber = 1

// packedFrom is the least length of a request that is packed, in bytes. Shorter ones have
// little text of a wording, and are many.
const packedFrom = 1024

// frame begins whatever is packed; JSON never begins so.
var frame = []byte{0x28, 0xb5, 0x2f, 0xfd}

// packer packs, and unpacker reads what any version has packed. They are made when they are
// first used, since most commands read no request. Their options are constants, for which there
// is no error.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, _ := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(dictionaryNumber, dictionary),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(64<<10), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false)) // the hash of the request is a stronger one
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, _ := zstd.NewReader(nil, zstd.WithDecoderDictRaw(dictionaryNumber, dictionary),
			zstd.WithDecoderMaxMemory(MaxValue), zstd.WithDecoderConcurrency(0))
		return d
	})
)

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
