package rows

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"

	"github.com/klauspost/compress/zstd"

	"github.com/orbench/orbench"
)

// packedEndings are the file name endings of compressed files. What is before them says
// what is compressed.
var packedEndings = []string{".gz", ".zst"}

// mostWindow is the most memory that a Zstandard stream may need, in bytes. It is that of
// the command zstd with --long.
const mostWindow = 128 << 20

// webPage begins a page that was saved in place of a file that it links to.
var webPage = regexp.MustCompile(`(?i)^\s*<(?:!doctype )?html\b`)

// unpack gives the content of a compressed file, and in as it is if the file is not
// compressed. The first bytes decide. The content of a compressed file is a stream: a format
// that needs random access cannot be read from it.
func unpack(file string, in input) (input, error) {
	text := bufio.NewReaderSize(in.Reader, textBuffer)
	head, err := text.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return in, readFault(file, err)
	}
	in.Reader = text
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/")):
		return in, &orbench.InputError{File: file, Problem: "a pointer of Git LFS, which stands for a file that was not fetched", Hint: "fetch it with: git lfs pull"}
	case webPage.Match(head):
		return in, &orbench.InputError{File: file, Problem: "a web page, and no data", Hint: "download the file itself, which GitHub and Hugging Face call raw or download"}
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		in.Reader, err = gzip.NewReader(text)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(text, zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderConcurrency(1)); err == nil {
			in.Reader = z.IOReadCloser()
		}
	default:
		return in, nil
	}
	if err != nil {
		return in, packedFault(file, err)
	}
	in.Reader, in.file, in.size = &packed{file, in.Reader}, nil, 0
	return in, nil
}

// packed is the content of a compressed file. Its faults name the file.
type packed struct {
	file string
	in   io.Reader
}

// Read implements io.Reader.
func (p *packed) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if err != nil && err != io.EOF {
		err = packedFault(p.file, err)
	}
	return n, err
}

func packedFault(file string, err error) error {
	return &orbench.InputError{File: file, Problem: "cannot unpack the file: " + err.Error(), Hint: "fetch or export it again", Err: err}
}

// wantsFile is the fault of a stream in a format that needs random access.
func wantsFile(file string) error {
	return &orbench.InputError{File: file, Problem: "this format cannot be read from a stream", Hint: "unpack it, or save it to a file first"}
}
