package reply

import (
	"cmp"
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/model"
)

//go:embed *.json
var files embed.FS

// Entry is what every entry of a table has: where it is from, and since when it is known.
type Entry struct {
	Source string `json:"source"`
	Date   string `json:"date"`
}

// load reads a table. The tables are JSON, which takes a tenth of the time of YAML in each
// command.
func load[T any](name string) func() []T {
	return sync.OnceValue(func() []T {
		text, err := files.ReadFile(name)
		var all []T
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			panic("reply: " + name + ": " + err.Error()) // a test reads each
		}
		return all
	})
}

const (
	// First is the Date of a study that keeps none, since there was a single reading.
	First = "2026-11-01"
	// Present is the date of the newest entry of the tables.
	Present = "2026-12-01"
)

// Reading is what is known of replies at a date. The zero Reading is the present one.
type Reading struct {
	// Date is that of its newest entry; empty for Present.
	Date string
	// Blocks are texts that a user says stand for an answer that was withheld.
	Blocks []string
}

// knows reports whether an entry belongs to the reading.
func (r Reading) knows(e Entry) bool { return e.Date <= cmp.Or(r.Date, Present) }

// old reports whether it is the first reading, which reads thinking alone.
func (r Reading) old() bool { return r.Date == First }

// Answer reads the response of a target that is no guard: without thinking and what is around
// the text. Response.Read says what was done. It says of an older reading what the present one
// would do, too.
func (r Reading) Answer(response model.Response) model.Response {
	read := r.answer(response)
	if r.Date != "" && r.Date < Present {
		if now := (Reading{Blocks: r.Blocks}).answer(response); now.Read != nil && (read.Read == nil || now.Read.Done != read.Read.Done) {
			if read.Read == nil {
				read.Read = &model.Read{}
			}
			read.Read.Would = now.Read.Done
		}
	}
	return read
}

func (r Reading) answer(response model.Response) model.Response {
	stored := response.Text
	var did []string
	add := func(what string) {
		if what != "" && !slices.Contains(did, what) {
			did = append(did, what)
		}
	}
	text, thinking, form := r.Cut(stored)
	if form == "" && !r.old() && strings.TrimSpace(stored) == "" {
		// A server, or the first reading, took the answer for thinking, too.
		if thinking, text, form = r.lone(response.Thinking, forms()); form != "" {
			response.Thinking, text = "", strings.TrimLeft(text, space)
		} else {
			text = stored
		}
	}
	if form != "" {
		add("thinking (" + form + ")")
		response.Thinking = strings.Trim(response.Thinking+"\n"+thinking, "\n")
	} else if text != stored {
		add("marks of a chat template")
	}
	missing, ask := "", ""
	if !r.old() || len(r.Blocks) > 0 {
		block := r.withheld(text)
		if !r.old() && block == nil {
			inner, dress := Unwrap(text)
			if inner != text {
				block = r.withheld(inner)
			}
			if block == nil && response.Finish != model.Blocked {
				if missing = Missing(text, response); missing == "" && dress != "" {
					missing = Missing(inner, response)
				}
			}
			if block == nil && missing == "" && dress != "" {
				add("unwrapped (" + dress + ")")
				text = inner
			}
		}
		switch {
		case response.Finish == model.Blocked && !r.old() && response.Block != nil && response.Block.Kind == model.OutputFilter && half(text):
			add("cut by a filter (" + response.Block.Detail + ")")
		case response.Finish == model.Blocked || block == nil:
		default:
			response.Finish, response.Block = model.Blocked, block
			add("withheld (" + block.Detail + ")")
		}
		if missing != "" {
			add("no answer (" + missing + ")")
		}
		if !r.old() && missing == "" && response.Finish != model.Blocked {
			if ask = odd(text); ask == "" && response.Finish == model.OtherFinish && half(text) {
				ask = "unknown: how the answer ended"
			}
			add(ask)
		}
	}
	if len(did) > 0 || text != stored {
		response.Read = &model.Read{Stored: stored, Done: strings.Join(did, "; "), Missing: missing}
	}
	response.Text = text
	return response
}

// half reports whether a text ends within a sentence.
func half(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "*_)]\"'”’ \n"))
	return unicode.IsLetter(last) || last == ','
}

// odd names what is left in a text that no table knows; empty for nothing.
func odd(text string) string {
	switch trimmed := strings.TrimSpace(text); {
	case special.MatchString(trimmed):
		return "unknown: special tokens in the text"
	case strings.HasPrefix(trimmed, `{"`) && strings.HasSuffix(trimmed, "}") && isObject(trimmed):
		return "unknown: JSON of no known form"
	}
	return ""
}

// special is a token of a chat template that no tokenizer should have let through.
var special = regexp.MustCompile(`<[|｜][A-Za-z0-9_▁]{2,40}[|｜]>`)

// Reply reads the text of a model that was asked a question, such as a judge: without thinking
// and the marks of a chat template, and with the colons, underscores and spaces that it was asked
// for where it has others like them.
func (r Reading) Reply(text string) string {
	if text, _, _ = r.Cut(text); r.old() {
		return text
	}
	text = plain.Replace(text)
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	return invisible.ReplaceAllString(spaces.ReplaceAllString(text, " "), "")
}

var invisible, spaces = regexp.MustCompile(`\p{Cf}`), regexp.MustCompile(`\p{Zs}`)

// plain has what models write in place of the characters of a form.
var plain = strings.NewReplacer("：", ":", "﹕", ":", `\_`, "_", "＿", "_")

// Kept parts a text as it is kept from the thinking that the first reading knows. Labels are on
// such texts.
func Kept(text string) (answer, thinking string) {
	answer, thinking, _ = Reading{Date: First}.Cut(text)
	return answer, thinking
}
