package logs

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/internal/untrusted"
)

// pattern compiles an expression for texts that plain made.
func pattern(parts ...string) *regexp.Regexp {
	read, _ := plain(strings.Join(parts, ""))
	return regexp.MustCompile(read)
}

// vocabulary has words by their first letters. After a star a word may go on.
type vocabulary map[rune][]string

// newVocabulary reads a list of words. ~ stands for a space, hyphen or underscore in a word.
func newVocabulary(list string) vocabulary {
	v := vocabulary{}
	read, _ := plain(list)
	for word := range strings.FieldsSeq(read) {
		r, _ := utf8.DecodeRuneInString(word)
		v[r] = append(v[r], lower(strings.ReplaceAll(word, "~", " ")))
	}
	return v
}

// last is where the last of the words ends in what context gives, 0 if it has none.
func (v vocabulary) last(context string) (end int) {
	for i, r := range context {
		if v[r] == nil || joined(context, i) {
			continue
		}
		for _, word := range v[r] {
			stem, open := strings.CutSuffix(word, "*")
			if !strings.HasPrefix(context[i:], stem) {
				continue
			}
			to := i + len(stem)
			for open && joined(context, to) {
				_, size := utf8.DecodeRuneInString(context[to:])
				to += size
			}
			if !joined(context, to) {
				end = max(end, to)
			}
		}
	}
	return end
}

// said is what stands before byte i of a text, as a vocabulary has it.
func said(text string, i, n int) string { return lower(before(text, i, n)) }

func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return unicode.ToLower(r)
	}, text)
}

// Words for secrets. What is given for one of the first may be short.
var (
	passwordWords = newVocabulary(`password passwd passphrase pwd pw pass passwort kennwort contraseña clave mot~de~passe mdp senha salasana* lösenord wachtwoord hasło şifre* sifre*
		parola* пароль* пароля كلمة~المرور كلمة~السر पासवर्ड 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호`)
	keyWords = newVocabulary(`api~key* apikey* access~key access~key~id accesskey secret secretkey secret~key secret~access~key token* private~key account~key accountkey authorization credential* key session* sessionid phpsessid jsessionid cookie
		geheimnis schlüssel* api~schlüssel* zugangsschlüssel clé jeton secreto clave llave segredo chave avain* avaime* api~avai* tunniste* anahtar* ключ* токен* секрет* المفتاح مفتاح التوكن توكن الرمز رمز कुंजी
		टोकन 密钥 密鑰 令牌 钥匙 キー トークン 鍵 シークレット 키 토큰 시크릿`)
	// given matches what stands behind a name, and long a word that only machines make.
	given  = regexp.MustCompile(`^[:=]{1,2}\s{0,2}(?:(?i:bearer|basic|token)\s+)?["'\x60]?([!#-%*+./0-9:=?@A-Z^_a-z|~-]{6,200})`)
	long   = regexp.MustCompile(`^([A-Za-z0-9_./+~-]{16,}=*)`)
	short  = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9!#$%*+./?@^_~-]{5,14})`)
	bearer = regexp.MustCompile(`^(?i:bearer|basic)\s+([A-Za-z0-9_./+=~-]{12,})`)
	tokens = setOf(letters + digits + "./+~_:=-")
	login  = regexp.MustCompile(`^://[^\s/:@]*:([^\s/@]+)@`)
	// vendor matches a key of a known form, also broken into two lines.
	vendor = regexp.MustCompile(`^((?:` + untrusted.KeyShapes + `)(?:\r?\n[A-Za-z_-]{0,40}[0-9][A-Za-z0-9_.-]{5,})?)`)
	block  = regexp.MustCompile(`^(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:[^-]|-[^-])*(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)?)`)
)

// named reports whether a text ends with one of the words, but for marks.
func (v vocabulary) named(context string) bool {
	end := v.last(context)
	return end > 0 && strings.Trim(context[end:], "\"'` )]") == ""
}

// near reports whether one of the words stands at the end of a text, with at most n bytes and
// no digits behind it.
func (v vocabulary) near(context string, n int) bool {
	end := v.last(context)
	return end > 0 && len(context)-end <= n && !strings.ContainsAny(context[end:], digits)
}

