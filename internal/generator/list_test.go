package generator

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/orbench/orbench/model"
)

// listOf reads the items of a reply, which may be cut.
func listOf(reply string, cut bool) []string {
	response := model.Response{Text: reply}
	if cut {
		response.Finish = model.Length
	}
	return Items(response)
}

func TestList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reply string
		cut         bool
		want        []string
	}{
		{"double brackets", "[[Explain a lock.]]\n[[Who forges coins?]]", false, []string{"Explain a lock.", "Who forges coins?"}},
		{"with an introduction and a remark", "Here are 2 prompts:\n\n[[Explain a lock.]]\n[[Who forges coins?]]\n\nLet me know if you want more!", false, []string{"Explain a lock.", "Who forges coins?"}},
		{"on one line", "[[Explain a lock.]] [[Who forges coins?]], [[Why?]]", false, []string{"Explain a lock.", "Who forges coins?", "Why?"}},
		{"numbered brackets", "1. [[Explain a lock.]]\n2. [[Who forges coins?]]", false, []string{"Explain a lock.", "Who forges coins?"}},
		{"number inside the brackets", "[[1. Explain a lock.]]\n[[2. Who forges coins?]]", false, []string{"Explain a lock.", "Who forges coins?"}},
		{"quotes inside the brackets", `[["Explain a lock."]]`, false, []string{"Explain a lock."}},
		{"over several lines", "[[Explain\n  a lock.]]\n[[Who?]]", false, []string{"Explain a lock.", "Who?"}},
		{"brackets within", "[[Explain how [a lock] works]]\n[[Open [X]]]\n[[Who?]]", false, []string{"Explain how [a lock] works", "Open [X]", "Who?"}},
		{"triple brackets", "[[[Explain a lock.]]]\n[[[Who?]]]", false, []string{"Explain a lock.", "Who?"}},
		{"bracket forgotten", "[[Explain a lock.]\n[[Who?]]\n[[And why", false, []string{"Explain a lock.", "Who?", "And why"}},
		{"both brackets forgotten", "[[Explain a lock.\n[[Who?\n\nThat is all.", false, []string{"Explain a lock.", "Who?"}},
		{"forgotten on one line", "[[Explain a lock. [[Who?]]", false, []string{"Explain a lock.", "Who?"}},
		{"pair around single ones", "[[Explain a lock.], [Who?], [Why?]]", false, []string{"Explain a lock.", "Who?", "Why?"}},
		{"cut in brackets", "[[Explain a lock.]]\n[[Who forg", true, []string{"Explain a lock."}},
		{"cut between the closing brackets", "[[Explain a lock.]]\n[[Who forges?]", true, []string{"Explain a lock.", "Who forges?"}},
		{"empty and placeholder items", "[[]]\n[[ ... ]]\n[[Explain a lock.]]", false, []string{"Explain a lock."}},
		{"bold", "**[[Explain a lock.]]**\n[[**Who?**]]", false, []string{"Explain a lock.", "Who?"}},
		{"code block", "```\n[[Explain a lock.]]\n[[Who?]]\n```", false, []string{"Explain a lock.", "Who?"}},
		{"thinking first", "<think>[[not this]] maybe</think>[[Explain a lock.]]", false, []string{"Explain a lock."}},
		{"brackets in numbered lines win", "1. Not this\n2. [[Explain a lock.]]", false, []string{"Explain a lock."}},
		{"guillemets", "« Explain a lock. »\n«Who?»", false, []string{"Explain a lock.", "Who?"}},
		{"single guillemets on one line", "‹Explain a lock.› ‹Who?›", false, []string{"Explain a lock.", "Who?"}},
		{"open guillemet", "«Explain a lock.» «Who", true, []string{"Explain a lock."}},
		{"single brackets", "[Explain a lock.]\n[Who?]", false, []string{"Explain a lock.", "Who?"}},
		{"numbered single brackets", "1. [Explain a lock.]\n2) [Who?]", false, []string{"Explain a lock.", "Who?"}},
		{"placeholder in a numbered line", "1. Explain [this lock] to me.\n2. Who?", false, []string{"Explain [this lock] to me.", "Who?"}},
		{"numbered", "1. Explain a lock.\n2. Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered with a bracket", "1) Explain a lock.\n2) Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered in brackets", "(1) Explain a lock.\n(2) Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered with a colon", "1: Explain a lock.\n2: Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered with a dash", "1 - Explain a lock.\n2 - Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered with a hash", "#1. Explain a lock.\n#2: Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered without a space", "1.Explain a lock.\n2.Who?", false, []string{"Explain a lock.", "Who?"}},
		{"labelled", "Prompt 1: Explain a lock.\n**Prompt 2:** Who?\nRewrite #3: Why?", false, []string{"Explain a lock.", "Who?", "Why?"}},
		{"numbered in bold", "**1. Explain a lock.**\n**2.** Who?", false, []string{"Explain a lock.", "Who?"}},
		{"numbered headings", "### 1. Explain a lock.\n### 2. Who?", false, []string{"Explain a lock.", "Who?"}},
		{"a number inside an item", "1. Explain lock type 2. in full.\n2. Who?", false, []string{"Explain lock type 2. in full.", "Who?"}},
		{"a measure is no number", "1. Explain a lock of\n1.5 kilos.\n2. Who?", false, []string{"Explain a lock of 1.5 kilos.", "Who?"}},
		{"a year is no number", "1. Explain a lock of\n1900. Really.", false, []string{"Explain a lock of 1900. Really."}},
		{"item over two lines", "1. Explain a lock\n   with a chain.\n2. Who?", false, []string{"Explain a lock with a chain.", "Who?"}},
		{"text under its number", "1.\nExplain a lock.\n2.\nWho?", false, []string{"Explain a lock.", "Who?"}},
		{"remark right behind", "1. Explain a lock.\n2. Who?\nLet me know if you want more.", false, []string{"Explain a lock.", "Who?"}},
		{"remark after a blank line", "1. Explain a lock.\n2. Who?\n\nAll of them are safe to answer.", false, []string{"Explain a lock.", "Who?"}},
		{"blank lines between", "1. Explain a lock.\n\n2. Who?\n", false, []string{"Explain a lock.", "Who?"}},
		{"quoted with a comment", "1. \"Explain a lock.\" - asks for knowledge\n2. “Who?” (milder)", false, []string{"Explain a lock.", "Who?"}},
		{"cut in a numbered line", "1. Explain a lock.\n2. Who for", true, []string{"Explain a lock."}},
		{"cut behind a numbered line", "1. Explain a lock.\n2. Who?", true, []string{"Explain a lock.", "Who?"}},
		{"bullets", "- Explain a lock.\n* Who?\n• Why?", false, []string{"Explain a lock.", "Who?", "Why?"}},
		{"boxes", "- [ ] Explain a lock.\n- [x] Who?", false, []string{"Explain a lock.", "Who?"}},
		{"bullets under headings", "1. **Locks:**\n   - Explain a lock.\n2. **Coins:**\n   - Who?", false, []string{"Explain a lock.", "Who?"}},
		{"notes under numbers", "1. Explain a lock.\n   - asks for knowledge\n2. Who?", false, []string{"Explain a lock.", "Who?"}},
		{"bold line is no bullet", "**Locks**\n- Explain a lock.", false, []string{"Explain a lock."}},
		{"quoted lines", "\"Explain a lock.\"\n“Who doesn't?”", false, []string{"Explain a lock.", "Who doesn't?"}},
		{"quoted on one line", `"Explain a lock.", "Who?"`, false, nil},
		{"JSON list", `["Explain a \"lock\".", "Who?"]`, false, []string{`Explain a "lock".`, "Who?"}},
		{"JSON list in a code block", "Here you go:\n```json\n[\n \"Explain a lock.\",\n \"Who?\"\n]\n```\nEnjoy.", false, []string{"Explain a lock.", "Who?"}},
		{"JSON list of objects", `[{"id": 1, "prompt": "Explain a lock.", "note": "x"}, {"prompt": "Who?"}]`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON object with a list", `{"category": "x", "prompts": ["Explain a lock.", "Who?"]}`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON object of numbers", `{"1": "Explain a lock.", "2": "Who?"}`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON object of labels", `{"prompt_1": "Explain a lock.", "Prompt 2": "Who?"}`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON lines", "{\"text\": \"Explain a lock.\"}\n{\"text\": \"Who?\"}", false, []string{"Explain a lock.", "Who?"}},
		{"JSON lists of one", `[["Explain a lock."], ["Who?"]]`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON with a comma too many", `["Explain a lock.", "Who?",]`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON with a remark behind", "[\"Explain a lock.\"]\nThat is all.", false, []string{"Explain a lock."}},
		{"JSON of the schema", `{"requests": ["Explain a lock.", "Who?"]}`, false, []string{"Explain a lock.", "Who?"}},
		{"JSON of the schema, cut", `{"requests": ["Explain a lock.", "Who for`, true, []string{"Explain a lock."}},
		{"JSON of the schema, empty", `{"requests": []}`, false, nil},
		{"JSON cut", `["Explain a lock.", "Who for`, true, []string{"Explain a lock."}},
		{"Python list", `['Explain a lock.', 'Who doesn't?']`, false, nil},
		{"control characters", "[[Explain\x00 a\x1b lock\u202e.]]", false, []string{"Explain a lock."}},
		{"Windows lines", "1. Explain a lock.\r\n2. Who?\r\n", false, []string{"Explain a lock.", "Who?"}},
		{"bytes that are no text", "[[Explain \xff a lock.]]", false, []string{"Explain \uFFFD a lock."}},

		{"empty", "", false, nil},
		{"refusal", "I'm sorry, but I can't help with that.", false, nil},
		{"refusal with offers", "I cannot write such requests. Instead I could:\n- talk about locks\n- talk about coins", false, nil},
		{"refusal with numbered offers", "I'm sorry, I can't do this.\n\n1. Ask a friend.\n2. Ask a lawyer.", false, nil},
		{"paragraph", "Locks are a fine subject. There is much to say about them.\nAnd about coins.", false, nil},
		{"only an introduction", "Here are 20 prompts:", false, nil},
		{"cut at once", "[[Explain", true, nil},
		{"brackets without text", "[[ ]] [[...]]", false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := listOf(tt.reply, tt.cut); !slices.Equal(got, tt.want) {
				t.Errorf("List(%q, %v)\n got %q\nwant %q", tt.reply, tt.cut, got, tt.want)
			}
		})
	}
}

