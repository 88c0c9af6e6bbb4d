package model

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// hiddenKey stands for a secret.
const hiddenKey = "[key]"

// Secrets are texts, such as keys, that must stand in nothing that is kept or shown. A
// server that was sent one can send it back, as it is or disguised.
type Secrets struct {
	plain []string
	// folded are the forms in which they may stand in a folded text.
	folded []foldedSecret
}

// foldedSecret is a form of a secret, folded.
type foldedSecret struct {
	text []byte
	// base64 is true where the characters around may hold a part of the secret too.
	base64 bool
}

// leastFolded is the fewest letters and digits of a secret that is looked for in
// disguise: fewer are met by chance.
const leastFolded = 8

// NewSecrets prepares secrets. One of fewer than 8 bytes, or of fewer than 16 without a
// digit, is none: servers that want no key are given "none" or "placeholder", which are
// words of answers.
func NewSecrets(secrets ...string) (s Secrets) {
	for _, secret := range secrets {
		if len(secret) < 8 || len(secret) < 16 && !strings.ContainsAny(secret, "0123456789") {
			continue
		}
		s.plain = append(s.plain, secret)
		text := fold(secret, nil, nil)
		if len(text) < leastFolded {
			continue
		}
		s.folded = append(s.folded, foldedSecret{text: text}, foldedSecret{text: []byte(hex.EncodeToString([]byte(secret)))})
		// The secret may begin at any of three places in a group of base64. The digits
		// that it shares with what stands before and behind are not known.
		for before := range 3 {
			encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
			own := encoded[(before*8+5)/6 : (before+len(secret))*8/6]
			s.folded = append(s.folded, foldedSecret{text: fold(own, nil, nil), base64: true})
		}
	}
	return s
}

// Clean is the text with "[key]" in the place of each secret: as it is, in letters of
// another case or another width, with anything but letters and digits between its own,
// as the escapes of JSON, URLs, HTML or programs, in hex, or in base64.
func (s Secrets) Clean(text string) string {
	for _, secret := range s.plain {
		if strings.Contains(text, secret) {
			text = strings.ReplaceAll(text, secret, hiddenKey)
		}
	}
	if len(s.folded) == 0 || len(text) < leastFolded {
		return text
	}
	var small [4096]byte
	folded := fold(text, small[:], nil)
	holds := func(f foldedSecret) bool { return bytes.Contains(folded, f.text) }
	if !slices.ContainsFunc(s.folded, holds) {
		return text
	}
	return s.cut(text)
}

// cut replaces disguised secrets.
func (s Secrets) cut(text string) string {
	var at []orbench.Span
	folded := fold(text, nil, &at)
	var found []orbench.Span
	for _, f := range s.folded {
		for i := 0; ; {
			k := bytes.Index(folded[i:], f.text)
			if k < 0 {
				break
			}
			i += k + len(f.text)
			piece := orbench.Span{Start: at[i-len(f.text)].Start, End: at[i-1].End}
			for f.base64 && piece.Start > 0 && isBase64(text[piece.Start-1]) {
				piece.Start--
			}
			for f.base64 && piece.End < len(text) && isBase64(text[piece.End]) {
				piece.End++
			}
			found = append(found, piece)
		}
	}
	slices.SortFunc(found, func(a, b orbench.Span) int { return a.Start - b.Start })
	var b strings.Builder
	end := 0
	for _, piece := range found {
		if piece.Start >= end {
			b.WriteString(text[end:piece.Start])
			b.WriteString(hiddenKey)
		}
		end = max(end, piece.End)
	}
	b.WriteString(text[end:])
	return b.String()
}

func isBase64(c byte) bool { return kept[c] > opening || strings.IndexByte("+/-_=", c) >= 0 }

// CleanResponse is the response with every text in it cleaned.
func (s Secrets) CleanResponse(r Response) Response {
	if len(s.plain) == 0 {
		return r
	}
	for _, text := range []*string{&r.Text, &r.Thinking, &r.Model, &r.ID} {
		*text = s.Clean(*text)
	}
	if r.Block != nil {
		r.Block.Detail = s.Clean(r.Block.Detail)
		for i, c := range r.Block.Categories {
			r.Block.Categories[i] = s.Clean(c)
		}
	}
	for i := range r.Logprobs {
		r.Logprobs[i].Token = s.Clean(r.Logprobs[i].Token)
		for k := range r.Logprobs[i].Top {
			r.Logprobs[i].Top[k].Token = s.Clean(r.Logprobs[i].Top[k].Token)
		}
	}
	return r
}

// kept has for a letter or digit of ASCII its lower case, for a byte that may begin an
// escaped one opening, and 0 for any other.
var kept = func() (table [256]byte) {
	for _, c := range "\\%&\u00ef" {
		table[c] = opening
	}
	for c := byte('a'); c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = c, c
	}
	for c := byte('0'); c <= '9'; c++ {
		table[c] = c
	}
	return table
}()

// opening is no letter and no digit.
const opening = 1

// fold returns the letters and digits of a text in lower case, with escaped and full-width
// ones decoded. Unless at is nil, it appends each one's place in the text to it. The result
// is in room if that is large enough.
func fold(text string, room []byte, at *[]orbench.Span) []byte {
	if len(room) < len(text) {
		room = make([]byte, len(text))
	}
	count := 0
	for i := 0; i < len(text); {
		c, n := kept[text[i]], 1
		if c == opening {
			c, n = escaped(text[i:])
		}
		if at != nil && c != 0 {
			*at = append(*at, orbench.Span{Start: i, End: i + n})
		}
		// A byte that is dropped is written too, and then written over.
		room[count] = c
		if c != 0 {
			count++
		}
		i += n
	}
	return room[:count]
}

// escaped reads the escaped letter or digit that a text begins with, and its length: 0
// and 1 where there is none.
func escaped(text string) (c byte, n int) {
	var r rune
	switch text[0] {
	case '&':
		r, n = reference(text)
	case 0xef:
		// U+FF01 to U+FF5E are ASCII in full width.
		r, n = utf8.DecodeRuneInString(text)
		r -= 0xff01 - '!'
	default:
		r, n = untrusted.Escape(text)
	}
	if n == 0 || r < 0 || r >= utf8.RuneSelf {
		return 0, 1
	}
	if c = kept[byte(r)]; c == opening {
		c = 0
	}
	return c, n
}

// reference reads the numeric character reference of HTML that a text begins with, and
// its length, 0 for none.
func reference(text string) (r rune, n int) {
	digits, ok := strings.CutPrefix(text, "&#")
	base := 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, base = digits[1:], 16
	}
	end := strings.IndexByte(digits[:min(len(digits), 8)], ';')
	if !ok || end < 1 {
		return 0, 0
	}
	v, err := strconv.ParseUint(digits[:end], base, 31)
	if err != nil {
		return 0, 0
	}
	return rune(v), len(text) - len(digits) + end + 1
}
