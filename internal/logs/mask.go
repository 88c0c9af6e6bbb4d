package logs

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Masker replaces what identifies people in texts: mail addresses, phone numbers, payment
// cards, bank accounts (IBAN), IP addresses, and names that the user lists. The same value
// gets the same mask, so who is meant twice stays recognizable; values are numbered in the
// order in which they come first. A masked text is not anonymous: what is said in it can
// still tell whom it is about. A Masker is not safe for concurrent use.
type Masker struct {
	listed  []string
	names   *regexp.Regexp
	numbers map[string]int
	counts  map[string]int
}

// NewMasker makes a Masker that also masks names, as whole words in any case.
func NewMasker(names []string) *Masker {
	m := &Masker{numbers: map[string]int{}, counts: map[string]int{}}
	m.add(names)
	return m
}

// leastName is how many letters a part of a person's name has at least to be masked alone.
const leastName = 3

// AddPeople masks people's names too: the whole name, and each of its words of three letters
// or more.
func (m *Masker) AddPeople(names []string) {
	for _, name := range names {
		m.add([]string{name})
		m.add(slices.DeleteFunc(strings.Fields(name), func(w string) bool { return utf8.RuneCountInString(w) < leastName }))
	}
}

func (m *Masker) add(names []string) {
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			m.listed = append(m.listed, regexp.QuoteMeta(name))
		}
	}
	// The longest is tried first: Ana Maria before Ana.
	slices.SortFunc(m.listed, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	m.listed = slices.Compact(m.listed)
	m.names = nil
}

// rule finds values of a kind. end gives the length of the value at the beginning of a
// match, 0 if it is none. context is the text before it.
type rule struct {
	kind string
	find *regexp.Regexp
	end  func(match, context string) int
}