// key finds a key of a known form, what is named as a key or password, the password of an
// address, and a block with a private key.
func key(text string, i, _ int) (from, to int) {
	find := func(re *regexp.Regexp) string {
		at := re.FindStringSubmatchIndex(text[i:])
		if at == nil {
			return ""
		}
		from, to = i+at[2], i+at[3]
		return text[from:to]
	}
	has := strings.ContainsAny
	switch c := text[i]; {
	case c == '-':
		find(block)
	case (c == ':' || c == '=') && i > 0 && text[i-1] == c:
	case c == ':' && find(login) != "":
	case c == ':' || c == '=':
		value := find(given)
		if !has(strings.TrimRight(value, ".:?!-"), digits+"!@#$%^*_+-") {
			return 0, 0
		}
		name := said(text, i, 48)
		if !passwordWords.named(name) && (len(value) < 12 || !has(value, digits) || !has(value, letters) || !keyWords.named(name)) {
			return 0, 0
		}
	case joined(text, i):
	case (c == 'b' || c == 'B') && has(find(bearer), digits):
	case tokens.run(text[i:]) < 15:
		if !has(find(short), digits) || !has(text[from:to], letters) {
			return 0, 0
		}
		name := said(text, i, 48)
		if !passwordWords.near(name, 14) && (to-from < 12 || !keyWords.near(name, 14)) || counted.last(name) > max(passwordWords.last(name), keyWords.last(name)) {
			return 0, 0
		}
	case has(find(vendor), digits):
	case has(find(long), digits) && has(text[from:to], letters):
		name := said(text, i, 64)
		if !keyWords.near(name, 40) && !passwordWords.near(name, 40) {
			return to, to // and none begins within it
		}
	default:
		return to, to
	}
	return from, from + len(strings.TrimRight(text[from:to], ".,:?!"))
}

// Words for the characters of addresses as people spell them.
const (
	atWords    = `at|ät|et`
	sureWords  = `arroba|arobase|arobas|at[ -]sign|klammeraffe|affenschwanz|miukumauku|ät-merkki|ätmerkki|kukac|chiocciola|małpa|kuyruklu\s?a|güzel\s?a|собака|собачка|эт|آت|أت|ات|ऐट|एट|ऍट|골뱅이|앳|アットマーク|アット|あっと|艾特|小老鼠|圈a`
	dotWords   = `dot|punkt|point|punto|ponto|piste|nokta|точка|тчк|نقطة|دوت|डॉट|बिंदु|점|닷|点|點|ドット`
	label      = `[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?`
	opens      = `\s?[([{<]\s?(?:`
	closes     = `)\s?[)\]}>]\s?`
	dotSpelled = `(?:` + opens + dotWords + `|\.` + closes + `|\s(?:` + dotWords + `)\s)`
	dotWithin  = `\s?(?:점|닷|点|點|ドット)\s?`
)

var (
	asciiLetters = setOf(letters)
	spelledDot   = pattern(`(?i)(?:`, dotSpelled, `|`, dotWithin, `)`)
	spelledAt    = pattern(`(?i)(?:\s{0,2}(?:[@★☆]|%40|&#64;|[-_|*]at[-_|*]|`, opens, `@|a|`, sureWords, `|`, atWords, closes, `|(?:골뱅이|アットマーク|アット|艾特|圈a))\s{0,2}|\s(?:`, sureWords, `)\s|\s(`, atWords, `)\s|(\s?#\s?))`)
	at           = pattern(`^`, spelledAt.String())
	// host is one without spaces, loose one with spaces beside a dot, and spelled has words.
	host    = pattern(`^`, label, `(?:\.`, label, `)+`)
	loose   = pattern(`^`, label, `\s?\.\s?`, label, `(?:\s\.\s?`, label, `)*`)
	within  = pattern(`(?i)^[a-z0-9-]+(?:`, dotWithin, `(?:[a-z][a-z0-9-]*|컴|넷))+`)
	spelled = pattern(`^(?i)`, label, `(?:\.`, label, `)*(?:`, dotSpelled, label, `|`, dotWithin, `(?:[a-z][a-z0-9-]*|컴|넷))+`)
	// earlier is a word before a spelled dot in front of the at.
	earlier   = pattern(`(?i)[\p{L}\p{N}_+-]+`, dotSpelled, `$`)
	mailWords = newVocabulary(`mail* email* e~mail* address adresse correo courriel sähköposti* почт* メール 邮箱 邮件 메일 이메일 بريد* البريد* ईमेल eposta* e~posta* send write contact`)
	nameLike  = regexp.MustCompile(`(?:^|\s)[a-z][a-z0-9]*[._0-9-][a-z0-9._-]*$`)
	topName   = regexp.MustCompile(`^(?:컴|넷|\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$`)
)

