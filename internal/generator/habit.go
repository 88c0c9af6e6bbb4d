package generator

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
	"github.com/orbench/orbench/similar"
)

// Habit is something that a generator writes besides the requests that it was asked for.
type Habit string

// The habits. Items with one of the first three are mended. The others are no requests.
const (
	// RemarkBehind and RemarkBelow: a remark follows the request, on its line or below.
	RemarkBehind Habit = "remark_behind"
	RemarkBelow  Habit = "remark_below"
	// Labeled: a label stands before the request, as in "New request: …".
	Labeled Habit = "label"

	// Fence: the lines between which a request to a generator holds its data.
	Fence Habit = "fence_line"
	// Demonstration: a demonstration, verbatim or with up to 40% of its words exchanged.
	Demonstration Habit = "demonstration"
	// Instruction: words of the question to the generator.
	Instruction Habit = "instruction"
	// Address: a text with a web or mail address.
	Address Habit = "address"
	// Number: more digits than letters.
	Number Habit = "number"
	// Identifier: words joined as in a file name or a variable.
	Identifier Habit = "identifier"
	// FewWords: one word or two.
	FewWords Habit = "few_words"
	// Markup: code or data, where fewer than three of five characters are letters.
	Markup Habit = "markup"
	// Blank: a form with a blank to fill in, as in "[name]".
	Blank Habit = "placeholder"
	// Comment: a refusal, a heading or a remark of its own.
	Comment Habit = "comment"
	// Answer: an answer to a request.
	Answer Habit = "answer"
	// Described: what a request is about, and no request.
	Described Habit = "description"
	// Unfinished: a text that breaks off.
	Unfinished Habit = "unfinished"
	// Loop: the same four words three times.
	Loop Habit = "loop"
	// OtherLanguage: another language than that of the text it was asked about.
	OtherLanguage Habit = "other_language"
	// Exchanged: an earlier item of the reply with up to 40% of the words exchanged.
	Exchanged Habit = "words_exchanged"
)

// habits describe the habits in the plural, in the order of Habits.
var habits = []struct {
	Habit
	what string
}{
	{RemarkBehind, "remarks behind requests, cut off"},
	{RemarkBelow, "remarks below requests, cut off"},
	{Labeled, "labels before requests, cut off"},
	{Fence, "lines of the question's own frame"},
	{Demonstration, "repeated demonstrations"},
	{Instruction, "repeated instructions"},
	{Address, "web or mail addresses"},
	{Number, "numbers"},
	{Identifier, "identifiers"},
	{FewWords, "texts of one word or two"},
	{Markup, "pieces of code or data"},
	{Blank, "forms with blanks"},
	{Comment, "refusals, headings and remarks"},
	{Answer, "answers"},
	{Described, "descriptions of requests"},
	{Unfinished, "texts that break off"},
	{Loop, "loops"},
	{OtherLanguage, "texts in another language"},
	{Exchanged, "repeated sentences with a few words exchanged"},
}

// Habits lists the habits.
func Habits() (all []Habit) {
	for _, h := range habits {
		all = append(all, h.Habit)
	}
	return all
}

// String describes the habit in the plural, such as "repeated demonstrations".
func (h Habit) String() string {
	for _, known := range habits {
		if known.Habit == h {
			return known.what
		}
	}
	return string(h)
}

// Foreign reports whether an item with the habit is no request. The other habits are
// mended.
func (h Habit) Foreign() bool { return h != RemarkBehind && h != RemarkBelow && h != Labeled }

// Item is an item of a reply.
type Item struct {
	Text string
	// Habits are what the generator wrote besides a request, each once. If one of them is
	// Foreign, it comes last, and Text is no request.
	Habits []Habit
}

// Foreign reports whether the item is no request.
func (i Item) Foreign() bool {
	return len(i.Habits) > 0 && i.Habits[len(i.Habits)-1].Foreign()
}

// Question says what was asked for, so that Read knows what a reply repeats.
type Question struct {
	Request model.Request
	// About is the seed, or the definition of the category. Items must be in its language.
	About    string
	Category string
}

// Read reads the items of a reply, like Items, and recognizes the habits in them. It mends
// where that is certain. It looks at forms and words, not at meaning.
func Read(response model.Response, q Question) (items []Item) {
	asked := frameOf(q)
	for _, raw := range rawItems(response) {
		item := raw
		item.Text = asked.unlabel(&item)
		if h := asked.foreign(item.Text, items); h != "" {
			item.Habits = append(item.Habits, h)
		}
		items = append(items, item)
	}
	return items
}