// rules are tried in this order. A number of a card or account must not be taken for a
// phone's.
var rules = []rule{
	{"mail", regexp.MustCompile(`[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`), whole},
	{"IBAN", regexp.MustCompile(`(?i)[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]){11,30}`), iban},
	{"card", regexp.MustCompile(`[0-9](?:[ -]?[0-9]){11,18}`), card},
	{"IP", regexp.MustCompile(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}`), address},
	{"phone", regexp.MustCompile(`(?:\+|\(|[0-9])[0-9](?:[ ./()-]{0,2}[0-9]){6,16}`), phone},
}

// Text masks a text.
func (m *Masker) Text(text string) string {
	for _, r := range rules {
		text = m.replace(text, r)
	}
	if len(m.listed) == 0 {
		return text
	}
	if m.names == nil {
		m.names = regexp.MustCompile(`(?i)` + strings.Join(m.listed, "|"))
	}
	return m.replace(text, rule{"name", m.names, whole})
}

// Values is the number of different values that were masked.
func (m *Masker) Values() int { return len(m.numbers) }

func (m *Masker) replace(text string, r rule) string {
	var out strings.Builder
	for at := 0; ; {
		found := r.find.FindStringIndex(text[at:])
		if found == nil {
			out.WriteString(text[at:])
			return out.String()
		}
		start, match := at+found[0], text[at+found[0]:at+found[1]]
		n := 0
		if before, _ := utf8.DecodeLastRuneInString(text[:start]); !wordRune(before) {
			n = r.end(match, text[max(0, start-24):start])
		}
		if after, _ := utf8.DecodeRuneInString(text[start+n:]); n == 0 || wordRune(after) && r.kind != "mail" {
			// The value is none, or is a part of a longer word. Go on behind its first rune.
			_, size := utf8.DecodeRuneInString(match)
			out.WriteString(text[at : start+size])
			at = start + size
			continue
		}
		out.WriteString(text[at:start])
		fmt.Fprintf(&out, "[%s %d]", r.kind, m.number(r.kind, match[:n]))
		at = start + n
	}
}

// number gives the number of a value, however it is written.
func (m *Masker) number(kind, value string) int {
	key := kind + " " + strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -/()", r) || kind == "phone" && r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, value)
	n, ok := m.numbers[key]
	if !ok {
		m.counts[kind]++
		n = m.counts[kind]
		m.numbers[key] = n
	}
	return n
}

// wordRune reports whether a value that is beside the rune is a part of a longer word. It is
// false at the end of a text.
func wordRune(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

func whole(match, _ string) int { return len(match) }

// ibanLengths are the lengths of accounts by country, from the IBAN registry of SWIFT
// (release 98).
var ibanLengths = lengths(`AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18
	FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27
	MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24
	XK20 YE30`)

func lengths(list string) map[string]int {
	all := map[string]int{}
	for word := range strings.FieldsSeq(list) {
		n := int(word[2]-'0')*10 + int(word[3]-'0')
		all[word[:2]] = n
	}
	return all
}

// iban accepts an account of the length of its country whose check digits are right
// (ISO 13616: the number is 1 modulo 97).
func iban(match, _ string) int {
	want := ibanLengths[strings.ToUpper(match[:2])]
	end, plain := take(match, want)
	if want == 0 || end == 0 {
		return 0
	}
	plain = strings.ToUpper(plain)
	rest := 0
	for _, r := range plain[4:] + plain[:4] {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
	}
	if rest != 1 {
		return 0
	}
	return end
}

// take gives the first n letters and digits of a text, and where they end; 0 if it has fewer.
func take(text string, n int) (end int, plain string) {
	var b strings.Builder
	for i, r := range text {
		if r == ' ' || r == '-' {
			continue
		}
		b.WriteRune(r)
		if b.Len() == n {
			return i + 1, b.String()
		}
	}
	return 0, ""
}

// issuers are the beginnings of the numbers of cards, with their lengths in digits and the
// groups in which they are written.
var issuers = []struct {
	begin  *regexp.Regexp
	length int
	groups string
}{
	{regexp.MustCompile(`^4`), 16, "4444"},
	{regexp.MustCompile(`^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)`), 16, "4444"},
	{regexp.MustCompile(`^3[47]`), 15, "465"},
	{regexp.MustCompile(`^(?:6011|64[4-9]|65|62|35[2-8])`), 16, "4444"},
	{regexp.MustCompile(`^(?:36|38|39|30[0-5])`), 14, "464"},
	{regexp.MustCompile(`^(?:5018|5020|5038|6304|6759|676[1-3])`), 16, "4444"},
	{regexp.MustCompile(`^4`), 19, "44443"},
	{regexp.MustCompile(`^4`), 13, "4333"},
}

// card accepts a number of an issuer's length and grouping whose check digit is right
// (ISO/IEC 7812-1, the formula of Luhn).
func card(match, _ string) int {
	for _, issuer := range issuers {
		end, plain := take(match, issuer.length)
		if end == 0 || !issuer.begin.MatchString(plain) || end < len(match) && match[end] >= '0' && match[end] <= '9' {
			continue
		}
		if groups := groupsOf(match[:end]); len(groups) > 1 && groups != issuer.groups {
			continue
		}
		sum := 0
		for i := range plain {
			d := int(plain[len(plain)-1-i] - '0')
			if i%2 == 1 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		if sum%10 == 0 {
			return end
		}
	}
	return 0
}

// groupsOf gives the lengths of the groups of digits, each as a digit; one group is "x".
func groupsOf(number string) string {
	groups := strings.FieldsFunc(number, func(r rune) bool { return r == ' ' || r == '-' })
	if len(groups) == 1 {
		return "x"
	}
	var out []byte
	for _, g := range groups {
		out = append(out, '0'+byte(min(len(g), 9)))
	}
	return string(out)
}

// address accepts an IP address that says more than the machine itself.
func address(match, _ string) int {
	a, err := netip.ParseAddr(match)
	if err != nil || a.IsUnspecified() || a.IsLoopback() || a.Is6() && strings.Count(match, ":") < 3 {
		return 0
	}
	return len(match)
}

// counted ends a text that says that a number of something else follows.
var counted = regexp.MustCompile(`(?i)(?:order|invoice|ticket|tracking|parcel|case|item|article|serial|customer|reference|ref|number|no|nr|id|bestellung|bestellnummer|rechnung|auftrag|commande|facture|pedido|factura|#)[.:# ]*$`)

// phone accepts a number with a country code, or one of 9 to 12 digits that begins with 0 or
// is written in the groups of North America. A number that is called something else, such
// as an order's, is none.
func phone(match, context string) int {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, match)
	if counted.MatchString(context) && !strings.HasPrefix(match, "+") {
		return 0
	}
	end := len(strings.TrimRight(match, " ./()-"))
	switch {
	case strings.HasPrefix(match, "+"), strings.HasPrefix(digits, "00") && len(digits) > 9 && digits[2] != '0':
		if len(digits) >= 8 && len(digits) <= 17 {
			return end
		}
	case digits[0] == '0' && digits[1] != '0' && len(digits) >= 9 && len(digits) <= 12, american.MatchString(match[:end]):
		return end
	}
	return 0
}

// american matches a number of North America, with or without its country code.
var american = regexp.MustCompile(`^(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}$`)
