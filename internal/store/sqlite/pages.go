package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
)

// PageRow is what a cell of a page holds: a row of a table, or an entry of an index.
type PageRow struct {
	// ID is the number of a row of a table; it is 0 in an index.
	ID int64
	// Values are nil, int64, float64, string or []byte, as the columns of the row that
	// were there when it was written. The last of an entry of an index is the ID of its
	// row.
	Values []any
	// Pages are those that it lies on.
	Pages []int
	// Old is true for what is no longer a row of the database: its page has a later
	// version in the log, or does not count it.
	Old bool
}

// Page is what one page holds.
type Page struct {
	Number int
	// Rows are of a table, Entries of an index; a page has one of them.
	Rows, Entries []PageRow
}

// Pages are those of a database file that may be damaged, with those in its write-ahead log:
// every row on every page that can be made out, whatever became of the pages that lead
// there.
//
// SQLite finds rows from the first page on, through pages that list others, and gives up
// where one of them is damaged: a store of which it cannot read the first page is lost to
// it, though all rows may be there. But each row lies whole on its page, with its types,
// so that pages can be read one by one. What is found may be an old version of a row,
// or nonsense that looks like one: whoever reads must be able to tell by the row itself.
//
// The format is that of https://www.sqlite.org/fileformat2.html.
type Pages struct {
	main, log *os.File
	size      int
	// count is how many pages the file has, and free those of them that are unused.
	count int
	free  map[int]bool
	// logged has where pages lie in the log: the last of each page in all. frames lists
	// all of them.
	logged map[int]int64
	frames []frame
	// Faults says what is wrong with the file as a whole.
	Faults []string
}

// frame is a page in the log.
type frame struct {
	page   int
	offset int64
}

// usualSize is the size of pages of a file that does not tell.
const usualSize = 4096

const (
	magic       = "SQLite format 3\x00"
	logHeader   = 32
	frameHeader = 24
)

