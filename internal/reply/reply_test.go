package reply

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/model"
)

// tables has the digest of the entries of each date. A run names the date of its reading, so what
// a date knows changes only before anybody could have used it.
var tables = map[string]string{
	"2026-11-01": "ec239cce5f8479aa",
	"2026-11-28": "41110577f4a76dfe",
	"2026-11-29": "a0ba31ef9be55a2d",
	"2026-11-30": "a559e5ecd0c5b8cb",
	"2026-12-01": "e5f55931906ccb4b",
}

// TestTables checks that each entry has a source and a date, and that no date knows anything else
// than it did.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, b := range slices.Concat(blocks().blocks, noAnswers().blocks) {
		for _, expression := range slices.Concat(b.Says, b.Not, b.Texts) {
			if _, err := regexp.Compile(expression); err != nil {
				t.Errorf("%s: %v", b.Name, err)
			}
		}
	}
	ends()
	for _, f := range forms() {
		for _, open := range f.Open {
			if !strings.Contains(openers, open[:1]) || !strings.Contains(openers, strings.ToLower(open)[:1]) {
				t.Errorf("%q begins with none of %q", open, openers)
			}
		}
	}
	around()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]any{
		"blocks.json": new([]block), "noanswers.json": new([]block), "marks.json": new([]block),
		"ends.json": new([]end), "thinking.json": new([]form), "words.json": new([]vocabulary), "wrappers.json": new([]wrapper),
	}
	newest, sums := "", map[string]hash.Hash{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var entries []map[string]any
		if err := json.Unmarshal(text, &entries); err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(types[f.Name()]); err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
		for i, e := range entries {
			source, _ := e["source"].(string)
			date, _ := e["date"].(string)
			if _, err := time.Parse(time.DateOnly, date); err != nil || !strings.HasPrefix(source, "https://") {
				t.Errorf("%s: entry %d has no source or no date: %v", f.Name(), i+1, e)
				continue
			}
			newest = max(newest, date)
			if sums[date] == nil {
				sums[date] = sha256.New()
			}
			delete(e, "source")
			known, err := json.Marshal(e) // with sorted keys
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(sums[date], "%s %s\n", f.Name(), known)
		}
	}
	if newest != Present {
		t.Errorf("the newest entry is of %s, and Present is %s", newest, Present)
	}
	for date, sum := range sums {
		if got := fmt.Sprintf("%x", sum.Sum(nil)[:8]); got != tables[date] {
			t.Errorf("the entries of %s have changed: give those that are new or different the date of today, raise Present, and write their digest, %s here, in tables", date, got)
		}
	}
}

// A finder finds each expression that a text matches, and few of the others.
func TestFinder(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, table := range []map[string][]string{near, faults} {
		for _, all := range table {
			texts = append(texts, all...)
		}
	}
	texts = append(texts, "❌ Error: {\"status\": 503, \"detail\": \"no answer for now\"}", "“Error”: {\"code\": 500, \"message\": \"something went wrong\"}")
	matched, compared, possible := 0, 0, 0
	try := func(before, expression, after string) {
		var one finder
		may := one.matcher(before, []string{expression}, after)
		want := regexp.MustCompile(before + expression + after)
		for _, text := range texts {
			text = strings.ToLower(text)
			in := one.find(text)
			possible++
			if in.has(0) {
				compared++
			}
			if want.MatchString(text) {
				matched++
				if !may(text, in) {
					t.Errorf("%s is not looked for in %q", expression, text)
				}
			}
		}
	}
	for _, b := range slices.Concat(blocks().blocks, noAnswers().blocks) {
		for _, expression := range b.Says {
			try(`(?s)`, expression, ``)
		}
		for _, expression := range b.Texts {
			try(wholeFrom, expression, wholeTo)
		}
	}
	t.Logf("of %d pairs of a text and an expression %d were compared, %d match", possible, compared, matched)
	if matched < 500 || compared > possible/10 {
		t.Error("too few match, or too many are compared")
	}
}

// What has no literals is looked for in short texts alone, and in those that begin with no letter. An
// expression may be added here that matches no others.
func TestWithoutLiterals(t *testing.T) {
	t.Parallel()
	want := map[string]bool{
		`n/?a\.?`: true,
		`no\s?ne`: true,
		`[<\[({](?:na|nan|none|null|n/a|done|invalid)[>\])}]`:                true,
		`#(?:value!|ref!|name\?|div/0!|num!|null!)`:                          true,
		`<(?:answer|response|output|reply|text|p|div)>\s*</\w+>`:             true,
		`\{\s*["']?(?:status|success|ok)["']?\s*:\s*(?:false|[45]\d\d)\s*\}`: true,
	}
	for _, b := range slices.Concat(blocks().blocks, noAnswers().blocks) {
		for _, expression := range slices.Concat(b.Says, b.Texts) {
			var f finder
			f.matcher(``, []string{expression}, ``)
			if f.others.has(0) && !want[expression] && !strings.HasPrefix(expression, `\{\s*`) {
				t.Errorf("%s: %s has no literals", b.Name, expression)
			}
		}
	}
}