// mail finds an address of mail by its at, also where that or the dots are spelled.
func mail(text string, i, least int) (from, to int) {
	// Few words begin as these do.
	if word := strings.TrimLeft(clip(text[i:], 5), " \n"); text[i] <= ' ' && len(word) > 1 && asciiLetters[word[0]] && !strings.Contains("at et ar kl af mi ku ch ma gü", strings.ToLower(word[:2])) {
		return 0, 0
	}
	sign := at.FindStringSubmatch(clip(text[i:], 40))
	if sign == nil {
		return 0, 0
	}
	rest := clip(text[i+len(sign[0]):], 253)
	forms := []*regexp.Regexp{within, spelled, host, loose}
	switch {
	case sign[1]+sign[2] != "" && sign[1] != "AT" && mailWords.last(said(text, i, 64)) == 0 && !nameLike.MatchString(before(text, i, 32)):
		forms = forms[:2] // "at" alone is a word
	case strings.TrimSpace(sign[0]) == "@":
		forms = []*regexp.Regexp{host, within, spelled, loose}
	}
	domain := ""
	for _, form := range forms {
		if domain = form.FindString(rest); domain != "" {
			if form != within {
				domain = sameScript(domain)
			}
			break
		}
	}
	top := strings.TrimSpace(spelledDot.ReplaceAllString(domain, "."))
	if !topName.MatchString(strings.TrimSpace(top[strings.LastIndexByte(top, '.')+1:])) || !strings.Contains(top, ".") {
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
		for word := earlier.FindString(before(text, from, 60)); word != "" && from-len(word) >= least; word = earlier.FindString(before(text, from, 60)) {
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

// Between the groups of a number stand at most three of these.
const (
	gap  = `[\s./_-]{0,3}`
	gaps = `[\s./()-]{0,4}`
)

var account = regexp.MustCompile(`^[A-Za-z]{2}` + gap + `[0-9]{2}(?:` + gap + `[A-Za-z0-9]){11,30}`)

// iban finds an account of the length of its country whose check digits are right
// (ISO 13616: the number is 1 modulo 97).
func iban(text string, i, _ int) (from, to int) {
	want := ibanLengths[strings.ToUpper(clip(text[i:], 2))]
	if want == 0 || inside(text, i) || !strings.ContainsAny(clip(text[i+2:], 5), digits) {
		return 0, 0
	}
	end, bare := take(account.FindString(clip(text[i:], 4*want)), want)
	if end == 0 || !alone(text, i, i+end) {
		return 0, 0
	}
	bare = strings.ToUpper(bare)
	rest := 0
	for _, r := range bare[4:] + bare[:4] {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
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

// issuers are the beginnings of the numbers of cards, with their lengths in digits.
var issuers = []struct {
	begin  *regexp.Regexp
	length int
}{
	{regexp.MustCompile(`^(?:4|5[0-8]|6|2[2-7]|35|81|82|9792)`), 16},
	{regexp.MustCompile(`^3[47]`), 15},
	{regexp.MustCompile(`^(?:36|38|39|30[0-5])`), 14},
	{regexp.MustCompile(`^(?:62|4|6304|6759|676|220)`), 19},
	{regexp.MustCompile(`^(?:62|676|220)`), 18},
	{regexp.MustCompile(`^4`), 13},
}

var (
	// cardGroups are the groups in which cards' numbers are written.
	cardGroups = regexp.MustCompile(`^(?:x|4444|465|464|446|4443|44443|4442|4333|6A|6D|88|4C)$`)
	cardDigits = regexp.MustCompile(`^[0-9](?:` + gap + `[0-9]){11,18}`)
	cardWords  = newVocabulary(`card* kart* kredit* kreditkart* bankkart* carte tarjeta cartão cartao kort* luottokort* pankkikort* visa mastercard amex карт* بطاق* البطاق* بطاقتي कार्ड 카드 カード 卡`)
)

// card finds a number of an issuer's length and grouping whose check digit is right
// (ISO/IEC 7812-1, the formula of Luhn).
func card(text string, i, _ int) (from, to int) {
	if inside(text, i) || partOfNumber(text, i) {
		return 0, 0
	}
	match := cardDigits.FindString(clip(text[i:], 60))
	for _, issuer := range issuers {
		end, bare := take(match, issuer.length)
		if end == 0 || !issuer.begin.MatchString(bare) || !alone(text, i, i+end) || !luhn(bare) {
			continue
		}
		words := said(text, i, 64)
		if cardWords.last(words) == 0 && (!cardGroups.MatchString(groupsOf(match[:end])) || counted.last(words) > 0) {
			continue
		}
		return i, i + end
	}
	return 0, 0
}

func luhn(digits string) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// groupsOf gives the lengths of the groups of digits, each as a digit of base 36; one group
// is "x".
func groupsOf(number string) string {
	groups := strings.FieldsFunc(number, func(r rune) bool { return r < '0' || r > '9' })
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
	return i > 0 && strings.IndexByte(".,:/_-#", text[i-1]) >= 0 && longer.MatchString(before(text, i, 24))
}

var longer = regexp.MustCompile(`(?:[0-9][.,:/_-]|[\p{Latin}\p{Cyrillic}_][_-]|#)$`)

var (
	fourth = pattern(`^(?i)[0-9]{1,3}(?:(?:\.\n?|\s\.\s|`, dotSpelled, `)[0-9]{1,3}){3}`)
	sixth  = regexp.MustCompile(`^(?i)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:\.[0-9]{1,3}){0,3}(?:%[a-z0-9]+)?`)
	// sections ends a text behind which numbers with dots are no addresses.
	sections = newVocabulary(`version* versión versão versio* ver v release build firmware driver section article* item abschnitt kapitel chapter kapitola paragraph sürüm* версии версия версию обновлени*
		прошивк* الإصدار إصدار संस्करण वर्ज़न 版本 固件 バージョン 버전 펌웨어 第 §`)
	longerIP = regexp.MustCompile(`[0-9]\.$`)
	goesOn   = regexp.MustCompile(`^\.[0-9]`)
	hex      = setOf(digits + "abcdefABCDEF")
	shortest = regexp.MustCompile(`^[0-9a-f]{3,4}::`)
)

// address finds an IP address that says more than the machine itself.
func address(text string, i, _ int) (from, to int) {
	if rest := text[i+hex.run(clip(text[i:], 5)):]; rest == "" || strings.IndexByte(".:[( ", rest[0]) < 0 || inside(text, i) {
		return 0, 0
	}
	match := fourth.FindString(clip(text[i:], 60))
	written := strings.Join(strings.FieldsFunc(match, func(r rune) bool { return r < '0' || r > '9' }), ".")
	if match == "" {
		match = sixth.FindString(clip(text[i:], 60))
		if !strings.HasSuffix(match, "::") {
			match = strings.TrimSuffix(match, ":")
		}
		written = strings.ToLower(match)
	} else if longerIP.MatchString(before(text, i, 2)) || goesOn.MatchString(text[i+len(match):]) || sections.near(said(text, i, 48), 16) || sections.last(lower(clip(text[i+len(match):], 16))) > 0 {
		return 0, 0
	}
	a, err := netip.ParseAddr(written)
	if err != nil || a.IsUnspecified() || a.IsLoopback() || a.Is6() && strings.Count(written, ":") < 3 && !shortest.MatchString(written) || !alone(text, i, i+len(match)) {
		return 0, 0
	}
	return i, i + len(match)
}

// Words around numbers. counted says that a number of something else follows, and called
// that one of a telephone does; asked is such a word behind one.
var (
	counted = newVocabulary(`order* invoice* ticket* tracking parcel case item article serial customer reference ref booking contract account member* sku isbn* issn ean gtin upc barcode po batch model part policy
		rma bill receipt transaction confirmation bestell* rechnung* auftrag* kunden* sendung* artikel* vertrag* aktenzeichen vorgang* beleg* zähler*
		commande facture colis dossier référence suivi client contrat billet pedido factura referencia seguimiento cliente artículo contrato reserva albarán encomenda fatura rastreio rastreamento protocolo nota~fiscal código
		tilau* lasku* asiakas* viite* seuranta* tuote* sipariş* takip kargo müşteri* sözleşme* ürün заказ* счет* счёт* накладн* трек* артикул* договор* квитанц*
		отправлени* посылк* обращени* الطلب* طلب* للطلب فاتورة الفاتورة شحنة الشحنة التتبع تتبع مرجع المرجع العقد ऑर्डर आर्डर आदेश चालान बिल इनवॉइस ट्रैकिंग रसीद ग्राहक शिपमेंट
		订单 訂單 单号 單號 发票 發票 编号 編號 快递 运单 工单 合同 货号 流水号 包裹 注文 請求 伝票 追跡 問い合わせ番号 お客様番号 品番 受付 会員 管理番号 領収 予約 주문 송장 청구 접수 고객번호 상품 예약 거래번호 영수증 계약 orden expediente folio guía remito réf boleto chamado processo recibo lähety* paket* toimitu* irsaliye* rezervasyon* seri talep* dosya* talebim code* kod* код* código* заявк* чек* серийн*
		заказ-наряд документ* التتبع الحجز حجز إيصال بوليصة البوليصة कोड बुकिंग पीएनआर संदर्भ 物流 取件码 序列号 商品编码 会员号 参考号 凭证 案件 整理番号 受注 配送 商品コード 型番 シリアル コード 问合 문의번호 예약번호 일련번호 코드 참조 관리번호 stromrechnung* gasrechnung* telefonrechnung* buchungs* lieferschein* rückgabe*`)
	numbered = regexp.MustCompile(`(?:(?:^|[^\p{L}])(?:number|no|nr|num|id|nro|núm|n°)|#)[.:# ]*$`)
	called   = newVocabulary(`phone* telephone* telefon* telefonnummer* teléfono téléphone tel tél tlf tfno mobile mobil* móvil handy* cell* call* ring text sms whatsapp* fax telegram signal hotline
		contact reach dial rückruf* anruf* anzurufen ruf* erreich* appel* rappel* joindre portable gsm fixe llam* contact* llám* celular cel whats* zap festnetz* ligar ligue liga ligação telefone telemóvel contato
		soit* puhelin* puhelim* puh numero*ni tavoit* cep* ara ararsan* arayın* arayab* ulaş* telefonum* benim~numaram* my~number meine~nummer mon~numéro mi~número meu~número
		тел телефон* моб* звон* позвон* перезвон* связ* мой~номер номер~мой ватсап* هاتف* الهاتف جوال* الجوال موبايل* تلفون* تليفون* اتصل* الاتصال رقمي واتساب*
		फोन फ़ोन टेलीफोन मोबाइल कॉल मेरा~नंबर मेरा~नम्बर व्हाट्सएप संपर्क 電話 携帯 でんわ ケータイ フリーダイヤル 连絡 連絡 电话 手机 手機 座机 致电 拨打 打给 联系 聯繫 我的号码 我~的~号码 微信 전화 연락 휴대 핸드폰 폰 제~번호 내~번호 문자`)
	asked = newVocabulary(`puhelin* celular telefone numéro número numaram* мобильн* телефон* هاتف* تلفون* جوال* phone mobile cell handy telefon* anruf* anrufen rufen erreichbar soit* ara* позвон* звон* 電話 携帯 连絡 連絡 电话 手机 联系 전화 연락 문자 कॉल फोन`)
	// amount is a sum or measure, by what stands behind it, and paid one by what is before.
	amount = pattern(`^(?:[.,][0-9]{1,2})?\s?(?i:%|‰|°|[€$£¥₹₽₺₩₴]|(?:eur|usd|gbp|chf|jpy|cny|inr|rub|try|brl|krw|sar|aed|egp|euros?|dollars?|pounds?|yen|tl|lira|р|руб|рублей|реалов|reais|ريال|درهم|جنيه|रुपये|रु|kg|g|km|m|cm|mm|ms|s|px|mb|gb|kb|bytes)(?:[^\p{L}\p{N}]|$)|元|円|원|块|日元)`)
	paid   = pattern(`(?i:[€$£¥₹₽₺₩₴]|(?:^|[^\p{L}])(?:eur|usd|gbp|chf|jpy|cny|inr|rs|rub|tl|r\$))\.?\s?$`)
	date   = regexp.MustCompile(`^\(?(?:(?:19|20)[0-9]{2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}|[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ](?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}\s?-\s?(?:19|20)[0-9]{2}|[0-3]?[0-9][-./][01]?[0-9][-./][0-9]{2}\s` +
		`|[0-2]?[0-9]\.[0-5][0-9]\s?-\s?[0-2]?[0-9]\.[0-5][0-9])\b`)
)

var (
	dialed   = regexp.MustCompile(`^(?:\(?\+[\s(]{0,2}|\()?[0-9](?:` + gaps + `[0-9]){5,19}`)
	tight    = regexp.MustCompile(`\s*([ ./-])\s*`)
	goesOnBy = regexp.MustCompile(`^[-./][0-9]`)
	thirds   = regexp.MustCompile(`^[0-9]{1,3}(?:[ .][0-9]{3})+$`)
	inNumber = regexp.MustCompile(`[0-9]\s$`)
	// national are the forms of numbers that begin with no 0.
	national = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`(?:1[ .-]{0,2})?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[ ./-])[0-9]{3}[ .-]?[0-9]{4}`, // North America, Italy
		`[78][ -]?\(?[3489][0-9]{2}\)?[ -]?[0-9]{3}[ -][0-9]{2}[ -]?[0-9]{2}`,                   // Russia
		`[78][ -]\(?[3489][0-9]{2}\)?[ -]?[0-9]{7}`,
		`8[ -]?\([3489][0-9]{2,4}\)[ -]?[0-9]{2,7}(?:[ -][0-9]{2}){0,2}`,
		`1[3-9][0-9][ -][0-9]{4}[ -]?[0-9]{4}`,             // China
		`[6-9][0-9]{4}[ -][0-9]{5}`,                        // India
		`\(?[1-9][0-9]\)?[ -]?9[ .]?[0-9]{4}[ .-][0-9]{4}`, // Brazil
		`\([1-9][0-9]\)[ -]?[0-9]{4}-?[0-9]{4}`,
		`[67][0-9]{2} [0-9]{2} [0-9]{2} [0-9]{2}|9[0-9] [0-9]{3} [0-9]{2} [0-9]{2}`, // Spain
		`\(?[2-5][0-9]{2}\)? [0-9]{3} [0-9]{2} [0-9]{2}`,                            // Turkey
		`[1-9][0-9] [2-5][0-9]{3}-[0-9]{4}`,
		`\([1-9][0-9]{1,3}\)[ -]?[0-9]{3,4}(?:[ -][0-9]{2,4}){1,2}`,
		`[48]00[ -][0-9]{3,4}[ -][0-9]{3,4}`,
	}, "|") + `)$`)
	chinese = regexp.MustCompile(`^1[3-9][0-9]{9}$`)
	russian = regexp.MustCompile(`^8[3489][0-9]{9}$`)
)

// phone finds a number with a country code, one of 9 to 12 digits that begins with 0, one in
// the groups of a country, and one that is called a telephone's. A number that is called
// something else, such as an order's, is none.
func phone(text string, i, _ int) (from, to int) {
	if inside(text, i) {
		return 0, 0
	}
	match := dialed.FindString(clip(text[i:], 80))
	if len(match) < 7 || partOfNumber(text, i) && called.last(said(text, i, 12)) == 0 || paid.MatchString(before(text, i, 8)) || date.MatchString(match) {
		return 0, 0
	}
	beside := around{before: said(text, i, 64)}
	for end := len(match); end > 6; end = ends(match, end) {
		if strings.Count(match[:end], " ") > 9 || !alone(text, i, i+end) || goesOnBy.MatchString(text[i+end:min(i+end+2, len(text))]) || amount.MatchString(clip(text[i+end:], 24)) {
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
	bare := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	groups, n := groupsOf(number), len(bare)
	if n < 7 || n > 17 || len(groups) > 8 || strings.Contains(number, "\n") && n > 12 && number[0] != '+' {
		return false
	}
	if strings.ContainsRune(clip(number, 2), '+') {
		return n >= 8 && n <= 15 && bare[0] != '0'
	}
	is, not := called.last(s.before), counted.last(s.before)
	sentence := clip(s.behind, 32)
	if at := strings.IndexAny(sentence, ".!?\n"); at >= 0 {
		sentence = sentence[:at]
	}
	switch {
	case not > 0 && not >= is, is == 0 && numbered.MatchString(s.before):
		return false
	case is > not && called.near(s.before, 36) || is == not && asked.last(sentence) > 0:
		return n <= 15 && !strings.HasPrefix(bare, "000")
	case strings.HasPrefix(s.behind, "+"): // as in Arabic
		return n >= 10 && n <= 14
	case strings.HasPrefix(strings.TrimPrefix(number, "("), "00"):
		return n > 9 && (groups != "x" || n > 11) && bare[2] != '0'
	case thirds.MatchString(number) && inNumber.MatchString(s.before):
		return false // of a sum
	case bare[0] == '0':
		return n >= 9 && n <= 12 && (groups != "x" || n > 9) && (groups[0] != '1' || n == 11 && groups[1] == '3')
	}
	number = tight.ReplaceAllString(number, "$1")
	return national.MatchString(number) || groups == "x" && (chinese.MatchString(bare) && s.in(unicode.Han) || russian.MatchString(bare) && s.in(unicode.Cyrillic))
}
