package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxValues is the most values of a page. Writers begin a new page after 20,000
	// values or 1 MB; old ones do so after a row group of 1,048,576 rows.
	maxValues = 1 << 22
	// maxPages is the most memory in bytes for the pages that are read at once: the
	// largest page of each column of a row group, and its dictionary.
	maxPages = 128 << 20
	// maxHeader is the longest page header in bytes. It may contain the page's lowest and
	// highest value.
	maxHeader = 4 << 20
)

var (
	errValues = fmt.Errorf("a page with more than %d values", maxValues)
	errPages  = fmt.Errorf("the pages that are read at once would take more than %d bytes", maxPages)
	errLarger = errors.New("a page is larger than it says")
	errEnds   = errors.New("a page ends too soon")
	errOffset = errors.New("pages that are not in the file")
	errKinds  = errors.New("a page that is marked as a dictionary but is not one")
)

// pages walks over the pages of one column in one row group.
type pages struct {
	in     io.ReaderAt
	column *parquet.Column
	codec  format.CompressionCodec
	// at is where the next header begins, and end where the pages end.
	at, end int64
	// budget is the memory that the pages may take.
	budget   int64
	inflater *inflater
	packed   []byte
	unpacked []byte
}

// largest is the memory that the largest page and the dictionary take.
func (p *pages) largest() (int64, error) {
	var dictionary, largest int64
	for p.at < p.end {
		header, err := p.header()
		if err != nil {
			return 0, err
		}
		size := int64(header.CompressedPageSize) + int64(header.UncompressedPageSize)
		size += 8 * int64(max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues))
		if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 || int64(header.CompressedPageSize) > p.end-p.at {
			return 0, errEnds
		}
		// The library reads the first page as a dictionary if it needs one and this
		// header is present, whatever the page's type.
		if header.DictionaryPageHeader.Valid && header.Type != format.DictionaryPage {
			return 0, errKinds
		}
		if dictionary+max(largest, size) > p.budget {
			return 0, errPages
		}
		expanded, err := p.page(header)
		if err != nil {
			return 0, err
		}
		size += expanded
		if header.Type == format.DictionaryPage {
			dictionary += size
		} else {
			largest = max(largest, size)
		}
		if dictionary+largest > p.budget {
			return 0, errPages
		}
		p.at += int64(header.CompressedPageSize)
	}
	return dictionary + largest, nil
}

// header reads the header at p.at and moves past it.
func (p *pages) header() (*format.PageHeader, error) {
	// Most headers are short. Read more if that is not enough.
	for size := int64(512); ; size *= 8 {
		buffer := make([]byte, min(size, p.end-p.at))
		if _, err := p.in.ReadAt(buffer, p.at); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		n, _, err := headerLength(buffer)
		if errors.Is(err, errShort) && int64(len(buffer)) == size && size < maxHeader {
			continue
		}
		if err != nil {
			return nil, err
		}
		header := &format.PageHeader{}
		if err := thrift.Unmarshal(&thrift.CompactProtocol{}, buffer[:n], header); err != nil {
			return nil, err
		}
		p.at += int64(n)
		return header, nil
	}
}

// page checks that a page's content agrees with its header. It gives the memory that its
// values take beyond the page itself.
func (p *pages) page(header *format.PageHeader) (int64, error) {
	if cap(p.packed) < int(header.CompressedPageSize) {
		p.packed = make([]byte, header.CompressedPageSize)
	}
	data := p.packed[:header.CompressedPageSize]
	if _, err := p.in.ReadAt(data, p.at); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	v1, v2, dictionary := header.DataPageHeader.V, header.DataPageHeaderV2.V, header.DictionaryPageHeader.V
	if max(v1.NumValues, v2.NumValues, dictionary.NumValues) > maxValues {
		return 0, errValues
	}
	size, highest := int(header.UncompressedPageSize), [2]int{p.column.MaxRepetitionLevel(), p.column.MaxDefinitionLevel()}
	var err error
	switch header.Type {
	case format.DictionaryPage:
		if data, err = p.inflate(data, size); err != nil {
			return 0, err
		}
		return p.values(dictionary.Encoding, data, true)
	case format.DataPage:
		if data, err = p.inflate(data, size); err != nil {
			return 0, err
		}
		for i, encoding := range []format.Encoding{v1.RepetitionLevelEncoding, v1.DefinitionLevelEncoding} {
			if highest[i] == 0 {
				continue
			}
			if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
				return 0, errEnds
			}
			n := 4 + int(binary.LittleEndian.Uint32(data))
			if encoding == format.RLE {
				if err := runs(data[4:n], bits.Len(uint(highest[i]))); err != nil {
					return 0, err
				}
			}
			data = data[n:]
		}
		return p.values(v1.Encoding, data, false)
	case format.DataPageV2:
		for i, length := range []int32{v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength} {
			n := int(length)
			if n < 0 || n > min(size, len(data)) {
				return 0, errEnds
			}
			if highest[i] > 0 {
				if err := runs(data[:n], bits.Len(uint(highest[i]))); err != nil {
					return 0, err
				}
			}
			data, size = data[n:], size-n
		}
		if !v2.IsCompressed.Valid || v2.IsCompressed.V {
			if data, err = p.inflate(data, size); err != nil {
				return 0, err
			}
		}
		return p.values(v2.Encoding, data, false)
	}
	return 0, nil
}