// frame is the text of a question as a generator may repeat it.
type frame struct {
	Question
	// demonstrations are the words of its demonstrations, and demonstrated all of them in one
	// text. instructions are the words of the rest, without the data that it is about.
	demonstrations             [][]string
	demonstrated, instructions string
	language                   string
}

// expression is one that is compiled when it is needed first: every command would take a few
// milliseconds longer.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// opens and closes are the lines around a block of data in a question.
var opens, closes = regexp.MustCompile(`<<[0-9a-f]{16} ([A-Z ]+) OPENS?>>\n`), regexp.MustCompile(`<<[0-9a-f]{16} [A-Z ]+ CLOSES?>>`)

func frameOf(q Question) frame {
	f := frame{Question: q}
	if n := len(q.Request.Messages); n > 0 {
		text := q.Request.Messages[n-1].Content
		rest := ""
		for open := opens.FindStringSubmatchIndex(text); open != nil; open = opens.FindStringSubmatchIndex(text) {
			end := closes.FindStringIndex(text[open[1]:])
			if end == nil {
				break
			}
			name, data := text[open[2]:open[3]], text[open[1]:open[1]+end[0]]
			rest, text = rest+text[:open[0]]+"\n", text[open[1]+end[1]:]
			if name != "EXAMPLES" {
				continue
			}
			f.demonstrated = spaced(data)
			for line := range strings.Lines(data) {
				_, shown, _ := strings.Cut(line, ": ")
				f.demonstrations = append(f.demonstrations, wordsOf(shown))
			}
		}
		f.instructions = spaced(rest + text)
	}
	f.instructions += allInstructions
	if len(wordsOf(q.About)) >= languageWords {
		f.language = refusal.Language(q.About)
	}
	return f
}

// allInstructions are the words of all prompts to generators. A server that keeps its state
// between calls can repeat those of another call.
var allInstructions = func() string {
	var all strings.Builder
	entries, err := promptFiles.ReadDir("prompts")
	if err != nil {
		panic("generator: " + err.Error())
	}
	for _, e := range entries {
		all.WriteString(spaced(promptFile(strings.TrimSuffix(e.Name(), ".txt"))))
	}
	return all.String()
}()

// spaced is a text as normalized words, each between spaces.
func spaced(text string) string { return " " + similar.Normalize(text) + " " }

// languageWords is the fewest words whose language is looked at.
const languageWords = 5

// label stands before a request.
var label = expression(`(?i)^\W*(?:(?:new|safe|toxic|rewritten|revised|original|other|first|second|third|next|final|mild|milder|mildest|user) )*(?:request|prompt|rewrite|rewriting|rephrased|question|query|user|human|customer|q|seed|example|item|output|sentence|version|safe|toxic|mild|milder|mildest|message)\s*#?\d*\s*[:=]\s*`)

// unlabel takes the label off an item.
func (f frame) unlabel(item *Item) string {
	text := item.Text
	for range mostLayers {
		rest := text[len(label().FindString(text)):]
		if name, after, ok := strings.Cut(text, ": "); ok && f.Category != "" && strings.EqualFold(strings.Trim(name, "*[]() "), f.Category) {
			rest = after
		}
		if rest = strings.TrimSpace(rest); rest == text || rest == "" {
			break
		}
		text = cleanItem(rest)
		item.note(Labeled)
	}
	return text
}

func (i *Item) note(h Habit) {
	if !slices.Contains(i.Habits, h) {
		i.Habits = append(i.Habits, h)
	}
}