// OpenPages opens the database at path, and the log beside it if there is one. Nothing but
// the files being unreadable is an error.
func OpenPages(path string) (*Pages, error) {
	main, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &Pages{main: main, free: map[int]bool{}, logged: map[int]int64{}}
	f.log, err = os.Open(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.measure(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes the files.
func (f *Pages) Close() error {
	err := f.main.Close()
	if f.log != nil {
		err = errors.Join(err, f.log.Close())
	}
	return err
}

// measure finds the size of pages, their number, those in the log and those unused.
func (f *Pages) measure() error {
	info, err := f.main.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 100)
	if _, err := f.main.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if string(head[:len(magic)]) != magic {
		f.Faults = append(f.Faults, "the first page is damaged")
	}
	f.size = sizeOf(uint32(binary.BigEndian.Uint16(head[16:])))
	if err := f.readLog(); err != nil {
		return err
	}
	if f.size == 0 {
		f.size = usualSize
	}
	f.count = int((info.Size() + int64(f.size) - 1) / int64(f.size))
	if said := int(binary.BigEndian.Uint32(head[28:])); len(f.Faults) == 0 && len(f.frames) == 0 && said > f.count {
		f.Faults = append(f.Faults, "the end of the file is missing")
	}
	return f.readFree(int(binary.BigEndian.Uint32(head[32:])))
}

// sizeOf is a size of pages, 0 if it is none.
func sizeOf(said uint32) int {
	if said == 1 {
		said = 1 << 16
	}
	if said < 512 || said > 1<<16 || said&(said-1) != 0 {
		return 0
	}
	return int(said)
}

// readLog finds the pages in the log. The chain of its own checksums is not followed:
// where it is broken, SQLite drops all that comes after.
func (f *Pages) readLog() error {
	if f.log == nil {
		return nil
	}
	head := make([]byte, logHeader)
	if _, err := io.ReadFull(io.NewSectionReader(f.log, 0, logHeader), head); err != nil {
		return nil // It is empty, as after a clean end.
	}
	if f.size == 0 {
		f.size = sizeOf(binary.BigEndian.Uint32(head[8:]))
	}
	size := f.size
	if size == 0 {
		size = usualSize
	}
	var committed int
	frameHead := make([]byte, frameHeader)
	for offset := int64(logHeader); ; offset += int64(frameHeader + size) {
		if _, err := f.log.ReadAt(frameHead, offset); err != nil {
			if err == io.EOF {
				break
			}
			return err
		}
		// Another salt is that of an earlier use of the file.
		if string(frameHead[8:16]) != string(head[16:24]) {
			continue
		}
		f.frames = append(f.frames, frame{int(binary.BigEndian.Uint32(frameHead)), offset + frameHeader})
		if binary.BigEndian.Uint32(frameHead[4:]) != 0 {
			committed = len(f.frames)
		}
	}
	// What follows the last commit may be half a transaction, which a process writes now.
	f.frames = f.frames[:committed]
	for _, at := range f.frames {
		f.logged[at.page] = at.offset
	}
	return nil
}

// readFree finds the pages that are unused, from the first that lists some.
func (f *Pages) readFree(list int) error {
	for list > 0 && !f.free[list] && (list <= f.count || f.logged[list] > 0) {
		f.free[list] = true
		page, err := f.page(list)
		if err != nil {
			return err
		}
		n := int(binary.BigEndian.Uint32(page[4:]))
		for i := 0; i < n && 8+4*i+4 <= len(page); i++ {
			f.free[int(binary.BigEndian.Uint32(page[8+4*i:]))] = true
		}
		list = int(binary.BigEndian.Uint32(page))
	}
	return nil
}

// page reads a page as it is now, with zeros for what is missing of it.
func (f *Pages) page(n int) ([]byte, error) {
	if offset, ok := f.logged[n]; ok {
		return f.read(f.log, offset)
	}
	return f.read(f.main, int64(n-1)*int64(f.size))
}

func (f *Pages) read(from *os.File, offset int64) ([]byte, error) {
	page := make([]byte, f.size)
	if _, err := from.ReadAt(page, offset); err != nil && err != io.EOF {
		return nil, err
	}
	return page, nil
}

// All reads all pages that are in use: those of the file, and after them those of the
// log, which may have an earlier version of a page too.
func (f *Pages) All() iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for n := 1; n <= f.count; n++ {
			if f.free[n] {
				continue
			}
			data, err := f.read(f.main, int64(n-1)*int64(f.size))
			if !yield(f.parse(n, data, f.logged[n] > 0), err) || err != nil {
				return
			}
		}
		for _, at := range f.frames {
			data, err := f.read(f.log, at.offset)
			if !yield(f.parse(at.page, data, f.logged[at.page] != at.offset), err) || err != nil {
				return
			}
		}
	}
}

// The kinds of pages, in their first byte.
const (
	interiorIndex = 0x02
	interiorTable = 0x05
	leafIndex     = 0x0a
	leafTable     = 0x0d
)

// parse makes out the cells of a page. What is no cell is passed over.
func (f *Pages) parse(n int, data []byte, old bool) Page {
	p := Page{Number: n}
	if data == nil {
		return p
	}
	head := 0
	if n == 1 {
		head = 100
	}
	kind, pointers := data[head], head+8
	switch kind {
	case interiorTable:
		return p
	case interiorIndex:
		pointers += 4
	}
	// A row tells by itself whether it is one, so that of rows more pointers are tried than
	// the page says that it has: up to where the first cell begins.
	said := min(pointers+2*int(binary.BigEndian.Uint16(data[head+3:])), len(data)-1)
	first := len(data)
	for ; pointers < said || kind != leafIndex && kind != interiorIndex && pointers+2 <= first; pointers += 2 {
		at := int(binary.BigEndian.Uint16(data[pointers:]))
		if at < pointers+2 || at >= len(data) {
			if kind != leafTable && kind != leafIndex && kind != interiorIndex {
				break // no page of cells
			}
			continue
		}
		first = min(first, at)
		switch kind {
		case interiorIndex, leafIndex:
			if kind == interiorIndex {
				at += 4 // the page on its left
			}
			if entry, ok := f.cell(n, data, at, true); ok {
				entry.Old = old
				p.Entries = append(p.Entries, entry)
			}
		default:
			if row, ok := f.cell(n, data, at, false); ok {
				row.Old = old || pointers >= said
				p.Rows = append(p.Rows, row)
			}
		}
	}
	return p
}

