package logs

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	asciiLetters = setOf(letters)
	hex          = setOf(digits + "abcdefABCDEF")
	tokens       = setOf(letters + digits + "./+~_:=-")
	plainTokens  = setOf(letters + digits + ".~_-")
)

// key finds a key of a known form, what is named as a key or password, the password of an
// address, and a block with a private key.
func key(text string, i, _ int) (from, to int) {
	find := func(name string) string {
		at := pattern(name).FindStringSubmatchIndex(text[i:])
		if at == nil {
			return ""
		}
		from, to = i+at[2], i+at[3]
		return text[from:to]
	}
	has := strings.ContainsAny
	switch c := text[i]; {
	case c == '-':
		find("block")
	case (c == ':' || c == '=') && i > 0 && text[i-1] == c:
	case c == ':' && find("login") != "":
	case c == ':' || c == '=':
		value := find("given")
		if !has(strings.TrimRight(value, ".:?!-"), digits+"!@#$%^*_+-") {
			return 0, 0
		}
		name := said(text, i, 48)
		if !list("password").named(name) && (len(value) < 12 || !has(value, digits) || !has(value, letters) || !list("key").named(name)) {
			return 0, 0
		}
	case joined(text, i):
	case (c == 'b' || c == 'B') && has(find("bearer"), digits):
	case tokens.run(text[i:]) < 15:
		if !has(find("short"), digits) || !has(text[from:to], letters) {
			return 0, 0
		}
		name := said(text, i, 48)
		if !list("password").near(name, 14) && (to-from < 12 || !list("key").near(name, 14)) || list("counted").last(name) > max(list("password").last(name), list("key").last(name)) {
			return 0, 0
		}
	case has(find("vendor"), digits):
	case random(text[i:i+plainTokens.run(text[i:])]) && (i == 0 || text[i-1] != '/') && !pattern("inLink").MatchString(before(text, i, 200)):
		return i, i + plainTokens.run(text[i:])
	case has(find("long"), digits) && has(text[from:to], letters):
		name := said(text, i, 64)
		if !list("key").near(name, 40) && !list("password").near(name, 40) {
			return to, to // and none begins within it
		}
	default:
		return to, to
	}
	return from, from + len(strings.TrimRight(text[from:to], ".,:?!"))
}

// random reports whether a word has a part that nobody would write by hand, as keys have
// whose vendor is not known: 16 letters and digits that change between upper case, lower case
// and digits about as often as drawn ones do, or 24 without upper case behind a prefix. Hashes and
// names of files have no such prefix; parts of links are left alone, since links have such for other ends.
func random(word string) bool {
	if pattern("file").MatchString(word) {
		return false
	}
	end := 0
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		end += strings.Index(word[end:], part)
		prefix := strings.TrimRight(word[:end], "_-.~")
		end += len(part)
		kinds, changes := map[int]bool{}, 0
		for i := range len(part) {
			kinds[sortOf(part[i])] = true
			if i > 0 && sortOf(part[i]) != sortOf(part[i-1]) {
				changes++
			}
		}
		named := prefix != "" && (strings.Trim(prefix, letters) == "" || strings.ContainsAny(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) && len(prefix) < end-len(part)
		n, mixed := len(part), kinds['A'] && kinds['a']
		switch {
		case mixed && n >= 20 && 10*changes >= 4*n,
			mixed && kinds['0'] && (n >= 16 && 2*changes >= n || n >= 32 && 3*changes >= n),
			len(kinds) == 2 && kinds['0'] && named && n >= 24 && 4*changes >= n:
			return true
		}
	}
	return false
}

// sortOf is A, a or 0: what a letter or digit is an example of.
func sortOf(c byte) int {
	switch {
	case c <= '9':
		return '0'
	case c <= 'Z':
		return 'A'
	}
	return 'a'
}