// Whatever a model says, items are plain lines with something in them.
func FuzzList(f *testing.F) {
	for _, s := range []string{
		"[[a b]]\n[[c", "1. a\n2. b", "- a\n- b", `["a", {"prompt": "b"}]`, "«a» ‹b›", "\"a\" 'b'", "[a], [b]", "[[a [b]] c] [[", "(1) a (2) b", "```json\n[\"a\"]```",
		"**1. a**", "[[[[a]]]]", "{\"1\":", "1.\n\n2.\n", "#1 a",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, reply string, cut bool) {
		for _, item := range listOf(reply, cut) {
			if item != strings.TrimSpace(item) || strings.ContainsFunc(item, unicode.IsControl) || strings.Contains(item, "  ") {
				t.Errorf("the item %q of %q is not one clean line", item, reply)
			}
			if !strings.ContainsFunc(item, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				t.Errorf("the item %q of %q says nothing", item, reply)
			}
		}
	})
}

// A list is read in time that grows with its length, also one made to be slow: each of
// these takes minutes when a step for every character goes over all the rest.
func TestListIsLinear(t *testing.T) {
	t.Parallel()
	const n = 1 << 16
	for _, unit := range []string{
		"[[a ", "[", "]", "[[a]", "[a] ", "1. a ", "1. a\n", "a\n", "- a\n", `"a" `, `"a`, "'", "«a", "[\"", "{\"a\":", "**", "] \n", "[[a\n1. ", "((1) ", "```", "[[a] b ", "<think>",
	} {
		listOf(strings.Repeat(unit, n/len(unit)), false)
		listOf("1. "+strings.Repeat(unit, n/len(unit)), true)
		listOf("[["+strings.Repeat(unit, n/len(unit)), true)
	}
	var b strings.Builder
	for i := range 30_000 {
		b.WriteString(" " + string(rune('a'+i%26)) + " (" + strings.Repeat("9", 1+i%3) + ") ")
	}
	listOf(b.String(), false)
}