// cell reads the cell at a place of a page.
func (f *Pages) cell(n int, page []byte, at int, index bool) (row PageRow, ok bool) {
	size, at, ok := varint(page, at)
	if !ok || size < 2 || size > int64(f.count+len(f.frames))*int64(f.size) {
		return row, false
	}
	// See "B-tree Cell Format": what does not fit goes to a chain of other pages.
	most, least := f.size-35, (f.size-12)*32/255-23
	if index {
		most = (f.size-12)*64/255 - 23
	} else if row.ID, at, ok = varint(page, at); !ok {
		return row, false
	}
	row.Pages = []int{n}
	local := int(size)
	if local > most {
		if local = least + (local-least)%(f.size-4); local > most {
			local = least
		}
	}
	if at+local > len(page) {
		return row, false
	}
	payload := page[at : at+local]
	if int64(local) < size {
		if at+local+4 > len(page) {
			return row, false
		}
		rest, pages, ok := f.chain(int(binary.BigEndian.Uint32(page[at+local:])), int(size)-local)
		if !ok {
			return row, false
		}
		payload = append(append(make([]byte, 0, size), payload...), rest...)
		row.Pages = append(row.Pages, pages...)
	}
	row.Values, ok = values(payload)
	return row, ok
}

// chain reads the rest of a cell from the pages that it goes on at.
func (f *Pages) chain(next, size int) (rest []byte, pages []int, ok bool) {
	for size > 0 {
		if next <= 1 || next > f.count && f.logged[next] == 0 {
			return nil, nil, false
		}
		page, err := f.page(next)
		if err != nil {
			return nil, nil, false
		}
		pages = append(pages, next)
		n := min(size, f.size-4)
		rest, size = append(rest, page[4:4+n]...), size-n
		next = int(binary.BigEndian.Uint32(page))
	}
	return rest, pages, true
}

// values reads the columns of a row; see "Record Format".
func values(payload []byte) ([]any, bool) {
	length, at, ok := varint(payload, 0)
	if !ok || length < 1 || length > int64(len(payload)) {
		return nil, false
	}
	types, body := payload[:length], payload[length:]
	var all []any
	for at < len(types) {
		var kind int64
		if kind, at, ok = varint(types, at); !ok || kind < 0 {
			return nil, false
		}
		n := widthOf(kind)
		if n < 0 || n > int64(len(body)) {
			return nil, false
		}
		all, body = append(all, value(kind, body[:n])), body[n:]
	}
	return all, len(body) == 0
}

// widthOf is how many bytes a value of a type has, -1 for no type.
func widthOf(kind int64) int64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind >= 10:
		return -1
	}
	return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind]
}

// value reads a value of a type.
func value(kind int64, b []byte) any {
	switch {
	case kind >= 12 && kind%2 == 0:
		return append([]byte{}, b...)
	case kind >= 13:
		return string(b)
	case kind == 0:
		return nil
	case kind == 8, kind == 9:
		return kind - 8
	case kind == 7:
		return nil // no column is a fraction
	}
	var n int64
	if b[0] >= 0x80 {
		n = -1
	}
	for _, c := range b {
		n = n<<8 | int64(c)
	}
	return n
}

// varint reads a number of up to nine bytes, and gives where it ends.
func varint(b []byte, at int) (n int64, end int, ok bool) {
	var u uint64
	for i := range 9 {
		if at+i >= len(b) {
			return 0, at, false
		}
		c := b[at+i]
		if i == 8 {
			return int64(u<<8 | uint64(c)), at + 9, true
		}
		u = u<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return int64(u), at + i + 1, true
		}
	}
	return 0, at, false
}
