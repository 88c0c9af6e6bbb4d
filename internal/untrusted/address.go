package untrusted

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden replaces a secret.
const Hidden = "REDACTED"

// KeyShapes is an expression for the keys of providers in the forms that are known.
const KeyShapes = `(?:sk-|[srp]k_(?:live|test)_|sk_|whsec_|gsk_|hf_|xai-|pplx-|r8_|nvapi-|tgp_v1_|AIza|ya29\.|GOCSPX-|gh[opusr]_|github_pat_|gl(?:pat|dt|rt|ptt|cbt|ft|soat)-|xox[abeoprs]-|xapp-|eyJ|npm_|pypi-|dop_v1_|shp(?:at|ss|ca|pa)_|dapi|lin_api_|ntn_|secret_|figd_|PMAK-|dckr_pat_|hvs\.|ATATT|glsa_|SG\.|sq0[a-z]{3}-|rubygems_|sntrys_|pscale_|AQVN|y0_|LTAI|AKID|AGE-SECRET-KEY-1|key-[0-9a-f]{20}|lsv2_(?:pt|sk)_|pcsk_|tvly-|jina_|e2b_|CFPAT-|NRAK-|dp\.(?:pt|st|ct|sa)\.|EZ[AT]K|shippo_(?:live|test)_|ph[cx]_|sbp_|sb_(?:secret|publishable)_|xkeysib-|hvb\.|fm[12]_|dckr_oat_|tskey-|ATCTT|APP_USR-|ops_|rnd_|dt0[a-z][0-9]{2}\.|sk_org_|lin_oauth_|doo_v1_|dor_v1_|cfut_|cfat_|zpka_|bkua_|pul-|rpa_|csk-|fw_|vck_)[A-Za-z0-9_.=-]{12,}|(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{12,}|[MNO][A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}|(?:AC|SK)[0-9a-f]{32}|[0-9]{8,10}:[A-Za-z0-9_-]{35}|EAA[A-Za-z0-9]{40,}|1//0[A-Za-z0-9_-]{30,}|(?:sdk|mob|pat-[a-z]{2}[0-9])-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}-us[0-9]{1,2}\b|https://hooks\.slack\.com/services/[A-Za-z0-9_/+-]{20,}`

var (
	// addresses matches the addresses within a text.
	addresses = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)
	// databases matches the beginnings of database addresses within a text, also with a slash
	// or the colon missing. database matches one of them with what follows. A password in it
	// may contain spaces and quotation marks.
	databases = regexp.MustCompile(`(?i)(?:postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|oracle|cockroachdb|mongodb|rediss?)(?:\+[a-z0-9]+)?(?:://|:/|//|:[^\s:/@]+:[^\s@]+@)`)
	database  = regexp.MustCompile(`^[^:/]*(?:://|:/|//|:)(?:.*@)?(?:[^\s"'<>]*[?&](?:ssl)?password=.*|[^\s"'<>]*)`)
	// passwords matches passwords in settings that name a database: password=WORD, also
	// in quotation marks. Those of a query are parameters.
	passwords = regexp.MustCompile(`(?i)(^|[\s"'\x60(;])((?:ssl)?(?:password|passwd|pwd)\s*=\s*)(?:'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s;]\S*)`)
	// dialed matches the address of Go's driver for MySQL, and encoded one within a query.
	dialed  = regexp.MustCompile(`([^\s:@"']+):[^\s@]+@((?:tcp|udp|unix)\()`)
	encoded = regexp.MustCompile(`(?i)(%3a%2f%2f)[^\s&/?#]*%40`)
	// users matches the text before the host of an address, even if malformed. parameters
	// matches the parameters of a query with names like secrets.
	users      = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*(?:://|:/|//|:))[^/?#]*@`)
	usersOfBad = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*(?:://|:/|//|:)).*@`)
	parameters = regexp.MustCompile(`(?i)([?&][^=&#]*(?:key|token|secret|sig|pass|pwd|auth|cred)[^=&#]*=)[^&#]+`)
)

// Address is an address without possible secrets: the user with the password, since the
// user's name may itself be a secret, and parameters with names like keys. The address
// may be invalid.
func Address(address string) string {
	user := users
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		user = usersOfBad
	}
	clean := user.ReplaceAllString(address, "${1}"+Hidden+"@")
	return parameters.ReplaceAllString(clean, "${1}"+Hidden)
}

// Addresses is a text with every address replaced by Address, and without passwords of
// settings.
func Addresses(text string) string { return hide(text, Address) }

// Shown is a text, such as a word of a command line, with every address in it fit to be
// shown. Of an address of Postgres the password alone is left out: PGPASSWORD and ~/.pgpass
// make it whole again. Of another the user is left out too.
func Shown(text string) string {
	return hide(text, func(address string) string {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "postgres") || strings.ContainsAny(address, " \t\"'") {
			return Address(address)
		}
		if _, ok := u.User.Password(); ok {
			u.User = url.User(u.User.Username())
		}
		settings := u.Query()
		for _, secret := range []string{"password", "sslpassword"} {
			if settings.Has(secret) {
				settings.Del(secret)
				u.RawQuery = settings.Encode()
			}
		}
		return u.String()
	})
}

// hide is a text with the addresses of databases replaced by show, and without the secrets
// of others and of settings.
func hide(text string, show func(address string) string) string {
	shown := ""
	for at := databases.FindStringIndex(text); at != nil; at = databases.FindStringIndex(text) {
		piece := text[at[0]:]
		if next := databases.FindStringIndex(text[at[1]:]); next != nil {
			piece = text[at[0] : at[1]+next[0]]
		}
		address := database.FindString(piece)
		shown += others(text[:at[0]]) + show(address)
		text = text[at[0]+len(address):]
	}
	return passwords.ReplaceAllString(shown+others(text), "${1}${2}"+Hidden)
}

// others is a text without the secrets of addresses that are no database's by their name.
func others(text string) string {
	text = dialed.ReplaceAllString(addresses.ReplaceAllStringFunc(text, Address), "${1}:"+Hidden+"@${2}")
	return encoded.ReplaceAllString(text, "${1}"+Hidden+"%40")
}

// Replace is a text with by in place of word, unless word is part of a longer word of
// letters and digits.
func Replace(text, word, by string) string {
	inWord := func(r rune, _ int) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	from := 0
	for i := strings.Index(text, word); i >= 0 && word != ""; i = strings.Index(text[from:], word) {
		at, put := from+i, by
		if inWord(utf8.DecodeLastRuneInString(text[:at])) || inWord(utf8.DecodeRuneInString(text[at+len(word):])) {
			put = word
		}
		b.WriteString(text[from:at] + put)
		from = at + len(word)
	}
	return b.String() + text[from:]
}
