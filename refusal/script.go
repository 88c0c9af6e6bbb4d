package refusal

import "unicode/utf8"

// A script is a writing system. Those without a name here belong to one language each.
type script uint8

const (
	scriptLatin script = iota
	scriptCyrillic
	scriptArabic
	scriptDevanagari
	scriptHan
	scriptKana

	scriptOther = script(len(scriptTable))
	scripts     = scriptOther + 1
)

// scriptTable has the first and last characters of each script, and the code of the
// language that the script alone identifies.
var scriptTable = [...]struct {
	code   string
	ranges [][2]rune
}{
	scriptLatin:      {"", [][2]rune{{0x0, 0x24F}, {0x1E00, 0x1EFF}}},
	scriptCyrillic:   {"", [][2]rune{{0x400, 0x52F}}},
	scriptArabic:     {"", [][2]rune{{0x600, 0x77F}, {0xFB50, 0xFEFF}}},
	scriptDevanagari: {"", [][2]rune{{0x900, 0x97F}}},
	scriptHan:        {"zh", [][2]rune{{0x3400, 0x9FFF}}},
	scriptKana:       {"ja", [][2]rune{{0x3041, 0x30FF}}},
	{"ko", [][2]rune{{0xAC00, 0xD7A3}}},
	{"el", [][2]rune{{0x370, 0x3FF}}},
	{"he", [][2]rune{{0x590, 0x5FF}}},
	{"th", [][2]rune{{0xE00, 0xE7F}}},
	{"bn", [][2]rune{{0x980, 0x9FF}}},
	{"ta", [][2]rune{{0xB80, 0xBFF}}},
	{"te", [][2]rune{{0xC00, 0xC7F}}},
	{"gu", [][2]rune{{0xA80, 0xAFF}}},
	{"kn", [][2]rune{{0xC80, 0xCFF}}},
	{"ml", [][2]rune{{0xD00, 0xD7F}}},
	{"pa", [][2]rune{{0xA00, 0xA7F}}},
	{"si", [][2]rune{{0xD80, 0xDFF}}},
	{"my", [][2]rune{{0x1000, 0x109F}}},
	{"km", [][2]rune{{0x1780, 0x17FF}}},
	{"lo", [][2]rune{{0xE80, 0xEFF}}},
	{"ka", [][2]rune{{0x10A0, 0x10FF}}},
	{"hy", [][2]rune{{0x530, 0x58F}}},
	{"am", [][2]rune{{0x1200, 0x137F}}},
}

// scriptOf gives the script of a word by its first letter.
func scriptOf(text string) script {
	r, _ := utf8.DecodeRuneInString(text)
	for s := range scriptTable {
		for _, ends := range scriptTable[s].ranges {
			if ends[0] <= r && r <= ends[1] {
				return script(s)
			}
		}
	}
	return scriptOther
}
