package logs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestText masks each kind, the same value by the same mask however it is written.
func TestText(t *testing.T) {
	t.Parallel()
	m := NewMasker([]string{"Ana", "Ana Maria Roth", " "})
	for text, want := range map[string]string{
		"Write to o'neil+x@mail.example.com, or O'Neil+X@mail.example.com.": "Write to [mail 1], or [mail 1].",
		"GB82 WEST 1234 5698 7654 32 and GB82WEST12345698765432":            "[IBAN 1] and [IBAN 1]",
		"GB82 WEST 1234 5698 7654 33 is mistyped":                           "GB82 WEST 1234 5698 7654 33 is mistyped",
		"card 4111 1111 1111 1111, 4111111111111111":                        "card [card 1], [card 1]",
		"card 4111 1111 1111 1112":                                          "card 4111 1111 1111 1112",
		"Order 302-1234567-1234567 came":                                    "Order 302-1234567-1234567 came",
		"from 192.168.7.20 and 2001:db8::7:1, not 127.0.0.1 at 12:30:45":    "from [IP 1] and [IP 2], not 127.0.0.1 at 12:30:45",
		"call (212) 555-0187 or +49 30 1234567":                             "call [phone 1] or [phone 2]",
		"Order no. 0301234567, version 1.2.3":                               "Order no. 0301234567, version 1.2.3",
		"ana maria roth and Ana, not Anabel":                                "[name 1] and [name 2], not Anabel",
		"":                                                                  "",
	} {
		if kind := strings.ContainsAny(want, "["); NewMasker(nil).Text(want) != want || kind == (want == text) {
			t.Errorf("%q: the test is wrong", text)
		}
		got := NewMasker([]string{"Ana", "Ana Maria Roth", " "}).Text(text)
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		m.Text(text)
	}
	if m.Values() != 9 {
		t.Errorf("%d values", m.Values())
	}
}

// planted makes random values as people write them.
func planted(draw *rand.Rand) (value string) {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(draw.IntN(10))
		}
		return string(b)
	}
	pick := func(from ...string) string { return from[draw.IntN(len(from))] }
	grouped := func(text string, by int) string {
		var parts []string
		for len(text) > by {
			parts, text = append(parts, text[:by]), text[by:]
		}
		return strings.Join(append(parts, text), pick(" ", "-"))
	}
	switch draw.IntN(4) {
	case 0:
		return pick("jo", "k.lee", "info_7", "söke", "m-x+shop") + digits(2) + "@" + pick("mail.example.com", "firma-nord.example", "uni.example.org")
	case 1:
		n := pick("4", "51", "2221", "37", "6011")
		length := 16
		if n == "37" {
			length = 15
		}
		n += digits(length - 1 - len(n))
		sum := 0
		for i := range n {
			d := int(n[len(n)-1-i] - '0')
			if i%2 == 0 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		n += fmt.Sprint((10 - sum%10) % 10)
		if length == 16 && draw.IntN(2) == 0 {
			return grouped(n, 4)
		}
		return n
	case 2:
		country, rest := "DE", digits(18)
		switch draw.IntN(4) {
		case 0:
			country, rest = "FR", digits(23)
		case 1:
			country, rest = "GB", "WEST"+digits(14)
		case 2:
			country, rest = "NL", "ABNA"+digits(10)
		}
		remainder := 0
		for _, r := range rest + country + "00" {
			if r >= 'A' {
				remainder = (remainder*100 + int(r-'A') + 10) % 97
			} else {
				remainder = (remainder*10 + int(r-'0')) % 97
			}
		}
		n := country + fmt.Sprintf("%02d", 98-remainder) + rest
		if draw.IntN(2) == 0 {
			return strings.ReplaceAll(grouped(n, 4), "-", " ")
		}
		return n
	}
	return pick("+49 "+"30 "+digits(7), "+44 20 7946 0"+digits(3), "(212) 555-0"+digits(3), "0171 "+digits(7), "030/"+digits(7), "+1-415-555-0"+digits(3), "00331"+digits(8), "06 12 34 "+digits(2)+" "+digits(2))
}