// inflate gives the content of a page, which is as long as its header says.
func (p *pages) inflate(data []byte, size int) ([]byte, error) {
	if p.codec == format.Uncompressed {
		return data, nil
	}
	if cap(p.unpacked) < size {
		p.unpacked = make([]byte, size)
	}
	return p.inflater.inflate(p.codec, p.unpacked[:size], data)
}

// values checks the values of a page. It gives the memory that they take beyond its
// bytes.
func (p *pages) values(encoding format.Encoding, data []byte, dictionary bool) (int64, error) {
	switch encoding {
	//lint:ignore SA1019 files of older writers have it
	case format.PlainDictionary, format.RLEDictionary:
		if dictionary {
			return 0, nil // the old name of the plain encoding
		}
		if len(data) == 0 {
			return 0, nil
		}
		return 0, runs(data[1:], int(data[0]))
	case format.RLE:
		if len(data) < 4 {
			return 0, errEnds
		}
		return 0, runs(data[4:], 1)
	case format.DeltaBinaryPacked:
		_, err := deltas(data, nil)
		return 0, err
	case format.DeltaLengthByteArray:
		var total int64
		rest, err := deltas(data, func(length int64) error {
			if total += length; length < 0 || total > int64(len(data)) {
				return errEnds
			}
			return nil
		})
		if err == nil && total > int64(len(rest)) {
			err = errEnds
		}
		return 0, err
	case format.DeltaByteArray:
		return p.prefixed(data)
	}
	return 0, nil
}

// prefixed checks texts that share a prefix with the previous text. Two bytes can then
// stand for a text as long as the previous one.
func (p *pages) prefixed(data []byte) (int64, error) {
	var prefixes []int32
	rest, err := deltas(data, func(length int64) error {
		if length < 0 || length > maxPages {
			return errEnds
		}
		prefixes = append(prefixes, int32(length))
		return nil
	})
	if err != nil {
		return 0, err
	}
	var n int
	var suffixes, before, total int64
	rest, err = deltas(rest, func(length int64) error {
		if length < 0 || n >= len(prefixes) || int64(prefixes[n]) > before {
			return errEnds
		}
		suffixes += length
		before = int64(prefixes[n]) + length
		n++
		if total += before; total > p.budget {
			return errPages
		}
		return nil
	})
	if err == nil && (suffixes > int64(len(rest)) || n != len(prefixes)) {
		err = errEnds
	}
	return total, err
}

// runs counts the values in the hybrid of runs and packed bits that levels and indexes
// use. A run of any length takes a few bytes.
func runs(data []byte, width int) error {
	if width > 32 {
		return errEnds
	}
	total := uint64(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return errEnds
		}
		data = data[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 != 0 {
			// Groups of eight values.
			if count > maxValues {
				return errValues
			}
			count, size = count*8, count*uint64(width)
		}
		// The last group may have padding values.
		if total += count; total > maxValues+1024 {
			return errValues
		}
		if size > uint64(len(data)) {
			return errEnds
		}
		data = data[size:]
	}
	return nil
}

// deltas passes delta-encoded numbers to each, which may be nil, and gives the data after
// them.
func deltas(data []byte, each func(int64) error) (rest []byte, err error) {
	var head [3]uint64 // the size of a block, parts of a block, values
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errEnds
		}
		head[i], data = v, data[n:]
	}
	value, n := binary.Varint(data)
	if n <= 0 {
		return nil, errEnds
	}
	data = data[n:]
	block, parts, left := head[0], head[1], head[2]
	if left > maxValues {
		return nil, errValues
	}
	if block == 0 || block > 1<<16 || parts == 0 || parts > block || block%parts != 0 || (block/parts)%8 != 0 {
		return nil, errEnds
	}
	if left > 0 {
		left--
		if each != nil {
			if err := each(value); err != nil {
				return nil, err
			}
		}
	}
	for left > 0 {
		least, n := binary.Varint(data)
		if n <= 0 || uint64(len(data)-n) < parts {
			return nil, errEnds
		}
		widths := data[n : n+int(parts)]
		data = data[n+int(parts):]
		for _, width := range widths {
			if left == 0 {
				break
			}
			if width > 64 {
				return nil, errEnds
			}
			size := int(block/parts) / 8 * int(width)
			count := min(left, block/parts)
			left -= count
			if size > len(data) && left == 0 {
				// Some writers omit the end of the last part.
				data = append(slices.Clone(data), make([]byte, size-len(data))...)
			}
			if size > len(data) {
				return nil, errEnds
			}
			packed := bitReader{data: data[:size]}
			data = data[size:]
			if each == nil {
				continue
			}
			for range count {
				// Differences have 32 bits if the values are lengths.
				value = int64(int32(value + least + int64(packed.next(int(width)))))
				if err := each(value); err != nil {
					return nil, err
				}
			}
		}
	}
	return data, nil
}

// bitReader reads numbers of a given width in bits, the lowest bits first.
type bitReader struct {
	data []byte
	at   int
}

func (b *bitReader) next(width int) (v uint64) {
	for i := 0; i < width; {
		taken := min(8-b.at%8, width-i)
		v |= uint64(b.data[b.at/8]>>(b.at%8)) & (1<<taken - 1) << i
		b.at += taken
		i += taken
	}
	return v
}

// readUpTo reads all of r into the beginning of into. It fails with errLarger if there is
// more than fits.
func readUpTo(r io.Reader, into []byte) ([]byte, error) {
	n, err := io.ReadFull(r, into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return into[:n], nil
	}
	if err != nil {
		return nil, err
	}
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return nil, errLarger
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	return into, nil
}
