package parquetfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// inflater inflates pages to their stated size and no more. It uses the same packages as
// the library, which does not limit them.
type inflater struct {
	gzip   gzip.Reader
	zstd   *zstd.Decoder
	brotli brotli.Reader
}

// inflate inflates data into the beginning of into. It fails with errLarger if there is
// more.
func (i *inflater) inflate(codec format.CompressionCodec, into, data []byte) (_ []byte, err error) {
	var from interface {
		io.Reader
		Reset(compressed io.Reader) error
	}
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
		from = &i.gzip
	case format.Zstd:
		if i.zstd == nil {
			if i.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPages), zstd.WithDecoderMaxWindow(maxPages)); err != nil {
				return nil, err
			}
		}
		from = i.zstd
	case format.Brotli:
		from = &i.brotli
	case format.Lz4Raw:
		// The library doubles its buffer as long as inflating fails, and any damage makes
		// it fail.
		n, err := lz4.UncompressBlock(data, into)
		if err != nil {
			return nil, errLarger
		}
		return into[:n], nil
	default:
		return nil, fmt.Errorf("unsupported compression codec: %s", codec)
	}
	if err := from.Reset(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return readUpTo(from, into)
}
