package jsonappend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/orbench/orbench"
)

// Escape says which characters of a text are escaped beside those that JSON demands.
type Escape bool

// The two ways that encoding/json has.
const (
	// HTML escapes <, > and & too, as json.Marshal does.
	HTML Escape = true
	// Plain does not, as an Encoder after SetEscapeHTML(false).
	Plain Escape = false
)

// short are the characters with an escape of two, the letter that follows the backslash.
var short = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}

// asIs are the bytes that stand for themselves wherever they are.
var asIs = func() (bytes [256]bool) {
	for c := ' '; c < 0x80; c++ {
		bytes[c] = short[c] == 0 && c != '<' && c != '>' && c != '&'
	}
	return bytes
}()

// String appends a text. Broken UTF-8 becomes U+FFFD.
func String[T ~string](b []byte, text T, e Escape) []byte {
	start, s := len(b), string(text)
	b = append(b, '"')
	for len(s) > 0 {
		n := 0
		for n < len(s) && asIs[s[n]] {
			n++
		}
		b = append(b, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		switch c := s[0]; {
		case short[c] != 0:
			b = append(b, '\\', short[c])
		case c == '<' || c == '>' || c == '&':
			if e == HTML {
				b = append(b, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
				break
			}
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s)
			if r < ' ' || r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
				// These are left to the package that knows them.
				return Value(b[:start], text, e)
			}
			b = append(b, s[:size]...)
			s = s[size:]
			continue
		}
		s = s[1:]
	}
	return append(b, '"')
}

// Messages appends a conversation.
func Messages(b []byte, all []orbench.Message, e Escape) []byte {
	if all == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = String(append(b, `{"role":`...), m.Role, e)
		b = append(String(append(b, `,"content":`...), m.Content, e), '}')
	}
	return append(b, ']')
}

// Prompt appends a prompt.
func Prompt(b []byte, p *orbench.Prompt, e Escape) []byte {
	b = String(append(b, `{"id":`...), p.ID, e)
	b = Messages(append(b, `,"messages":`...), p.Messages, e)
	if p.Category != "" {
		b = String(append(b, `,"category":`...), p.Category, e)
	}
	b = String(append(b, `,"label":`...), p.Label, e)
	if p.Cluster != "" {
		b = String(append(b, `,"cluster":`...), p.Cluster, e)
	}
	if p.Pair != "" {
		b = String(append(b, `,"pair":`...), p.Pair, e)
	}
	if len(p.Answers) > 0 {
		b = Value(append(b, `,"answers":`...), p.Answers, e)
	}
	return append(b, '}')
}

// Float appends a number. One that JSON does not have panics.
func Float(b []byte, f float64) []byte {
	if size := math.Abs(f); f != 0 && (size < 1e-6 || !(size < 1e21)) {
		return Value(b, f, HTML)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// Value appends what encoding/json makes of any value. What it cannot make JSON of panics.
func Value(b []byte, v any, e Escape) []byte {
	made := bytes.NewBuffer(b)
	enc := json.NewEncoder(made)
	enc.SetEscapeHTML(bool(e))
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("a value that is not JSON: %v", err))
	}
	return bytes.TrimSuffix(made.Bytes(), []byte("\n"))
}