// forms of texts that are no requests. Where one needs a certain character, that is looked for
// first.
var (
	fenceLine = expression(`<<|>>|\b(?:SEED|EXAMPLES?|REWRITE|REQUEST|PARENT|MADE BEFORE) (?:OPENS?|CLOSES?)\b`)
	address   = expression(`(?i)\bhttps?:|\bwww\.|\b[\w.+-]+@[\w-]+\.\w+|\b[a-z0-9-]+\.(?:com|org|net|io|ai|html?|php|json|txt|csv)\b`)
	// listField is the field of the list in the form that a question asks for.
	listField = expression(`(?i)^\W*requests\W*[:=]`)
	// joined is one word made of several.
	joined = expression(`^[^\s]*[\pL\d][_./\\-][^\s]*$|^\S*\p{Ll}\p{Lu}\S*$`)
	blank  = expression(`\[\pL[\pL _'/-]*\]|\{\{?\pL[^{}]*\}|<\pL[\pL _/-]*>|\bX{2,}\b|_{3,}|(?i:\binsert [a-z ]+ here\b)`)
	answer = expression(`(?i)^(?:assistant|ai|bot|answer|response) ?[:=]|^(?:sure|certainly|absolutely|of course|yes|no problem)[,!.]|^step \d|^great question|^(?:i'd be|i would be|i'm|i am) (?:happy|glad) to`)
	// assistant stands before an answer within a text.
	assistant = expression(`(?i)\bassistant ?: `)
	// described begins a sentence about a request.
	described = expression(`(?i)^(?:an?|the|another|one|this) (?:[\w-]+ )?(?:request|question|prompt|query) (?:about|for|on|to|that|which|asking|asks|regarding|concerning|seeking)\b|^(?:the|a) user (?:asks|wants|seeks|requests|is asking)\b`)
)

// foreign gives the habit because of which a text is no request, or "". before are the
// earlier items of the reply.
func (f frame) foreign(text string, before []Item) Habit {
	words := wordsOf(text)
	letters, digits, others := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case r != ' ':
			others++
		}
	}
	plain := spaced(text)
	switch {
	case (strings.ContainsAny(text, "<>") || strings.Contains(text, "OPEN") || strings.Contains(text, "CLOSE")) && fenceLine().MatchString(text):
		return Fence
	case strings.ContainsAny(text, ".:@") && address().MatchString(text):
		return Address
	case digits > letters:
		return Number
	case 5*letters < 3*(letters+digits+others):
		return Markup
	case f.demonstrated != "" && len(words) >= MinWords && holds(f.demonstrated, plain), slices.ContainsFunc(f.demonstrations, func(d []string) bool { return exchanged(d, words) }):
		return Demonstration
	case len(words) >= MinWords && holds(f.instructions, plain), listField().MatchString(text):
		return Instruction
	case joined().MatchString(text), 2*strings.Count(text, "_") >= len(strings.Fields(text)), len(words) < fewestAligned && strings.Contains(text, "_"):
		return Identifier
	case len(words) < MinWords:
		return FewWords
	case (strings.ContainsAny(text, "[{<X_") || strings.Contains(plain, "insert")) && blank().MatchString(text):
		return Blank
	case answer().MatchString(text), strings.Contains(text, ": ") && assistant().MatchString(text):
		return Answer
	case remarkIn(text) != "":
		return Comment
	case described().MatchString(text):
		return Described
	case strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") || strings.HasSuffix(text, ","):
		return Unfinished
	case loops(words):
		return Loop
	case f.language != "" && len(words) >= languageWords && !slices.Contains([]string{"", f.language}, refusal.Language(text)):
		return OtherLanguage
	case slices.ContainsFunc(before, func(i Item) bool { return !i.Foreign() && i.Text != text && exchanged(wordsOf(i.Text), words) }):
		return Exchanged
	}
	return ""
}

// holds reports whether some words stand in a text. Nearly none do, which their beginning tells
// at less cost.
func holds(text, words string) bool {
	return strings.Contains(text, words[:min(len(words), 32)]) && strings.Contains(text, words)
}

// loops reports whether the same four words stand in a text three times.
func loops(words []string) bool {
	runs := map[[4]string]int{}
	for i := 0; i+4 <= len(words); i++ {
		runs[[4]string(words[i:i+4])]++
		if runs[[4]string(words[i:i+4])] == 3 {
			return true
		}
	}
	return false
}

// The bounds of exchanged.
const (
	// sameWords is the share of the longer text's words that stand in both, in one order.
	sameWords = 0.6
	// alignWords are the fewest and the most words of texts that are aligned. In shorter
	// ones a common frame is enough to make them alike.
	fewestAligned, mostAligned = 8, 200
)

// wordsOf are the normalized words of a text.
func wordsOf(text string) []string { return strings.Fields(similar.Normalize(text)) }

// exchanged reports whether two texts of some words are the same but for up to 40% of them: by
// their longest common subsequence.
func exchanged(x, y []string) bool {
	longer, shorter := max(len(x), len(y)), min(len(x), len(y))
	if shorter < fewestAligned || longer > mostAligned || float64(shorter) < sameWords*float64(longer) {
		return false
	}
	row := make([]int, len(y)+1)
	for _, w := range x {
		diagonal := 0
		for j, v := range y {
			above := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return float64(row[len(y)]) >= sameWords*float64(longer)
}
