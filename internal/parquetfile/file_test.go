package parquetfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// row has a column of each encoding and each codec.
type row struct {
	Plain    string   `parquet:"plain,plain"`
	Dict     string   `parquet:"dict,dict,snappy"`
	Delta    string   `parquet:"delta,delta,zstd"`
	Length   string   `parquet:"length,gzip"`
	Optional *string  `parquet:"optional,optional,brotli"`
	Number   int64    `parquet:"number,delta,lz4"`
	Small    int32    `parquet:"small,delta"`
	Flag     bool     `parquet:"flag,snappy"`
	Score    float64  `parquet:"score,split"`
	List     []string `parquet:"list,list,dict,zstd"`
}

// Files that the library writes are within the bounds, and read as before.
func TestWrittenFiles(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		var rows []row
		for i := range 5000 {
			text := fmt.Sprintf("How deep is lake %d?", i*i)
			r := row{
				Plain: text, Dict: text[:12+i%3], Delta: text, Length: text, Number: int64(i * i * -7), Small: int32(i % 91), Flag: i%3 == 0,
				Score: float64(i) / 3, List: strings.Fields(text)[:i%5],
			}
			if i%4 > 0 {
				r.Optional = &text
			}
			rows = append(rows, r)
		}
		var out bytes.Buffer
		w := parquet.NewGenericWriter[row](&out, parquet.DataPageVersion(version), parquet.PageBufferSize(16<<10), parquet.MaxRowsPerRowGroup(2000))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := openBounded(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.RowGroups()) != 3 {
			t.Fatalf("%d row groups", len(f.RowGroups()))
		}
		for i := range f.RowGroups() {
			if err := f.Check(i, nil); err != nil {
				t.Errorf("version %d: %v", version, err)
			}
		}
		// Damage makes nothing panic.
		for at := 0; at < out.Len(); at += 997 {
			data := slices.Clone(out.Bytes())
			data[at] ^= 0x55
			_ = read(data)
		}
	}
}

// read opens and checks a file, as a reader of all its columns does.
func read(data []byte) (err error) {
	f, err := openBounded(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for i := range f.RowGroups() {
		if err := f.Check(i, nil); err != nil {
			return err
		}
	}
	return nil
}

// marshal writes a header.
func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withFooter makes a file out of pages and a footer.
func withFooter(pages, footer []byte) []byte {
	data := append([]byte("PAR1"), pages...)
	data = append(data, footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	return append(data, "PAR1"...)
}

// file makes a file of one optional column of texts out of its pages.
func file(t *testing.T, codec format.CompressionCodec, pages []byte, columns int) []byte {
	t.Helper()
	meta := format.FileMetaData{Version: 1, NumRows: 10, RowGroups: []format.RowGroup{{NumRows: 10}}}
	meta.Schema = []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(columns))}}
	for i := range columns {
		name := fmt.Sprintf("column%d", i)
		meta.Schema = append(meta.Schema, format.SchemaElement{Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Optional), Name: name})
		meta.RowGroups[0].Columns = append(meta.RowGroups[0].Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: format.ByteArray, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{name}, Codec: codec, NumValues: 10,
			TotalCompressedSize: int64(len(pages)), TotalUncompressedSize: int64(len(pages)), DataPageOffset: 4,
		}})
	}
	return withFooter(pages, marshal(t, &meta))
}

// page makes a data page that says it holds so many values in so many bytes.
func page(t *testing.T, encoding format.Encoding, values, size int32, data []byte) []byte {
	t.Helper()
	h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: size, CompressedPageSize: int32(len(data))}
	h.DataPageHeader = thrift.New(format.DataPageHeader{
		NumValues: values, Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})
	return append(marshal(t, &h), data...)
}

// levels are the definition levels of a run of values that are there, and data.
func levels(values uint64, data ...byte) []byte {
	run := append(binary.AppendUvarint(nil, values<<1), 1)
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run, data)
}