// mail finds an address of mail by its at, also where that or the dots are spelled.
func mail(text string, i, least int) (from, to int) {
	// Few words begin as these do.
	if word := strings.TrimLeft(clip(text[i:], 5), " \n"); text[i] <= ' ' && len(word) > 1 && asciiLetters[word[0]] && !strings.Contains("at et ar kl af mi ku ch ma gü", strings.ToLower(word[:2])) {
		return 0, 0
	}
	sign := pattern("at").FindStringSubmatch(clip(text[i:], 40))
	if sign == nil {
		return 0, 0
	}
	rest := clip(text[i+len(sign[0]):], 253)
	forms := []string{"within", "spelled", "host", "loose"}
	switch {
	case sign[1]+sign[2] != "" && sign[1] != "AT" && list("mail").last(said(text, i, 64)) == 0 && !pattern("nameLike").MatchString(before(text, i, 32)):
		forms = forms[:2] // "at" alone is a word
	case strings.TrimSpace(sign[0]) == "@":
		forms = []string{"host", "within", "spelled", "loose"}
	}
	domain := ""
	for _, form := range forms {
		if domain = pattern(form).FindString(rest); domain != "" {
			if form != "within" {
				domain = sameScript(domain)
			}
			break
		}
	}
	top := strings.TrimSpace(pattern("spelledDot").ReplaceAllString(domain, "."))
	if !pattern("topName").MatchString(strings.TrimSpace(top[strings.LastIndexByte(top, '.')+1:])) || !strings.Contains(top, ".") {
		return 0, 0
	}
	from = i
	for last := rune(0); from > least; {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		letter := unicode.IsLetter(r)
		if !localRune(r) || letter && last != 0 && script(r) != script(last) {
			break
		}
		if letter {
			last = r
		}
		from -= size
	}
	if sign[0] != "@" {
		for word := pattern("earlier").FindString(before(text, from, 60)); word != "" && from-len(word) >= least; word = pattern("earlier").FindString(before(text, from, 60)) {
			from -= len(word)
		}
	}
	from += len(text[from:i]) - len(strings.TrimLeft(text[from:i], ".-'*~`|{}#$%&!^"))
	if from == i {
		return 0, 0
	}
	return from, i + len(sign[0]) + len(domain)
}

// localRune reports whether a character can stand before the at of an address.
func localRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune(".!#$%&'*+^_{|}~-", r)
}

// sameScript is a name of a host up to where another script goes on.
func sameScript(host string) string {
	last := 0
	for i, r := range host {
		if !unicode.IsLetter(r) {
			last = 0
			continue
		}
		s := 1 + script(r)
		if last != 0 && s != last {
			return host[:i]
		}
		last = s
	}
	return host
}

// iban finds an account of the length of its country whose check digits are right
// (ISO 13616: the number is 1 modulo 97).
func iban(text string, i, _ int) (from, to int) {
	want := 0
	for _, country := range list("IBAN")[unicode.ToUpper(rune(text[i]))] {
		if strings.EqualFold(clip(text[i:], 2), country[:2]) {
			want, _ = strconv.Atoi(country[2:])
		}
	}
	if want == 0 || inside(text, i) || !strings.ContainsAny(clip(text[i+2:], 5), digits) {
		return 0, 0
	}
	end, bare := take(pattern("account").FindString(clip(text[i:], 4*want)), want)
	if end == 0 || !alone(text, i, i+end) {
		return 0, 0
	}
	rest := uint64(0)
	for _, r := range bare[4:] + bare[:4] {
		n, _ := strconv.ParseUint(string(r), 36, 64)
		if n > 9 {
			rest *= 10
		}
		rest = (rest*10 + n) % 97
	}
	if rest != 1 {
		return 0, 0
	}
	return i, i + end
}

// take gives the first n letters and digits of a number, and where they end; 0 if it has fewer.
func take(number string, n int) (end int, bare string) {
	var b strings.Builder
	for i := range len(number) {
		if script(rune(number[i])) == 0 {
			continue
		}
		b.WriteByte(number[i])
		if b.Len() == n {
			return i + 1, b.String()
		}
	}
	return 0, ""
}

// card finds a number of an issuer's length and grouping whose check digit is right
// (ISO/IEC 7812-1, the formula of Luhn).
func card(text string, i, _ int) (from, to int) {
	if inside(text, i) || partOfNumber(text, i) {
		return 0, 0
	}
	match := pattern("cardDigits").FindString(clip(text[i:], 60))
	for _, length := range []int{16, 15, 14, 19, 18, 13} {
		end, bare := take(match, length)
		if end == 0 || !pattern("card"+strconv.Itoa(length)).MatchString(bare) || !alone(text, i, i+end) || !luhn(bare) {
			continue
		}
		before := said(text, i, 64)
		if list("card").last(before) > 0 || pattern("cardGroups").MatchString(groupsOf(match[:end])) && list("counted").last(before) == 0 {
			return i, i + end
		}
	}
	return 0, 0
}

func luhn(digits string) bool {
	sum := 0
	for i := range digits {
		d := digits[len(digits)-1-i]
		if i%2 == 1 {
			d = "0246813579"[d-'0'] // the sum of the digits of twice d
		}
		sum += int(d - '0')
	}
	return sum%10 == 0
}

func noDigit(r rune) bool { return r < '0' || r > '9' }

// groupsOf gives the lengths of the groups of digits, each as a digit of base 36; one group
// is "x".
func groupsOf(number string) string {
	groups := strings.FieldsFunc(number, noDigit)
	if len(groups) == 1 {
		return "x"
	}
	out := ""
	for _, g := range groups {
		out += string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(g)])
	}
	return out
}

// partOfNumber reports whether the digits of a number with a dot, comma, colon, hyphen or slash
// behind them stand before byte i, or a word with a hyphen, as in PO-0301234567.
func partOfNumber(text string, i int) bool {
	return i > 0 && strings.IndexByte(".,:/_-#", text[i-1]) >= 0 && pattern("longer").MatchString(before(text, i, 24))
}

