package dataset

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// spool holds prompts and recorded answers in a temporary file, so that memory holds no more
// of a file than where each begins.
type spool struct {
	file *os.File
	out  *bufio.Writer
	size int64
	// record is the memory of the last record that was written.
	record []byte

	// mu guards window, the part of the file from begin on that was read last. Rows are mostly
	// wanted in their order.
	mu     sync.Mutex
	window []byte
	begin  int64
}

// windowSize is the bytes that are read at once, at least.
const windowSize = 16 << 10

// deleteOnClose is FILE_FLAG_DELETE_ON_CLOSE of Windows, which cannot remove an open file.
const deleteOnClose = 0x04000000

// spoolHead is the bytes before each record: its length.
const spoolHead = 4

func newSpool() (*spool, error) {
	flags := os.O_RDWR | os.O_CREATE | os.O_EXCL
	if runtime.GOOS == "windows" {
		flags |= deleteOnClose
	}
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "orbench-answers-"+rand.Text()), flags, 0o600)
	if err != nil {
		return nil, spoolFault(err)
	}
	if runtime.GOOS != "windows" {
		// The system frees it when the program ends.
		if err := os.Remove(f.Name()); err != nil {
			return nil, spoolFault(err)
		}
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, 1<<18)}, nil
}

func spoolFault(err error) error {
	return fmt.Errorf("recorded answers are held in a temporary file, whose folder needs room for them (TMPDIR names another): %w", err)
}

// put appends a record of texts, and gives where it begins.
func (s *spool) put(texts ...string) (at int64, err error) {
	b := append(s.record[:0], make([]byte, spoolHead)...)
	for _, text := range texts {
		b = appendText(b, text)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-spoolHead))
	s.record = b
	at = s.size
	s.size += int64(len(b))
	if _, err := s.out.Write(b); err != nil {
		return 0, spoolFault(err)
	}
	return at, nil
}

// get gives the texts of the record at a place. All must have been flushed.
func (s *spool) get(at int64) (texts []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, err := s.part(at, spoolHead)
	if err != nil {
		return nil, err
	}
	b, err := s.part(at+spoolHead, int(binary.LittleEndian.Uint32(head)))
	record := string(b)
	for len(record) > 0 {
		size, n := binary.Uvarint(b[len(b)-len(record):])
		texts = append(texts, record[n:n+int(size)])
		record = record[n+int(size):]
	}
	return texts, err
}

// part gives bytes of the file, which hold until the next part.
func (s *spool) part(at int64, size int) ([]byte, error) {
	if from := at - s.begin; from >= 0 && from+int64(size) <= int64(len(s.window)) {
		return s.window[from:][:size], nil
	}
	n := min(int64(max(size, windowSize)), s.size-at)
	s.begin, s.window = at, slices.Grow(s.window[:0], int(n))[:n]
	if _, err := s.file.ReadAt(s.window, at); err != nil {
		s.window = nil
		return nil, spoolFault(err)
	}
	return s.window[:size], nil
}