// varints writes the header of packed differences.
func varints(numbers ...uint64) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// squeezed compresses so many zero bytes.
func squeezed(t *testing.T, w io.WriteCloser, out *bytes.Buffer, n int) []byte {
	t.Helper()
	zeros := make([]byte, 1<<20)
	for ; n > 0; n -= len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Files of a few bytes that would take the library gigabytes are refused, and cost
// little.
func TestHostileFiles(t *testing.T) {
	const most = math.MaxInt32
	var gzipped, zipped, brotlied bytes.Buffer
	zw, err := zstd.NewWriter(&zipped)
	if err != nil {
		t.Fatal(err)
	}
	bombs := map[format.CompressionCodec][]byte{
		format.Gzip:   squeezed(t, gzip.NewWriter(&gzipped), &gzipped, 64<<20),
		format.Zstd:   squeezed(t, zw, &zipped, 64<<20),
		format.Brotli: squeezed(t, brotli.NewWriterLevel(&brotlied, 1), &brotlied, 64<<20),
		format.Snappy: append(varints(1<<31), 0, 0, 0),
		format.Lz4Raw: bytes.Repeat([]byte{0xff}, 1000),
	}
	list := func(field, kind byte, n uint64) []byte {
		return append([]byte{field<<4 | byte(thrift.LIST), 0xf0 | kind}, varints(n)...)
	}
	wide := page(t, format.Plain, 10, 1000, levels(10, make([]byte, 80)...))
	version2 := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: 10, CompressedPageSize: 6}
	version2.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 10, NumRows: 10, Encoding: format.Plain, DefinitionLevelsByteLength: 6})
	both := version2
	both.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: 10})
	dictionary := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: most})}
	// Each text is the one before and 1,000 bytes more.
	prefixed := slices.Concat(varints(128, 4, 100_000, 0), bytes.Repeat(append(varints(2000), 0, 0, 0, 0), 782),
		varints(128, 4, 100_000, 2000), bytes.Repeat([]byte{0, 0, 0, 0, 0}, 782))

	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"a list of two billion":       {withFooter(nil, append(list(2, byte(thrift.STRUCT), most), 0)), errEntries.Error()},
		"many lists":                  {withFooter(nil, append(bytes.Repeat(append(list(1, byte(thrift.TRUE), 14), make([]byte, 14)...), 100_000), 0)), errEntries.Error()},
		"a deep footer":               {withFooter(nil, bytes.Repeat([]byte{0x1c}, 1_000_000)), errNested.Error()},
		"deep lists":                  {withFooter(nil, append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1_000_000)...)), errNested.Error()},
		"a text of two billion bytes": {withFooter(nil, append([]byte{0x18}, varints(most, 0)...)), "a header ends too soon"},
		"a long footer":               {append([]byte("PAR1\xff\xff\xff\xff"), "PAR1"...), "the footer is longer than the file"},
		"a page of 2 GB":              {file(t, format.Snappy, page(t, format.Plain, 10, most, make([]byte, 10)), 1), errPages.Error()},
		"two billion values":          {file(t, format.Uncompressed, page(t, format.Plain, most, 10, levels(most)), 1), errPages.Error()},
		"a run of two billion levels": {file(t, format.Uncompressed, page(t, format.Plain, 10, 10, levels(most)), 1), errValues.Error()},
		"runs of levels": {file(t, format.Uncompressed, page(t, format.Plain, 10, 10,
			append(binary.LittleEndian.AppendUint32(nil, 3750), bytes.Repeat(append(varints(4000<<1), 1), 1250)...)), 1), errValues.Error()},
		"runs of indexes":      {file(t, format.Uncompressed, page(t, format.RLEDictionary, 10, 10, levels(10, append([]byte{1}, append(varints(most<<1), 0)...)...)), 1), errValues.Error()},
		"indexes of 255 bits":  {file(t, format.Uncompressed, page(t, format.RLEDictionary, 10, 10, levels(10, 255, 2, 0)), 1), errEnds.Error()},
		"a run of booleans":    {file(t, format.Uncompressed, page(t, format.RLE, 10, 10, levels(10, append([]byte{0, 0, 0, 0}, append(varints(most<<1), 0)...)...)), 1), errValues.Error()},
		"two kinds of page":    {file(t, format.Gzip, append(marshal(t, &both), append(varints(10<<1), 1, 0, 0, 0, 0)...), 1), errKinds.Error()},
		"a dictionary":         {file(t, format.Uncompressed, marshal(t, &dictionary), 1), errPages.Error()},
		"two billion deltas":   {file(t, format.Uncompressed, page(t, format.DeltaBinaryPacked, 10, 10, levels(10, varints(128, 4, most, 0)...)), 1), errValues.Error()},
		"two billion lengths":  {file(t, format.Uncompressed, page(t, format.DeltaLengthByteArray, 10, 10, levels(10, varints(128, 4, most, 0)...)), 1), errValues.Error()},
		"lengths that go over": {file(t, format.Uncompressed, page(t, format.DeltaLengthByteArray, 10, 10, levels(10, append(varints(128, 4, 100, 2<<30), 0, 0, 0, 0, 0)...)), 1), errEnds.Error()},
		"growing prefixes":     {file(t, format.Uncompressed, page(t, format.DeltaByteArray, 10, 10, levels(10, prefixed...)), 1), errPages.Error()},
		"levels of version 2":  {file(t, format.Uncompressed, append(marshal(t, &version2), append(varints(most<<1), 1)...), 1), errValues.Error()},
		"a page past the end":  {file(t, format.Uncompressed, page(t, format.Plain, 10, 10, make([]byte, 90))[:50], 1), errEnds.Error()},
		"many columns":         {file(t, format.Uncompressed, page(t, format.Plain, 10, 60<<20, levels(10)), 3), errPages.Error()},
		"too many columns":     {file(t, format.Uncompressed, wide, 20_000), "more than 20000 columns"},
		"gzip":                 {file(t, format.Gzip, page(t, format.Plain, 10, 1000, bombs[format.Gzip]), 1), errLarger.Error()},
		"zstd":                 {file(t, format.Zstd, page(t, format.Plain, 10, 1000, bombs[format.Zstd]), 1), errLarger.Error()},
		"brotli":               {file(t, format.Brotli, page(t, format.Plain, 10, 1000, bombs[format.Brotli]), 1), errLarger.Error()},
		"snappy":               {file(t, format.Snappy, page(t, format.Plain, 10, 1000, bombs[format.Snappy]), 1), errLarger.Error()},
		"lz4 that is damaged":  {file(t, format.Lz4Raw, page(t, format.Plain, 10, 1000, bombs[format.Lz4Raw]), 1), errLarger.Error()},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(tc.data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 80<<20 {
			t.Errorf("%s took %d MB", name, taken>>20)
		}
	}
}

// FuzzHeaders: no bytes make a walk panic or fail in an unknown way.
func FuzzHeaders(f *testing.F) {
	f.Add(varints(128, 4, 100, 2000))
	f.Add([]byte{0x19, 0x1c, 0x15, 2, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, _, err := headerLength(data); err == nil && n > len(data) {
			t.Errorf("a header of %d bytes in %d", n, len(data))
		}
		for _, each := range []func(int64) error{nil, func(int64) error { return nil }} {
			if _, err := deltas(data, each); err != nil && !errors.Is(err, errEnds) && !errors.Is(err, errValues) {
				t.Error(err)
			}
		}
		for width := range 34 {
			if err := runs(data, width); err != nil && !errors.Is(err, errEnds) && !errors.Is(err, errValues) {
				t.Error(err)
			}
		}
	})
}
