package dataset

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
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

// spoolHead is the bytes before each record: the lengths of its JSON and of its text.
const spoolHead = 8

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
		err = os.Remove(f.Name()) // the system frees it when the program ends
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, 1<<18)}, err
}

func spoolFault(err error) error {
	return fmt.Errorf("recorded answers need room in the folder of temporary files, which TMPDIR names: %w", err)
}

// put appends a value, and its longest text as it is, and gives where it begins.
func (s *spool) put(v any, text string) (at int64, err error) {
	rest, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	var head [spoolHead]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(rest)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(text)))
	at = s.size
	s.size += int64(spoolHead + len(rest) + len(text))
	s.out.Write(head[:])
	s.out.Write(rest)
	if _, err := s.out.WriteString(text); err != nil {
		return 0, spoolFault(err)
	}
	return at, nil
}

// get reads the value at a place into v, and gives its text. All must have been flushed.
func (s *spool) get(at int64, v any) (text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, err := s.part(at, spoolHead)
	if err != nil {
		return "", err
	}
	rest := spoolHead + int(binary.LittleEndian.Uint32(head))
	whole, err := s.part(at, rest+int(binary.LittleEndian.Uint32(head[4:])))
	if err != nil {
		return "", err
	}
	return string(whole[rest:]), json.Unmarshal(whole[spoolHead:rest], v)
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