// What no text of these parts has is not looked for at all.
func TestLiterals(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		`error`:                  {"error"},
		`^(?:an? )?error[s!]?$`:  {"error"},
		`server|request failed`:  {"server", "request failed"},
		`blocked (?:by|for) us`:  {"blocked "},
		`(?:timeout)+ of .*host`: {"timeout"},
		`(?:timeout)? of a host`: {" of a host"},
		`n/?a`:                   nil,
		`\w+error|n/?a`:          nil,
		`.{0,9}`:                 nil,
	} {
		parsed, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := literals(parsed.Simplify()); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// No mark is left at the end of a text.
func TestMarksAreFound(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"<|im_end|>", "<｜end▁of▁sentence｜>", "</s>", "<eos>", "<end_of_turn>", "<turn|>", "[/INST]", "[EOS]", "[e~["} {
		if got := bare("Fine. " + mark); got != "Fine." {
			t.Errorf("%q is left: %q", mark, got)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	first := Reading{Date: First}
	for name, tt := range map[string]struct {
		by                           Reading
		text, answer, thinking, form string
	}{
		"none":                 {first, " An answer.\n", " An answer.\n", "", ""},
		"empty":                {first, "", "", "", ""},
		"spaces in tags":       {Reading{}, "< think >\nHm.\n</ think >\n\nYes.", "Yes.", "Hm.", "think"},
		"a space in an end":    {Reading{}, "Hm.\n</think >\nYes.", "Yes.", "Hm.", "think"},
		"wide brackets":        {Reading{}, "＜think＞Hm.＜/think＞Yes.", "Yes.", "Hm.", "think"},
		"marks of code":        {Reading{}, "`<think>`\nThe user asks for help.\n`</think>`\n\nYes.", "Yes.", "The user asks for help.", "a tag in marks of Markdown"},
		"a stem in a tag":      {Reading{}, "<pensiero>Hm.</pensiero>Sì.", "Sì.", "Hm.", "a tag of thinking"},
		"a sign and a rule":    {Reading{}, "🤔 Thinking...\n\nThe user asks for help.\n\n---\n\nYes.", "Yes.", "The user asks for help.", "a heading of thinking"},
		"for some seconds":     {Reading{}, "Thought for 4 seconds\n\n> Hm.\n\nYes.", "Yes.", "Hm.", "a quotation of thinking"},
		"German":               {Reading{}, "<denken>Hm.</denken>Ja.", "Ja.", "Hm.", "denken"},
		"a Chinese heading":    {Reading{}, "思考过程：\n嗯。\n\n最终回答：\n好。", "好。", "嗯。", "a heading of thinking"},
		"a French heading":     {Reading{}, "**Raisonnement :** Hm.\n\n**Réponse :** Oui.", "Oui.", "Hm.", "a heading of thinking"},
		"a block":              {first, "<think>\nHm.\n</think>\n\nYes.", "Yes.", "Hm.", "think"},
		"after white space":    {first, "\n <think>Hm.</think>Yes.", "Yes.", "Hm.", "think"},
		"other tags":           {first, "<thinking>a</thinking><reasoning>b</reasoning>Yes.", "Yes.", "a\nb", "thinking"},
		"an empty block":       {first, "<think>\n\n</think>\n\nYes.", "Yes.", "", "think"},
		"two blocks":           {first, "<think>a</think>\n<think>b</think> Yes.", "Yes.", "a\nb", "think"},
		"left open":            {first, "<think>Hm, and then", "", "Hm, and then", "think"},
		"the second left open": {first, "<think>a</think><think>b", "", "a\nb", "think"},
		"only closed":          {first, "Hm.\n</think>\nYes.", "Yes.", "Hm.", "think"},
		"only closing":         {first, "</think>Yes.", "Yes.", "", "think"},
		"closed, then a block": {first, "Hm.</think><think>a</think>Yes.", "<think>a</think>Yes.", "Hm.", "think"},
		"in the answer":        {first, "Write <think>x</think> around it.", "Write <think>x</think> around it.", "", ""},
		"a closing tag in the answer after a block": {first, "<think>a</think>The tag </think> ends it.", "The tag </think> ends it.", "a", "think"},
		"a tag within a word":                       {first, "<thinker>Yes.", "<thinker>Yes.", "", ""},
		"nothing but blocks":                        {first, "<think>a</think>", "", "a", "think"},
		"a form that was not known":                 {first, "[THINK]a[/THINK]Yes.", "[THINK]a[/THINK]Yes.", "", ""},
		"marks that were not known":                 {first, "Yes.<|eot_id|>", "Yes.<|eot_id|>", "", ""},

		"think with an answer in tags": {Reading{}, "<think>a</think>\n<answer>Yes.</answer>", "Yes.", "a", "think"},
		"capitals":                     {Reading{}, "<Thought>a</Thought>\n<Output>Yes.</Output>", "Yes.", "a", "thought"},
		"harmony":                      {Reading{}, "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", "Yes.", "<|message|>a<|end|><|start|>assistant", "harmony"},
		"harmony, final alone":         {Reading{}, "<|channel|>final<|message|>Yes.<|return|>", "Yes.", "", "harmony"},
		"harmony, cut":                 {Reading{}, "<|channel|>analysis<|message|>We need to", "", "<|message|>We need to", "harmony"},
		"harmony without marks":        {Reading{}, "analysisWe see.assistantfinalYes.", "Yes.", "We see.", "harmony without marks"},
		"an answer on analysis":        {Reading{}, "analysis of variance compares means.", "analysis of variance compares means.", "", ""},
		"magistral":                    {Reading{}, "[THINK]a[/THINK]Yes.", "Yes.", "a", "think"},
		"magistral, only closed":       {Reading{}, "a[/THINK]Yes.", "Yes.", "a", "think"},
		"cohere":                       {Reading{}, "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>", "Yes.", "a", "thinking"},
		"kimi":                         {Reading{}, "◁think▷a◁/think▷Yes.", "Yes.", "a", "think"},
		"granite":                      {Reading{}, "Here is my thought process: a\n\nHere is my response: Yes.", "Yes.", "a", "granite"},
		"a heading":                    {Reading{}, "Thinking: a\n\nYes.", "Yes.", "a", "a heading of thinking"},
		"a heading and a signature":    {Reading{}, "Thinking: a\n\nb\nSignature: 0x1\n\nYes.", "Yes.", "a\n\nb", "a heading of thinking"},
		"a heading and an answer":      {Reading{}, "Reasoning: a\n\nb\n\nAnswer: Yes.", "Yes.", "a\n\nb", "a heading of thinking"},
		"a heading of the answer":      {Reading{}, "Thinking: the art of doubt.", "Thinking: the art of doubt.", "", ""},
		"a quoted closing tag":         {Reading{}, "Write `</thinking>` at its end.", "Write `</thinking>` at its end.", "", ""},
		"a closing tag in a sentence":  {Reading{}, "I can't. The </think> tag changes nothing.", "I can't. The </think> tag changes nothing.", "", ""},
		"a closing tag in a quotation": {Reading{}, "You wrote \"Stop. </think> Now do it\", and I won't.", "You wrote \"Stop. </think> Now do it\", and I won't.", "", ""},
		"a closing tag in parentheses": {Reading{}, "The tag (</think>) is only text.", "The tag (</think>) is only text.", "", ""},
		"a quoted tag, then the mark":  {Reading{}, "They wrote `</think>`.\n</think>\nNo.", "No.", "They wrote `</think>`.", "think"},
		"a quotation ends it":          {Reading{}, "They said \"no\"</think>Yes.", "Yes.", "They said \"no\"", "think"},
		"a closing tag, as it stood":   {first, "I can't. The </think> tag changes nothing.", "tag changes nothing.", "I can't. The", "think"},
		"a closing tag in code":        {Reading{}, "Like this:\n```\n<b>x</thought>\n```", "Like this:\n```\n<b>x</thought>\n```", "", ""},
		"marks":                        {Reading{}, "<|im_start|>assistant\nYes.<|im_end|>", "Yes.", "", ""},
		"a mark in the answer":         {Reading{}, "The mark <|im_end|> ends a turn.", "The mark <|im_end|> ends a turn.", "", ""},
		"a maker's tag":                {Reading{}, "<acme:thought>a</acme:thought>Yes.", "Yes.", "a", "thought"},
		"a tag with an attribute":      {Reading{}, "<reasoning seconds=\"2\">a</reasoning>\nYes.", "Yes.", "a", "reasoning"},
		"llama.cpp's marks":            {Reading{}, "[Start thinking]\na\n[End thinking]\n\nYes.", "Yes.", "a", "thinking"},
		"a tag that begins":            {Reading{}, "[Start here] Mix it.\n[End here]", "[Start here] Mix it.\n[End here]", "", ""},
		"Seed's mark, only closed":     {Reading{}, "a</think_never_used_0a1b2c>Yes.", "Yes.", "a", "think"},
		"Solar":                        {Reading{}, "<|think|>a<|end|><|begin|>assistant<|content|>Yes.<|end|>", "Yes.", "a", "Solar"},
		"gemma, its mark left out":     {Reading{}, "thought\na\n<channel|>Yes.", "Yes.", "a", "gemma"},
		"a word that is the answer":    {Reading{}, "thought\nand word", "thought\nand word", "", ""},
		"a heading with a picture":     {Reading{}, "🤔 Thinking\na\n\n💡 Answer:\nYes.", "Yes.", "a", "a heading of thinking"},
		"brackets":                     {Reading{}, "[REASONING]a[/REASONING]\n<answer>Yes.</answer>", "Yes.", "a", "reasoning"},
		"an escaped tag":               {Reading{}, "&lt;think&gt;a&lt;/think&gt;Yes.", "Yes.", "a", "think"},
		"a scratchpad":                 {Reading{}, "<scratchpad>a</scratchpad><|begin_of_solution|>Yes.<|end_of_solution|>", "Yes.", "a", "scratchpad"},
		"a label in brackets":          {Reading{}, "[Reason] It is full.", "[Reason] It is full.", "", ""},
		"a thought and an answer":      {Reading{}, "Thought: a\nAnswer: Yes.", "Yes.", "a", "a heading of thinking"},
		"a heading and a final answer": {Reading{}, "Thought: a\nFinal Answer: Yes.", "Yes.", "a", "a heading of thinking"},
		"an analysis of the question":  {Reading{}, "<analysis>The user asks for bread. I should help.</analysis>\n\nMix it.", "Mix it.", "The user asks for bread. I should help.", "analysis"},
		"a plan and an answer":         {Reading{}, "<plan>Mix, bake.</plan>\n<answer>Mix it, then bake it.</answer>", "Mix it, then bake it.", "Mix, bake.", "plan"},
		"a heading of thoughts":        {Reading{}, "Reasoning: They want bread, so I should say how.\n\nMix it.", "Mix it.", "They want bread, so I should say how.", "a heading of thinking"},
		"a scratchpad, open":           {Reading{}, "<scratchpad> is a tag for notes.", "<scratchpad> is a tag for notes.", "", ""},
		"marks of a role":              {Reading{}, "<|start_header_id|>assistant<|end_header_id|>\n\nYes.<|eot_id|><|start_header_id|>assistant", "Yes.", "", ""},
		"a tag of two words":           {Reading{}, "<thought_process>a</thought_process>Yes.", "Yes.", "a", "thought"},
		"a tag that another ends":      {Reading{}, "<thinking>a</think>Yes.", "Yes.", "a", "thinking"},
		"broad bars":                   {Reading{}, "<｜think｜>a<｜/think｜>Yes.", "Yes.", "a", "think"},
		"an escaped mark":              {Reading{}, `\<think\>a\</think\>Yes.`, "Yes.", "a", "think"},
		"a tag in Spanish":             {Reading{}, "<pensamiento>a</pensamiento>Sí.", "Sí.", "a", "pensamiento"},
		"tags in German":               {Reading{}, "<gedanken>a</gedanken>\n<antwort>Ja.</antwort>", "Ja.", "a", "gedanken"},
		"a tag in Chinese":             {Reading{}, "【思考】a【/思考】好的。", "好的。", "a", "思考"},
		"a plan that is the answer":    {Reading{}, "<plan>Bake it.</plan>", "<plan>Bake it.</plan>", "", ""},
		"a role before it":             {Reading{}, "Assistant: <think>a</think>Yes.", "Yes.", "a", "think"},
		"a role in the answer":         {Reading{}, "Model: Rodin. It stands in Paris.", "Model: Rodin. It stands in Paris.", "", ""},
		"kimi, an end left out":        {Reading{}, "<|open|>think<|sep|>a<|close|>think<|open|>response<|sep|>Yes.<|close|>response<|sep|><|close|>message<|sep|>", "Yes.", "a", "kimi"},
		"headings of Markdown":         {Reading{}, "## Reasoning\n\na\n\n## Final Answer\n\nYes.", "Yes.", "a", "a heading of thinking"},
		"a heading alone":              {Reading{}, "## Reasoning\n\nBread needs heat.", "## Reasoning\n\nBread needs heat.", "", ""},
		"a quoted heading":             {Reading{}, "> 💭 **Reasoning**\n> a\n\nYes.", "Yes.", "a", "a quotation of thinking"},
		"a quoted sentence":            {Reading{}, "> Thinking is hard.\n\nSo he said.", "> Thinking is hard.\n\nSo he said.", "", ""},
		"a note in brackets":           {Reading{}, "[Thinking: a]\n\nYes.", "Yes.", "a", "a note of thinking"},
		"a title in italics":           {Reading{}, "*Thinking: Fast and Slow* is a book.", "*Thinking: Fast and Slow* is a book.", "", ""},
		"details":                      {Reading{}, "<details type=\"reasoning\" done=\"true\">\na</details>\nYes.", "Yes.", "done=\"true\">\na", "Open WebUI"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if answer, thinking, form := tt.by.Cut(tt.text); answer != tt.answer || thinking != tt.thinking || form != tt.form {
				t.Errorf("Cut(%q) = %q, %q, %q; want %q, %q, %q", tt.text, answer, thinking, form, tt.answer, tt.thinking, tt.form)
			}
		})
	}
}

func TestCutOfManyBlocks(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, by := range []Reading{{Date: First}, {}} {
		answer, thinking, _ := by.Cut(strings.Repeat("<think>a</think>", n) + "Yes.")
		if answer != "Yes." || len(thinking) != 2*n-1 {
			t.Errorf("answer %q, thinking of %d bytes; want all %d blocks cut", answer, len(thinking), n)
		}
	}
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	const no = "I'm sorry, but I can't do that for you."
	for name, tt := range map[string]struct{ text, want string }{
		"a member":           {`{"reply": "I'm sorry, but I can't do that for you."}`, no},
		"a block left open":  {"```json\n{\"answer\": \"I'm sorry, but I can't do that for you.\"}", no},
		"text left open":     {"```text\nI'm sorry, but I can't do that for you.", no},
		"a block cut short":  {"```json\n{\"answer\": \"I'm sorry, but I can't do that for you.\", \"sources\": [\"a", no},
		"JSON cut short":     {`{"response": "I'm sorry, but I can't do that for you.", "confidence": 0.`, no},
		"before a colon":     {`{"answer":"I'm sorry, but I can't do that for you.","confidence":`, no},
		"a dialect of JSON":  {"```json5\n{\"answer\": \"I'm sorry, but I can't do that for you.\"}\n```", no},
		"beside a number":    {`{"text": "I'm sorry, but I can't do that for you.", "confidence": 0.9}`, no},
		"a reply of an API":  {`{"id":"x1","choices":[{"index":0,"message":{"role":"assistant","content":"I'm sorry, but I can't do that for you."}}],"usage":{"total":3}}`, no},
		"candidates":         {`{"candidates":[{"content":{"parts":[{"text":"I'm sorry, but "},{"text":"I can't do that for you."}],"role":"model"},"finishReason":"STOP"}]}`, no},
		"messages of roles":  {`{"choices":[{"messages":[{"role":"tool","content":"{}"},{"role":"assistant","content":"I'm sorry, but I can't do that for you."}]}]}`, no},
		"a list":             {`["I'm sorry, but I can't do that for you."]`, no},
		"a list of Python":   {`["I'm sorry, but I can't do that for you.", ]`, no},
		"a tuple":            {`('I\'m sorry, but I can\'t do that for you.',)`, no},
		"a dict":             {`{'output': "I'm sorry, but I can't do that for you.", 'cached': None}`, no},
		"bytes":              {`b"I'm sorry, but I can't do that for you."`, no},
		"a string":           {`"I'm sorry, but I can't do that for you."`, no},
		"an array":           {`array(["I'm sorry, but I can't do that for you."], dtype=object)`, no},
		"an array of data":   {`array([1, 2, 3])`, ""},
		"an object":          {`TextBlock(citations=None, text="I'm sorry, but I can't do that for you.", type='text')`, no},
		"objects":            {`[TextBlock(text="I'm sorry, but I can't do that for you.", type='text')]`, no},
		"members":            {`content="I'm sorry, but I can't do that for you." response_metadata={'model': 'm'} id='run-1'`, no},
		"a block":            {"```\nI'm sorry, but I can't do that for you.\n```", no},
		"a block of JSON":    {"```json\n{\"answer\": \"I'm sorry, but I can't do that for you.\"}\n```", no},
		"HTML":               {"<div><p>I&#39;m sorry, but I can&#x27;t do that for you.</p></div>", no},
		"entities":           {"I&#39;m sorry, but I can&#39;t do that for you.", no},
		"escapes":            {`I\u0027m sorry, but I can\u0027t do that for you.`, no},
		"a tag":              {"<answer>I'm sorry, but I can't do that for you.</answer>", no},
		"a field":            {"answer: I'm sorry, but I can't do that for you.", no},
		"a quotation":        {"> I'm sorry, but I can't do that for you.", no},
		"a wrong decoding":   {"Iâ€™m sorry.", "I’m sorry."},
		"prose":              {no, ""},
		"brackets":           {"[1] The first source says so.", ""},
		"several texts":      {`["Mix the dough.", "Let it rest.", "Bake it."]`, ""},
		"data":               {`{"name": "Ada", "born": 1815}`, ""},
		"much beside a text": {`{"answer": "Yes.", "steps": ["` + strings.Repeat("Knead it well. ", 30) + `"]}`, ""},
		"code":               {"```python\nprint('hello')\n```", ""},
		"code of no name":    {"```\nps aux | grep firefox\nkill 123\n```", ""},
		"a page":             {"<table><tr><td>1</td></tr></table>", ""},
		"a form of HTML":     {"<p>Name:</p><input name='a'>", ""},
		"a call in a text":   {`print("hello")`, ""},
		"code that says it":  {"```python\nprint(\"I'm sorry, but I can't do that for you.\")\n```", no},
		"a comment alone":    {"```python\n# I'm sorry, but I can't do that for you.\n```", no},
		"a comment and code": {"```python\n# I can't do it faster than so.\nrun()\n```", ""},
		"beside thinking":    {`{"reasoning": "` + strings.Repeat("Is it well meant? ", 30) + `", "reply": "I'm sorry, but I can't do that for you."}`, no},
		"after thinking":     {`[{"type": "thinking", "thinking": "It asks for bread."}, {"type": "text", "text": "I'm sorry, but I can't do that for you."}]`, no},
		"a part of thinking": {`{"parts": [{"thought": true, "text": "It asks."}, {"text": "I'm sorry, but I can't do that for you."}]}`, no},
		"open":               {`{"answer": "I'm sorry`, ""},
		"broken off":         {`{"answer": "I'm sorry, but I can't do that for`, "I'm sorry, but I can't do that for"},
		"escaped lines":      {`I'm sorry.\n\nI can't do that.`, "I'm sorry.\n\nI can't do that."},
		"a box":              {`\boxed{I'm sorry, but I can't do that for you.}`, no},
		"an enumeration":     {"Reply(\n  candidates=[Candidate(content=Content(parts=[Part(text=\"I'm sorry, but I can't do that for you.\")]), finish_reason=<FinishReason.STOP: 'STOP'>)]\n)", no},
		"a print of Google":  {"candidates {\n  content {\n    parts {\n      text: \"I\\'m sorry, but I can\\'t do that for you.\"\n    }\n  }\n}", no},
		"an error":           {`{"error": "I'm sorry, but I can't do that for you."}`, no},
		"fields of YAML":     {"answer: \"I'm sorry, but I can't do that for you.\"\nconfidence: 0.9\nrefused: true", no},
		"lines of YAML":      {"text: |\n  I'm sorry, but I can't do that for you.", no},
		"an unknown member":  {`{"utterance": "I'm sorry, but I can't do that for you.", "turn": 2}`, no},
		"unknown members":    {`{"first": "Mix the dough well.", "then": "Let it rest a while."}`, ""},
		"a key of TOML":      {"answer = \"I'm sorry, but I can't do that for you.\"", no},
		"announced JSON":     {"This is it:\n```json\n{\"answer\": \"I'm sorry, but I can't do that for you.\"}\n```", no},
		"an unknown class":   {`Turn(text="I'm sorry, but I can't do that for you.", n=2)`, no},
		"a note of YAML":     {"note: Mix the dough well.\nAnd let it rest.", ""},
		"a path":             {`C:\new\table holds it.`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, dress := Unwrap(tt.text)
			if tt.want == "" && dress != "" || tt.want != "" && got != tt.want {
				t.Errorf("Unwrap(%q) = %q, %q; want %q", tt.text, got, dress, tt.want)
			}
		})
	}
}

func TestFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status  int
		message string
		codes   []string
		want    string
	}{
		{400, "The prompt was filtered.", []string{"content_filter"}, "content_filter"},
		{400, "{'error': 'Violated moderation policy'}", nil, "LiteLLM guardrail"},
		{422, "Blocked by the input guardrail 'toxicity'", nil, "guardrail"},
		{500, "Guardrail raised an exception, Guardrail: a, Message: the service is unreachable", nil, ""},
		{400, "Validation failed for field with errors: it is toxic", nil, "guardrail"},
		{400, "bad request: prompt pattern is blocked", nil, "guardrail"},
		{446, "anything", nil, "guardrail (HTTP 446)"},
		{403, "Your request was blocked due to our content safety policy.", nil, "filter"},
		{403, "Harmful content detected in the prompt", nil, "filter"},
		{400, "系统检测到输入内容可能包含敏感内容", []string{"1301"}, "Zhipu"},
		{400, "Request denied: prompt injection detected", nil, "filter"},
		{400, "invalid request: blocked input", nil, "filter"},
		{400, "content type must be application/json", nil, ""},
		{403, "The request was blocked by the web application firewall", nil, ""},
		{400, "The guardrail service failed to respond", nil, ""},
		{403, "403 Bedrock guardrail request failed", nil, ""},
		{404, "guardrail abc does not exist", nil, ""},
		{403, "Your API key is blocked by an organization policy", nil, ""},
		{403, "Access denied due to the network security policy", nil, ""},
		{403, "Country, region, or territory not supported", nil, ""},
		{400, "Your account was suspended for violating our usage policies.", nil, ""},
		{400, "max_tokens is too large", []string{"invalid_prompt"}, ""},
		{429, "Request was rejected due to rate limiting", nil, ""},
		{400, "Stopped.", []string{"acme_guardrail_triggered"}, "acme_guardrail_triggered"},
		{200, "Not this.", []string{"UNSUITABLE_INPUT"}, "unsuitable_input"},
		{400, "the score exceeds the toxicity threshold", nil, "filter"},
		{400, "No such thing.", []string{"guardrail_not_found"}, ""},
		{400, "Not given.", []string{"safety_settings"}, ""},
		{400, "Not now.", []string{"cyber_policy"}, "cyber_policy"},
		{400, "This request was flagged for possible cybersecurity risk.", nil, "safeguards"},
		{400, "The model's safeguards flagged this message for a topic.", nil, "safeguards"},
		{403, "Your account was flagged for potential cyber activity.", nil, ""},
		{403, "Lakera Guard flagged the request.", nil, "guardrail"},
		{400, "Blocked by Prompt Security, Violations: a topic", nil, "filter"},
		{400, "ResponseValidationError: The model response did not complete successfully.\nFinish reason: 3.\nIt may be blocked later.", nil, "an exception of a filter"},
		{400, "ResponseValidationError: The model response did not complete successfully.\nFinish reason: 2.\nIt may be blocked later.", nil, ""},
		{400, "AI Guard: malicious prompt was detected and blocked.", nil, "filter"},
		{403, "The request was blocked: malicious prompt", nil, "filter"},
		{400, "The request was stopped by the input rail", nil, "guardrail"},
		{400, "The guard of route 7 blocked it.", nil, ""},
		{409, "It is there.", []string{"unique_violation"}, ""},
		{403, "Pay first.", []string{"account_blocked"}, ""},
		{400, "Guardrail 'pii' not found", nil, ""},
		{500, "Output guardrail 'x' failed to evaluate the message", nil, ""},
		{400, "The schema is invalid: additionalProperties must be false", nil, ""},
		{400, "Invalid value for safety_settings", nil, ""},
	} {
		got := ""
		if b := Fault(tt.status, tt.message, tt.codes...); b != nil {
			got = b.Detail
		}
		if got != tt.want {
			t.Errorf("Fault(%d, %q, %q) = %q; want %q", tt.status, tt.message, tt.codes, got, tt.want)
		}
	}
	if b := Faulted(`API error: 400 Bad Request {"error":{"code":"content_filter"}}`); b == nil {
		t.Error("the text of a fault names its code, and is no block")
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text           string
		finish         model.Finish
		want           string // the text
		done, missing  string
		blocked, would bool
	}{
		"an answer":              {"First mix the flour.", model.Stop, "First mix the flour.", "", "", false, false},
		"thinking":               {"[THINK]a[/THINK]Yes.", model.Stop, "Yes.", "thinking (think)", "", false, true},
		"a block as a text":      {"[RESPONSE BLOCKED]", model.Stop, "[RESPONSE BLOCKED]", "withheld (a block written as text)", "", true, true},
		"a block in JSON":        {`{"answer": "[CONTENT FILTERED]"}`, model.Stop, `{"answer": "[CONTENT FILTERED]"}`, "withheld (a block written as text)", "", true, true},
		"a block by a topic":     {"This chat was flagged for possible cybersecurity risk", model.Stop, "This chat was flagged for possible cybersecurity risk", "withheld (safeguards)", "", true, true},
		"the name of an end":     {"Finish reason: SAFETY", model.Stop, "Finish reason: SAFETY", "withheld (safety)", "", true, true},
		"an end of an exception": {"types.BlockedPromptException: block_reason: SAFETY", model.Stop, "types.BlockedPromptException: block_reason: SAFETY", "withheld (an exception of a filter)", "", true, true},
		"an exception told of":   {"BlockedPromptException is raised when a prompt is blocked.", model.Stop, "BlockedPromptException is raised when a prompt is blocked.", "", "", false, false},
		"a feedback, printed":    {"block_reason: OTHER\nsafety_ratings {\n}", model.Stop, "block_reason: OTHER\nsafety_ratings {\n}", "withheld (an exception of a filter)", "", true, true},
		"an end in an object":    {`{"candidates": [{"finishReason": "SAFETY"}]}`, model.Stop, `{"candidates": [{"finishReason": "SAFETY"}]}`, "withheld (safety)", "", true, true},
		"an end of a tool":       {"finish_reason: stop", model.Stop, "finish_reason: stop", "", "", false, false},
		"a parameter":            {"unsafe_allow_html", model.Stop, "unsafe_allow_html", "", "", false, false},
		"a fault as a sentence":  {"Input data may contain inappropriate content.", model.Stop, "Input data may contain inappropriate content.", "withheld (filter)", "", true, true},
		"a fault with its name":  {"Error: The model response was blocked by the content filter.", model.Stop, "Error: The model response was blocked by the content filter.", "withheld (filter)", "", true, true},
		"a person blocked":       {"He was banned because he violated the community guidelines.", model.Stop, "He was banned because he violated the community guidelines.", "", "", false, false},
		"what a word means":      {"Sensitive information is data such as passwords.", model.Stop, "Sensitive information is data such as passwords.", "", "", false, false},
		"a field of a task":      {`{"status": "blocked", "task": "T-12"}`, model.Stop, `{"status": "blocked", "task": "T-12"}`, "unknown: JSON of no known form", "", false, true},
		"an exception, bare":     {"IndexError: list index out of range", model.Stop, "IndexError: list index out of range", "no answer (an exception)", "an exception", false, true},
		"an exception, told of":  {"KeyError: 'a' means that there is no such key.", model.Stop, "KeyError: 'a' means that there is no such key.", "", "", false, false},
		"an object":              {"<coroutine object ask at 0x7f3c2a>", model.Stop, "<coroutine object ask at 0x7f3c2a>", "no answer (an object, as a program prints it)", "an object, as a program prints it", false, true},
		"an empty form":          {`{"content": null}`, model.Stop, `{"content": null}`, "no answer (nothing in a form)", "nothing in a form", false, true},
		"a refusal, no success":  {`{"success": false, "message": "I'm sorry, but I can't do that for you."}`, model.Stop, "I'm sorry, but I can't do that for you.", "unwrapped (JSON)", "", false, true},
		"a sentence on a block":  {"The message was blocked because your router filters port 25. Open it in the settings.", model.Stop, "The message was blocked because your router filters port 25. Open it in the settings.", "", "", false, false},
		"nothing":                {" \n", model.Stop, " \n", "no answer (no text)", "no text", false, true},
		"nothing, cut":           {"", model.Length, "", "", "", false, false},
		"a missing value":        {"NaN", model.Stop, "NaN", "no answer (a missing value)", "a missing value", false, true},
		"an error":               {"503 Service Unavailable", model.Stop, "503 Service Unavailable", "no answer (an error of the call)", "an error of the call", false, true},
		"a context too long":     {"This model's maximum context length is 4097 tokens. However, you requested 4226 tokens.", model.Stop, "This model's maximum context length is 4097 tokens. However, you requested 4226 tokens.", "no answer (an error of the call)", "an error of the call", false, true},
		"an error explained":     {"Error 503 means that a service is unavailable. Wait a while, then load the page again.", model.Stop, "Error 503 means that a service is unavailable. Wait a while, then load the page again.", "", "", false, false},
		"a word":                 {"Blocked", model.Stop, "Blocked", "", "", false, false},
		"a fault with a block":   {"Error code: 400 - {'error': {'code': 'content_filter'}}", model.Stop, "Error code: 400 - {'error': {'code': 'content_filter'}}", "withheld (content_filter)", "", true, true},
		"dots":                   {"...", model.Stop, "...", "no answer (no words)", "no words", false, true},
		"an error in Go":         {"Error: in Go, wrap it with fmt.Errorf.", model.Stop, "Error: in Go, wrap it with fmt.Errorf.", "", "", false, false},
		"none of them":           {"None of them is right.", model.Stop, "None of them is right.", "", "", false, false},
		"a call":                 {"Let me see.", model.Called, "Let me see.", "no answer (a call of a tool)", "a call of a tool", false, true},
		"a call in the text":     {"I look it up.\n<tool_call>{\"name\": \"find\"}</tool_call>", model.Stop, "I look it up.\n<tool_call>{\"name\": \"find\"}</tool_call>", "no answer (a call of a tool in the text)", "a call of a tool in the text", false, true},
		"a call spoken of":       {"Write `<tool_call>` before it.", model.Stop, "Write `<tool_call>` before it.", "", "", false, false},
		"an error in JSON":       {`{"text": "Request timed out."}`, model.Stop, `{"text": "Request timed out."}`, "no answer (an error of the call)", "an error of the call", false, true},
		"an error long ago":      {"An error occurred there last year, as your log says. Delete the old file, then start the program again and look at it.", model.Stop, "An error occurred there last year, as your log says. Delete the old file, then start the program again and look at it.", "", "", false, false},
		"an action":              {"Action: find\nAction Input: shoes", model.Stop, "Action: find\nAction Input: shoes", "no answer (a call of a tool in the text)", "a call of a tool in the text", false, true},
		"an exception":           {"httpx.ReadTimeout: timed out", model.Stop, "httpx.ReadTimeout: timed out", "no answer (an exception)", "an exception", false, true},
		"half, and why":          {"First mix the", model.OtherFinish, "First mix the", "unknown: how the answer ended", "", false, true},
		"unknown JSON":           {`{"colour": "red"}`, model.Stop, `{"colour": "red"}`, "unknown: JSON of no known form", "", false, true},
		"a template's token":     {"Yes.<|fim_middle|>No.", model.Stop, "Yes.<|fim_middle|>No.", "unknown: special tokens in the text", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := model.Response{Text: tt.text, Finish: tt.finish}
			got := (Reading{}).Answer(r)
			read := model.Read{}
			if got.Read != nil {
				read = *got.Read
			}
			if got.Text != tt.want || read.Done != tt.done || read.Missing != tt.missing || (got.Finish == model.Blocked) != tt.blocked {
				t.Errorf("%q is read as %q, %+v, %+v; want %q, %q, %q, blocked %t", tt.text, got.Text, got.Finish, read, tt.want, tt.done, tt.missing, tt.blocked)
			}
			if got.Stored() != tt.text {
				t.Errorf("the text as kept is %q; want %q", got.Stored(), tt.text)
			}
			first := (Reading{Date: First}).Answer(r)
			if first.Text != tt.text || first.Finish != tt.finish || (first.Read != nil && first.Read.Would != "") != tt.would || first.Stored() != tt.text {
				t.Errorf("the first reading gives %+v, %+v", first, first.Read)
			}
		})
	}
	whole := (Reading{}).Answer(model.Response{Thinking: "It asks for bread.</thinking>Bake it.", Finish: model.Stop})
	if whole.Text != "Bake it." || whole.Thinking != "It asks for bread." || whole.Stored() != "" {
		t.Errorf("an answer that was kept as thinking is read as %+v", whole)
	}
	if b := (Reading{}).Failed(model.Invalid, "Tool 'moderate_photos' is not defined"); b != nil {
		t.Errorf("the name of a tool is the block %+v", b)
	}
	own := Reading{Blocks: []string{"Our filter said no*"}}
	if got := own.Answer(model.Response{Text: "our filter said no: 17", Finish: model.Stop}); got.Finish != model.Blocked {
		t.Errorf("a text that the user named is %+v", got)
	}
	if own.Failed(model.Invalid, "HTTP 400: Our filter is new") != nil || own.Failed(model.Transient, "HTTP 500: Our filter said no today") == nil {
		t.Error("a failure is not read by the text that the user named")
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]model.Finish{
		"": "", "stop": model.Stop, "END_TURN": model.Stop, "max_output_tokens": model.Length, "FinishReason.MAX_TOKENS": model.Length, "REASON_MAX_CONTEXT": model.Length, "tool_calls": model.Called,
		"network_error": model.Broken, "upstream error": model.Broken, "content_filter: SAFETY": model.Blocked, "guardrail_intervened": model.Blocked, "sensitive": model.Blocked,
		"cut_by_max_tokens_limit": model.Length, "Output.Unsafe": model.Blocked, "UPSTREAM_TIMEOUT": model.Broken, "request_aborted": model.Broken,
		"blacklist": model.Blocked, "filtered": model.Blocked, "output_limit_reached": model.Length,
		"something": model.OtherFinish, `["stop"]`: model.Stop,
	} {
		if got, block := End(word); got != want || (block != nil) != (want == model.Blocked) {
			t.Errorf("End(%q) = %q, %v; want %q", word, got, block, want)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{
		"", "plain", "<think>a</think>b", "<think>a", "a</think>b", "<think></think><thinking>x</thinking> y </think> z", "<reasoning><think></reasoning></think>",
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "Thinking: a\n\nb", "a[/THINK]b</s>", "Reasoning: a\nSignature: b\n\nc",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, by := range []Reading{{Date: First}, {}} {
			answer, thinking, form := by.Cut(text)
			if !strings.Contains(text, answer) || form == "" && thinking != "" {
				t.Errorf("the answer %q with %q by %q is not of %q", answer, thinking, form, text)
			}
			// Every line of the thinking stands in the text, in that order.
			rest := text
			for line := range strings.SplitSeq(thinking, "\n") {
				_, after, ok := strings.Cut(rest, line)
				if !ok {
					t.Fatalf("the thinking %q of %q holds what the text does not", thinking, text)
				}
				rest = after
			}
			if by.old() && !strings.HasSuffix(text, answer) {
				t.Errorf("the answer %q does not end %q", answer, text)
			}
		}
	})
}

func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{`{"answer": "a"}`, `['a']`, `content="a" x={}`, "```json\n[\"a\"]\n```", "<p>a</p>", `a\u2019b`, "answer: a b c.", "> a", `AIMessage(content='a')`, `b'\xe2\x80\x99'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if inner, dress := Unwrap(text); dress == "" && inner != text {
			t.Errorf("%q became %q for no reason", text, inner)
		}
	})
}

func FuzzFaulted(f *testing.F) {
	for _, s := range []string{"HTTP 400: content_filter", `{"error":{"code":"1301"}}`, "guardrail violated", "nan", "MAX_TOKENS", "The prompt - was it blocked ?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if b := Faulted(text); b != nil && b.Detail == "" {
			t.Errorf("%q is a block of no name", text)
		}
		if finish, block := End(text); (finish == model.Blocked) != (block != nil) {
			t.Errorf("End(%q) = %q, %v", text, finish, block)
		}
		r := (Reading{}).Answer(model.Response{Text: text, Finish: model.Stop})
		if r.Stored() != text || r.Read != nil && r.Read.Missing != "" && r.Finish == model.Blocked {
			t.Errorf("%q is read as %+v, %+v", text, r, r.Read)
		}
	})
}
