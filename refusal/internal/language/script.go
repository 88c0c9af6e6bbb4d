package language

import "unicode/utf8"

// A script is one in which words are written. Those after scriptArabic are each of
// one language here.
type script uint8

const (
	scriptLatin script = iota
	scriptCyrillic
	scriptArabic
	scriptDevanagari
	scriptHan
	scriptKana
	scriptHangul
	scriptGreek
	scriptHebrew
	scriptThai
	scriptBengali
	scriptTamil
	scriptTelugu
	scriptGujarati
	scriptKannada
	scriptMalayalam
	scriptGurmukhi
	scriptSinhala
	scriptMyanmar
	scriptKhmer
	scriptLao
	scriptGeorgian
	scriptArmenian
	scriptEthiopic
	scriptOther
	scripts
)

// scriptCodes are the languages that are told by their script alone.
var scriptCodes = [scripts]string{
	scriptHan: "zh", scriptKana: "ja", scriptHangul: "ko", scriptGreek: "el", scriptHebrew: "he", scriptThai: "th",
	scriptBengali: "bn", scriptTamil: "ta", scriptTelugu: "te", scriptGujarati: "gu", scriptKannada: "kn",
	scriptMalayalam: "ml", scriptGurmukhi: "pa", scriptSinhala: "si", scriptMyanmar: "my", scriptKhmer: "km",
	scriptLao: "lo", scriptGeorgian: "ka", scriptArmenian: "hy", scriptEthiopic: "am",
}

// scriptRanges are the first and last characters of scripts, in order.
var scriptRanges = [...]struct {
	first, last rune
	script      script
}{
	{0x0, 0x24F, scriptLatin},
	{0x370, 0x3FF, scriptGreek},
	{0x400, 0x52F, scriptCyrillic},
	{0x530, 0x58F, scriptArmenian},
	{0x590, 0x5FF, scriptHebrew},
	{0x600, 0x77F, scriptArabic},
	{0x900, 0x97F, scriptDevanagari},
	{0x980, 0x9FF, scriptBengali},
	{0xA00, 0xA7F, scriptGurmukhi},
	{0xA80, 0xAFF, scriptGujarati},
	{0xB80, 0xBFF, scriptTamil},
	{0xC00, 0xC7F, scriptTelugu},
	{0xC80, 0xCFF, scriptKannada},
	{0xD00, 0xD7F, scriptMalayalam},
	{0xD80, 0xDFF, scriptSinhala},
	{0xE00, 0xE7F, scriptThai},
	{0xE80, 0xEFF, scriptLao},
	{0x1000, 0x109F, scriptMyanmar},
	{0x10A0, 0x10FF, scriptGeorgian},
	{0x1200, 0x137F, scriptEthiopic},
	{0x1780, 0x17FF, scriptKhmer},
	{0x1E00, 0x1EFF, scriptLatin},
	{0x3041, 0x30FF, scriptKana},
	{0x3400, 0x9FFF, scriptHan},
	{0xAC00, 0xD7A3, scriptHangul},
	{0xFB50, 0xFEFF, scriptArabic},
}

// scriptOf gives the script of a word by its first letter.
func scriptOf(text string) script {
	r, _ := utf8.DecodeRuneInString(text)
	for _, s := range scriptRanges {
		if r <= s.last {
			if r >= s.first {
				return s.script
			}
			break
		}
	}
	return scriptOther
}
