package rows

import (
	"bytes"
	"compress/gzip"
	"fmt"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// inflater inflates pages into what they say they take, and no more. It uses the
// packages that the library uses, which does not ask them to stop there.
type inflater struct {
	gzip   gzip.Reader
	zstd   *zstd.Decoder
	brotli brotli.Reader
}

// inflate inflates data into the beginning of into, and fails with errLarger where
// there is more.
func (i *inflater) inflate(codec format.CompressionCodec, into, data []byte) (_ []byte, err error) {
	in := bytes.NewReader(data)
	switch codec {
	case format.Snappy:
		n, err := snappy.DecodedLen(data)
		if err == nil && n > len(into) {
			err = errLarger
		}
		if err != nil {
			return nil, err
		}
		return snappy.Decode(into, data)
	case format.Gzip:
		if err := i.gzip.Reset(in); err != nil {
			return nil, err
		}
		return readUpTo(&i.gzip, into)
	case format.Zstd:
		if i.zstd == nil {
			if i.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPages), zstd.WithDecoderMaxWindow(maxPages)); err != nil {
				return nil, err
			}
		}
		if err := i.zstd.Reset(in); err != nil {
			return nil, err
		}
		return readUpTo(i.zstd, into)
	case format.Brotli:
		if err := i.brotli.Reset(in); err != nil {
			return nil, err
		}
		return readUpTo(&i.brotli, into)
	case format.Lz4Raw:
		// The library doubles what it inflates into for as long as that fails, and it
		// fails for any damage.
		n, err := lz4.UncompressBlock(data, into)
		if err != nil {
			return nil, errLarger
		}
		return into[:n], nil
	}
	return nil, fmt.Errorf("unsupported compression codec: %s", codec)
}