// address finds an IP address that says more than the machine itself.
func address(text string, i, _ int) (from, to int) {
	if rest := text[i+hex.run(clip(text[i:], 5)):]; rest == "" || strings.IndexByte(".:[( ", rest[0]) < 0 || inside(text, i) {
		return 0, 0
	}
	match := pattern("fourth").FindString(clip(text[i:], 60))
	written := strings.Join(strings.FieldsFunc(match, noDigit), ".")
	if match == "" {
		match = pattern("sixth").FindString(clip(text[i:], 60))
		if !strings.HasSuffix(match, "::") {
			match = strings.TrimSuffix(match, ":")
		}
		written = strings.ToLower(match)
	} else if pattern("longerIP").MatchString(before(text, i, 2)) || pattern("goesOn").MatchString(text[i+len(match):]) || list("section").near(said(text, i, 48), 16) || list("section").last(lower(clip(text[i+len(match):], 16))) > 0 {
		return 0, 0
	}
	a, err := netip.ParseAddr(written)
	if err != nil || a.IsUnspecified() || a.IsLoopback() || a.Is6() && strings.Count(written, ":") < 3 && !pattern("shortest").MatchString(written) || !alone(text, i, i+len(match)) {
		return 0, 0
	}
	return i, i + len(match)
}

// phone finds a number with a country code, one of 9 to 12 digits that begins with 0, one in
// the groups of a country, and one that is called a telephone's. A number that is called
// something else, such as an order's, is none.
func phone(text string, i, _ int) (from, to int) {
	if inside(text, i) {
		return 0, 0
	}
	match := pattern("dialed").FindString(clip(text[i:], 80))
	if len(match) < 7 || partOfNumber(text, i) && list("called").last(said(text, i, 12)) == 0 || pattern("paid").MatchString(before(text, i, 8)) || pattern("date").MatchString(match) {
		return 0, 0
	}
	beside := around{before: said(text, i, 64)}
	for end := len(match); end > 6; end = ends(match, end) {
		if strings.Count(match[:end], " ") > 9 || !alone(text, i, i+end) || pattern("goesOnBy").MatchString(text[i+end:min(i+end+2, len(text))]) || pattern("amount").MatchString(clip(text[i+end:], 24)) {
			continue
		}
		beside.behind = lower(clip(text[i+end:], 60))
		if beside.dials(match[:end]) {
			return i, i + end
		}
	}
	return 0, 0
}

// ends is where the group of digits before the last ends, 0 if there is none.
func ends(number string, end int) int {
	at := strings.LastIndexAny(number[:end], " ./()-\r\n\t")
	return len(strings.TrimRight(number[:max(at, 0)], " ./()-\r\n\t"))
}

// around is what stands around a number.
type around struct{ before, behind string }

func (s around) in(script *unicode.RangeTable) bool {
	return strings.ContainsFunc(s.before+s.behind, func(r rune) bool { return unicode.Is(script, r) })
}

// dials reports whether a number is a telephone's, by itself and the texts around it.
func (s around) dials(number string) bool {
	bare := strings.Join(strings.FieldsFunc(number, noDigit), "")
	groups, n := groupsOf(number), len(bare)
	if n < 7 || n > 17 || len(groups) > 8 || strings.Contains(number, "\n") && n > 12 && number[0] != '+' {
		return false
	}
	if strings.ContainsRune(clip(number, 2), '+') {
		return n >= 8 && n <= 15 && bare[0] != '0'
	}
	is, not := list("called").last(s.before), list("counted").last(s.before)
	sentence := clip(s.behind, 32)
	if at := strings.IndexAny(sentence, ".!?\n"); at >= 0 {
		sentence = sentence[:at]
	}
	switch {
	case not > 0 && not >= is, is == 0 && pattern("numbered").MatchString(s.before):
		return false
	case is > not && list("called").near(s.before, 36) || is == not && list("asked").last(sentence) > 0:
		return n <= 15 && !strings.HasPrefix(bare, "000")
	case strings.HasPrefix(s.behind, "+"): // as in Arabic
		return n >= 10 && n <= 14
	case strings.HasPrefix(strings.TrimPrefix(number, "("), "00"):
		return n > 9 && (groups != "x" || n > 11) && bare[2] != '0'
	case pattern("thirds").MatchString(number) && pattern("inNumber").MatchString(s.before):
		return false // of a sum
	case bare[0] == '0':
		return n >= 9 && n <= 12 && (groups != "x" || n > 9) && (groups[0] != '1' || n == 11 && groups[1] == '3')
	}
	number = pattern("tight").ReplaceAllString(number, "$1")
	return pattern("national").MatchString(number) || groups == "x" && (pattern("chinese").MatchString(bare) && s.in(unicode.Han) || pattern("russian").MatchString(bare) && s.in(unicode.Cyrillic))
}
