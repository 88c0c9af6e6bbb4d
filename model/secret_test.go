package model_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/orbench/orbench/model"
)

const secretKey = "sk-Proj_0123456789.abcDEF-xyz"

// disguises are forms in which a server can send a key back.
func disguises(key string) map[string]string {
	each := func(form string) string {
		var b strings.Builder
		for _, r := range key {
			fmt.Fprintf(&b, form, r)
		}
		return b.String()
	}
	full := strings.Map(func(r rune) rune { return r - ' ' + 0xff00 }, key)
	return map[string]string{
		"as it is": key, "upper case": strings.ToUpper(key), "blanks": each("%c "), "lines": each("%c\r\n\t"), "zero width": each("%c\u200b"),
		"halves": key[:10] + " and then\n"[:1] + key[10:], "hyphens": each("%c-"), "quotes": key[:10] + `", "` + key[10:],
		"JSON": each(`\u%04x`), "JSON twice": each(`\\u%04X`), "JSON in part": key[:5] + fmt.Sprintf(`\u%04x`, key[5]) + key[6:], "braces": each(`\u{%x}`),
		"long": each(`\U%08x`), "bytes": each(`\x%02x`), "URL": each("%%%02X"), "HTML": each("&#%d;"), "HTML in hex": each("&#x%x;"), "HTML by name": html.EscapeString(key), "query": url.QueryEscape(key),
		"full width": full,
		"hex":        hex.EncodeToString([]byte(key)), "hex in upper case": fmt.Sprintf("%X", key), "hex in pairs": fmt.Sprintf("% x", key),
		"base64": base64.StdEncoding.EncodeToString([]byte(key)), "base64 of a URL": base64.RawURLEncoding.EncodeToString([]byte(key)),
		"base64 at the second": base64.StdEncoding.EncodeToString([]byte("x" + key + "yz")), "base64 at the third": base64.StdEncoding.EncodeToString([]byte("xy" + key)),
		"base64 of a header": base64.StdEncoding.EncodeToString([]byte("Bearer " + key + " and more")), "base64 in lines": base64.StdEncoding.EncodeToString([]byte(key))[:20] + "\n" + base64.StdEncoding.EncodeToString([]byte(key))[20:],
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	s := model.NewSecrets("", "none", secretKey, "another-key-0000")
	for name, form := range disguises(secretKey) {
		got := s.Clean("I was sent «" + form + "», 50% of it \\ & 模型 \xff.")
		if !strings.HasPrefix(strings.Replace(got, `\`, "", 1), "I was sent «[key]") || !strings.HasSuffix(got, "», 50% of it \\ & 模型 \xff.") || len(got) > len("I was sent «[key]», 50% of it \\ & 模型 \xff.")+8 {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := s.Clean(secretKey + secretKey + " another key 0000"); got != "[key][key] [key]" {
		t.Errorf("several: %q", got)
	}
	for _, text := range []string{
		"", "plain", "none of it", "sk-Proj_0123456789.abcDEF-xy", `\u00`, `\u{`, `\u{}`, "&#;", "&#x", "%", "%4", "100%", `\xzz`, "\xef", "\xef\xbc", "ｆｕｌｌ", strings.Repeat("word ", 2000),
	} {
		if got := s.Clean(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	// What is given in the place of a key is a word.
	for _, word := range []string{"EMPTY", "none", "not-needed", "placeholder", "sk-1234"} {
		if got := model.NewSecrets(word).Clean("It is " + word + "."); got != "It is "+word+"." {
			t.Errorf("%s became %q", word, got)
		}
	}
}

func TestCleanResponse(t *testing.T) {
	t.Parallel()
	r := model.Response{
		Text: secretKey, Thinking: secretKey, Model: secretKey, ID: secretKey, Block: &model.Block{Detail: secretKey},
		Logprobs: []model.Place{{Token: secretKey, Top: []model.Token{{Token: secretKey}}}},
	}
	if got := fmt.Sprintf("%+v %+v", model.NewSecrets(secretKey).CleanResponse(r), *r.Block); strings.Contains(got, "0123456789") {
		t.Error(got)
	}
}

func TestClipSecrets(t *testing.T) {
	t.Parallel()
	for name, form := range disguises(secretKey) {
		if got := model.Clip("Wrong key: "+form+".", secretKey); !strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(got, "Wrong key: "), `\`), "[key]") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := model.Clip("Wrong key: none.", "none"); got != "Wrong key: [key]." {
		t.Errorf("a short one: %q", got)
	}
}

func FuzzSecrets(f *testing.F) {
	for _, form := range disguises(secretKey) {
		f.Add(form, secretKey)
	}
	f.Add("&#x73;\\u{73}%73\xef\xbd\x93", "ssss-ssss-1")
	f.Fuzz(func(t *testing.T, text, key string) {
		got := model.NewSecrets(key).Clean(text)
		if len(key) >= 16 && !strings.Contains("[key]", key) && strings.Contains(got, key) {
			t.Errorf("%q is in %q", key, got)
		}
	})
}

func BenchmarkSecrets(b *testing.B) {
	s := model.NewSecrets(secretKey)
	text := strings.Repeat("A usual answer, of words and a \"quotation\". ", 45)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Clean(text)
	}
}
