package untrusted

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// hidden reports whether a character is invisible but has an effect: controls, above all
// those of escape sequences, changes of writing direction, zero-width marks, and
// characters that fonts show in their own way. Line ends and tabs are hidden too.
func hidden(r rune) bool {
	switch {
	case r < 0x600: // spares the look into the tables for most of what people write
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xad
	case r >= 0x3000 && r < 0xd800:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
}

// Writer passes text on to a terminal, a log or a file. It writes each hidden character
// except tabs and line ends in JSON's form, such as \u001b for the one that begins an
// escape sequence. Within JSON text that means the same character, so JSON keeps its
// value. Broken UTF-8 becomes U+FFFD. No line begins with two colons.
//
// A text that ends in the middle of a character waits for the next Write, or Flush. A
// Writer is safe for concurrent use.
type Writer struct {
	out  io.Writer
	pass []string

	mu   sync.Mutex
	rest []byte // the start of a character, or of what may pass
	made []byte // room for what is written
	line lineStart
}

// lineStart is the part of a line's beginning that has been written.
type lineStart int

const (
	blank    lineStart = iota // nothing but white space
	oneColon                  // that and a colon
	begun                     // more
)

// colons gives a text in which no line begins with two colons, since a GitHub runner
// reads such lines in a log as commands. It writes the second colon in JSON's form.
func (w *Writer) colons(text []byte) []byte {
	var kept []byte
	done := 0
	for from := 0; from < len(text); {
		if w.line == begun {
			end := bytes.IndexByte(text[from:], '\n')
			if end < 0 {
				break
			}
			w.line, from = blank, from+end+1
			continue
		}
		r, n := utf8.DecodeRune(text[from:])
		switch {
		case r == ':' && w.line == oneColon:
			kept = append(append(kept, text[done:from]...), `\u003a`...)
			w.line, done = begun, from+1
		case r == ':':
			w.line = oneColon
		case r == '\n':
			w.line = blank
		case w.line == oneColon || !unicode.IsSpace(r):
			w.line = begun
		}
		from += n
	}
	if done == 0 {
		return text
	}
	return append(kept, text[done:]...)
}

// NewWriter makes a Writer. pass lists sequences of control characters that may pass
// unchanged, such as a program's own colors.
func NewWriter(out io.Writer, pass ...string) *Writer {
	return &Writer{out: out, pass: pass}
}

// Unwrap is the underlying stream, for code that must know whether it is a terminal.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Write passes b on. Its error is that of the underlying stream.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := b
	if len(w.rest) > 0 {
		text = slices.Concat(w.rest, b)
	} else if plain(b) == len(b) {
		if _, err := w.out.Write(w.colons(b)); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	w.made = w.made[:0]
	for len(text) > 0 {
		n := plain(text)
		if w.made = append(w.made, text[:n]...); n == 0 {
			if n = w.take(text); n == 0 {
				break
			}
		}
		text = text[n:]
	}
	w.rest = append(w.rest[:0], text...)
	if _, err := w.out.Write(w.colons(w.made)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// suspect marks the bytes that are control characters, and the first bytes in UTF-8 of
// other hidden characters.
var suspect = func() (bytes [256]bool) {
	for i := range bytes {
		c := byte(i)
		bytes[i] = c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 || c >= 0xd8 && c <= 0xe2 || c >= 0xee
	}
	return bytes
}()

// plain is the number of bytes at the start of a text that need no closer look.
func plain(text []byte) int {
	const window = 4 << 10 // bounds what is looked at again after each broken character
	const ones = 0x01_01_01_01_01_01_01_01
	most, n := min(len(text), window), 0
	// Check eight bytes at once, as long as none is below a space, above ASCII or DEL.
	for ; n+8 <= most; n += 8 {
		v := binary.LittleEndian.Uint64(text[n:])
		if (v|(v-' '*ones)|((v^0x7f*ones)-ones))&(0x80*ones) != 0 {
			break
		}
	}
	for n < most && !suspect[text[n]] {
		n++
	}
	for n == window && n < len(text) && !utf8.RuneStart(text[n]) && n > window-utf8.UTFMax {
		n--
	}
	if utf8.Valid(text[:n]) {
		return n
	}
	return max(0, slices.IndexFunc(text[:n], func(c byte) bool { return c >= utf8.RuneSelf }))
}

// take makes fit the first character of a text, or the sequence that may pass. It gives
// its length in bytes, 0 if it is incomplete.
func (w *Writer) take(text []byte) int {
	if text[0] == '\r' && len(text) == 1 {
		return 0
	}
	if text[0] == '\r' && text[1] == '\n' {
		w.made = append(w.made, "\r\n"...)
		return 2
	}
	for _, p := range w.pass {
		if bytes.HasPrefix(text, []byte(p)) {
			w.made = append(w.made, p...)
			return len(p)
		}
		if strings.HasPrefix(p, string(text)) {
			return 0
		}
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, n := utf8.DecodeRune(text)
	w.made = appendFit(w.made, r)
	return n
}

// Flush writes the rest of a text that has ended.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made = w.made[:0]
	for _, r := range string(w.rest) {
		w.made = appendFit(w.made, r)
	}
	w.rest = w.rest[:0]
	if len(w.made) == 0 {
		return nil
	}
	_, err := w.out.Write(w.colons(w.made))
	return err
}

// appendFit writes a character. A hidden one, except a tab or line end, is written in
// JSON's form: four hexadecimal digits for each of its UTF-16 units.
func appendFit(b []byte, r rune) []byte {
	if r == '\n' || r == '\t' || !hidden(r) {
		return utf8.AppendRune(b, r)
	}
	const digits = "0123456789abcdef"
	for _, unit := range utf16.AppendRune(nil, r) {
		b = append(b, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
	}
	return b
}