// TestPlanted masks at least 98% of 500 planted values, and at most 1% of 500 numbers of
// orders.
func TestPlanted(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(7, 7))
	const n = 500
	hidden, orders := 0, 0
	around := []string{"Please use %s for it.", "My data: %s", "%s is mine, thanks", "I wrote (%s) twice"}
	for i := range n {
		value := planted(draw)
		got := NewMasker(nil).Text(fmt.Sprintf(around[i%len(around)], value))
		if strings.Contains(got, "[") && !strings.ContainsAny(strings.NewReplacer("[mail 1]", "", "[card 1]", "", "[IBAN 1]", "", "[phone 1]", "").Replace(got), "0123456789@") {
			hidden++
		} else {
			t.Logf("not masked: %s", got)
		}
		number := fmt.Sprintf([]string{"%010d", "ORD-2025-%06d", "302-%07d-1234567", "A%08d", "%08d/25", "PO %06d-001", "%012d", "#%07d", "%07d4803652919"}[i%9], draw.IntN(9_000_000)+1_000_000)
		text := fmt.Sprintf("Where is my order %s, please? It came on 2025-11-24 at 12:30.", number)
		if NewMasker(nil).Text(text) != text {
			orders++
			t.Logf("masked: %s", number)
		}
	}
	t.Logf("%d of %d values masked, %d of %d order numbers", hidden, n, orders, n)
	if hidden < n*98/100 || orders > n/100 {
		t.Error("too few values, or too many orders")
	}
}

// FuzzText masks any text, and the same text always in the same way.
func FuzzText(f *testing.F) {
	f.Add("4111 1111 1111 1111 a@b.cd +49 30 1234567 1.2.3.4 GB82WEST12345698765432")
	f.Fuzz(func(t *testing.T, text string) {
		if a, b := NewMasker([]string{"ana"}).Text(text), NewMasker([]string{"ana"}).Text(text); a != b {
			t.Errorf("%q and %q", a, b)
		}
	})
}

// TestMasked masks each value of a list of invented texts in many languages, and nothing beside
// it.
func TestMasked(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("testdata/masked.txt")
	if err != nil {
		t.Fatal(err)
	}
	kind, tried := "", map[string]int{}
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case slices.Contains([]string{"mail", "phone", "IBAN", "card", "IP", "key", "none"}, line):
			kind = line
			continue
		}
		tried[kind]++
		text := strings.NewReplacer(`\n`, "\n", `\z`, "\u200b", `\s`, "\u00ad", `\_`, "\u00a0").Replace(line)
		want := regexp.MustCompile(`(?s)⟨.*?⟩`).ReplaceAllString(text, "["+kind+"]")
		text = strings.NewReplacer("⟨", "", "⟩", "").Replace(text)
		got := regexp.MustCompile(` [0-9]+\]`).ReplaceAllString(NewMasker(nil).Text(text), "]")
		if got != want {
			t.Errorf("%s: %q is %q, want %q", kind, text, got, want)
		}
	}
	t.Log(tried)
}

// TestReadMasks refuses a line that is none, and finds each list and pattern that the rules
// name, and no other.
func TestReadMasks(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"words mail":          "masks.txt:2: it has no value",
		"pattern a {noPart}b": "masks.txt:2: it has no value, or an unknown part {noPart}",
		"pattern a (b":        "masks.txt:2: error parsing regexp: missing closing ): `(b`",
		"word mail address":   `masks.txt:2: its kind is "word"`,
	} {
		if _, _, err := readMasks("part b c\n" + line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
	var code []byte
	for _, file := range []string{"mask.go", "mask_rules.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, text...)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`"([a-zA-Z]+)"`).FindAllSubmatch(code, -1) {
		named[string(name[1])] = true
	}
	_, patterns := masks()
	for name := range patterns {
		if !named[strings.TrimRight(name, "0123456789")] {
			t.Errorf("no rule has the pattern %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`(?:pattern|list)\("([a-zA-Z0-9]+)"`).FindAllStringSubmatch(string(code), -1) {
		if list(name[1]) == nil && pattern(name[1]) == nil {
			t.Errorf("masks.txt has no %s", name[1])
		}
	}
}
