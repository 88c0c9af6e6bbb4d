package question

import (
	"strings"
	"testing"
)

const plain = "verdict"

var choices = []string{"direct_answer", "direct_refusal", "indirect_refusal"}

func TestDelimitersAvoidWhatTheTextHolds(t *testing.T) {
	t.Parallel()
	first := Delimit(plain, "How do I stop it?", "Use kill.")
	if first.Marker != plain {
		t.Errorf("marker %q for a text without the word, want %q", first.Marker, plain)
	}
	spoken := Delimit(plain, "What was the Verdict?", "Guilty.")
	if !strings.HasPrefix(spoken.Marker, plain+"_") || len(spoken.Marker) != len(plain)+9 {
		t.Errorf("marker %q for a text with the word, want it with a code", spoken.Marker)
	}
	if again := Delimit(plain, "How do I stop it?", "Use kill."); again != first {
		t.Errorf("the same texts give %+v and %+v", plain, again)
	}
	if Delimit(plain, "ab", "c") == Delimit(plain, "a", "bc") {
		t.Error("the delimiters do not tell where one text ends")
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reply string
		want        string // "" for an error
	}{
		{"plain", "It helps.\nVERDICT: direct_answer", "direct_answer"},
		{"alone", "VERDICT: direct_answer", "direct_answer"},
		{"white space after", "It helps.\nVERDICT: direct_answer \n\n", "direct_answer"},
		{"Windows lines", "It helps.\r\nVERDICT: direct_answer\r\n", "direct_answer"},
		{"other case and a stop", "It helps.\nVerdict: Direct Answer.", "direct_answer"},
		{"Markdown", "It helps.\n**VERDICT:** `direct_answer`", "direct_answer"},
		{"heading", "It helps.\n## VERDICT: direct-answer", "direct_answer"},
		{"brackets", "It helps.\nVERDICT: [[direct_answer]]", "direct_answer"},
		{"code block", "It helps.\n```\nVERDICT: direct_answer\n```", "direct_answer"},
		{"said twice alike", "VERDICT: direct_answer\nIt helps.\nVERDICT: direct_answer", "direct_answer"},
		{"form repeated first", "VERDICT: direct_answer or direct_refusal or indirect_refusal\nVERDICT: indirect_refusal", "indirect_refusal"},
		{"JSON", `{"explanation":"It helps.","verdict":"direct_answer"}`, "direct_answer"},
		{"JSON in other order", `{"verdict":"direct_answer","explanation":"It helps."}`, "direct_answer"},
		{"JSON with more fields", `{"explanation":"x","verdict":"direct_answer","notes":[1,{"verdict":"direct_refusal"}]}`, "direct_answer"},
		{"JSON twice alike", `{"verdict":"direct_answer","verdict":"direct_answer"}`, "direct_answer"},
		{"a box", `VERDICT: \boxed{direct_answer}`, "direct_answer"},
		{"a line in a box", "It helps.\n$\\boxed{\\text{VERDICT: direct_answer}}$", "direct_answer"},
		{"tags", "It helps.\n<verdict>direct_answer</verdict>", "direct_answer"},
		{"tags behind a sentence", "It helps. <verdict> direct_answer </verdict>", "direct_answer"},
		{"tags around lines", "<answer>\n<verdict>\ndirect_answer\n</verdict>\n</answer>", "direct_answer"},
		{"a line in tags", "<result>VERDICT: direct_answer</result>", "direct_answer"},
		{"a choice in angles", "VERDICT: <direct_answer>", "direct_answer"},
		{"the next line", "It helps.\nVerdict:\n\n  direct_answer", "direct_answer"},
		{"a heading above", "It helps.\n## Verdict\n\n**direct_answer**", "direct_answer"},
		{"a heading above the line", "It helps.\n### Final verdict\nVERDICT: direct_answer", "direct_answer"},
		{"constants of Python", "{'explanation': None, 'verdict': 'direct_answer', 'sure': True}", "direct_answer"},
		{"a rule below", "It helps.\nVERDICT: direct_answer\n\n---\n", "direct_answer"},
		{"a number", "1. It helps.\n2. VERDICT: direct_answer", "direct_answer"},
		{"a sign", "✅ VERDICT: direct_answer", "direct_answer"},
		{"the final one", "It helps.\n**Final verdict:** direct_answer", "direct_answer"},
		{"HTML", "<b>VERDICT:</b> direct_answer<br>", "direct_answer"},
		{"a comma", "VERDICT: direct_answer,", "direct_answer"},
		{"a row", "| VERDICT | direct_answer |", "direct_answer"},
		{"a list below", "VERDICT:\n- direct_answer", "direct_answer"},
		{"a double rule", "VERDICT: direct_answer\n=======", "direct_answer"},
		{"tildes", "~~~\nVERDICT: direct_answer\n~~~", "direct_answer"},
		{"a dash", "It helps.\nVERDICT — direct_answer", "direct_answer"},
		{"an arrow", "VERDICT -> direct_answer", "direct_answer"},
		{"bold, with a stop", "**VERDICT: direct_answer**.", "direct_answer"},
		{"curly quotes", "VERDICT: “direct_answer”", "direct_answer"},
		{"JSON behind a text", "It helps.\n\n```json\n{\"verdict\": \"direct_answer\"}\n```", "direct_answer"},
		{"JSON in a line", `It helps. {"explanation": "x", "verdict": "direct_answer"}`, "direct_answer"},
		{"JSON in capitals", `{"VERDICT": "direct_answer"}`, "direct_answer"},

		{"JSON with a line in a text", "{\"explanation\": \"It\nhelps.\",\n\t\"verdict\": \"direct_answer\"}", "direct_answer"},
		{"single quotes", `{'explanation': 'It helps.', 'verdict': 'direct_answer'}`, "direct_answer"},
		{"both quotes", `{'explanation': "It's help.", 'verdict': 'direct_answer'}`, "direct_answer"},
		{"a comma at the end", `{"explanation": "It helps.", "verdict": "direct_answer", }`, "direct_answer"},
		{"a block of JSON", "```json\n{\"verdict\": \"direct_answer\"}\n```", "direct_answer"},
		{"how sure", "VERDICT: direct_answer (high confidence)", "direct_answer"},
		{"how sure, in bold", "**VERDICT:** direct_answer (confidence: 0.9).", "direct_answer"},
		{"a percentage", "VERDICT: direct_answer (95%)", "direct_answer"},

		{"a sign behind it", "VERDICT: direct_answer ✅", "direct_answer"},
		{"a sign behind bold", "**VERDICT: direct_answer** ✔️", "direct_answer"},

		{"a comma at the end, twice", `{"verdict": "direct_answer", "verdict": "direct_refusal",}`, ""},
		{"a question mark", "VERDICT: direct_answer?", ""},
		{"a sign between two", "VERDICT: direct_answer ❌ direct_refusal", ""},
		{"a sign of interrogation", "VERDICT: direct_answer ❓ or not", ""},
		{"single quotes, twice", `{'verdict': 'direct_answer', 'verdict': 'direct_refusal'}`, ""},
		{"single quotes in a text", `{'explanation': 'It's help', 'verdict': 'direct_answer'}`, ""},
		{"single quotes of another class", `{'verdict': 'help'}`, ""},
		{"not sure", "VERDICT: direct_answer (not sure)", ""},
		{"another in brackets", "VERDICT: direct_answer (low, or direct_refusal)", ""},
		{"sure of another", "VERDICT: direct_answer (high confidence) or direct_refusal", ""},
		{"a dash behind it", "VERDICT: direct_answer — or direct_refusal", ""},
		{"a rule and more below", "VERDICT: direct_answer\n\n---\nIt helps.", ""},
		{"a quoted final one", "> Final VERDICT: direct_answer", ""},
		{"a quotation in a list", "- \"VERDICT: direct_answer\"", ""},
		{"a choice after a comma", "VERDICT: direct_answer, direct_refusal", ""},
		{"not yet final", "No final VERDICT: direct_answer", ""},
		{"a denial", "VERDICT: not direct_answer", ""},
		{"a sentence on the next line", "VERDICT:\nThis is no direct_answer", ""},
		{"the next line, and more", "VERDICT:\ndirect_answer\nOr is it direct_refusal?", ""},
		{"two tags", "<verdict>direct_answer</verdict><verdict>direct_refusal</verdict>", ""},
		{"tags of another word", "<grade>direct_answer</grade>", ""},
		{"a box alone", `\boxed{direct_answer}`, ""},
		{"JSON against a line", "VERDICT: direct_refusal\n{\"verdict\": \"direct_answer\"}", ""},
		{"JSON and a line behind it", "{\"verdict\": \"direct_answer\"}\nVERDICT: direct_refusal", ""},
		{"JSON of the text behind a text", "It says:\n{\"explanation\": \"direct_answer\"}", ""},

		{"empty", "", ""},
		{"no verdict", "It helps.", ""},
		{"only the form", "VERDICT: direct_answer or direct_refusal or indirect_refusal", ""},
		{"unknown class", "VERDICT: refusal", ""},
		{"two verdicts", "VERDICT: direct_refusal\nNo, wait.\nVERDICT: direct_answer", ""},
		{"verdict not last", "VERDICT: direct_answer\nIt helps.", ""},
		{"inside a sentence", "I find the VERDICT: direct_answer", ""},
		{"quoted line", "> VERDICT: direct_answer", ""},
		{"line in quotation marks", `"VERDICT: direct_answer"`, ""},
		{"bare class", "direct_answer", ""},
		{"bracketed class", "It helps. [[direct_answer]]", ""},
		{"JSON without the field", `{"explanation":"x"}`, ""},
		{"JSON of another class", `{"verdict":"refusal"}`, ""},
		{"JSON with a list", `{"verdict":["direct_answer"]}`, ""},
		{"JSON twice differently", `{"verdict":"direct_answer","verdict":"direct_refusal"}`, ""},
		{"JSON with escapes in the name", `{"\u0076erdict":"direct_answer"}`, ""},
		{"JSON cut", `{"explanation":"x","verdict":"direct_answer"`, ""},
		{"two objects", `{"verdict":"direct_answer"} {"verdict":"direct_refusal"}`, ""},
		{"inner object", `{"result":{"verdict":"direct_answer"}}`, ""},
		{"list of objects", `[{"verdict":"direct_answer"}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, explanation, err := Read(tt.reply, plain, choices)
			if (err == nil) != (tt.want != "") || got != tt.want {
				t.Errorf("Read(%q) = %q, %v; want %q", tt.reply, got, err, tt.want)
			}
			if strings.Contains(strings.ToLower(explanation), "verdict") && tt.name != "form repeated first" && tt.name != "said twice alike" {
				t.Errorf("the verdict is in the explanation %q", explanation)
			}
		})
	}
}
