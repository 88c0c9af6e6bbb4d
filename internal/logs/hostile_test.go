package logs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/table"
)

// TestOddLogs refuses what is no log in one clear line, or reads what there is of one.
func TestOddLogs(t *testing.T) {
	t.Parallel()
	const good = `{"prompt":"a","response":"b"}` + "\n"
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	var wide strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&wide, `"k%d":1,`, i)
	}
	for name, c := range map[string]struct {
		text, want string
		// exchanges are read if nothing is wanted.
		exchanges int
	}{
		"nothing":               {"", "the file is empty", 0},
		"blank lines":           {"\n\n \n", "no message of a user is found", 0},
		"NUL bytes":             {strings.Repeat("\x00", 5000), "no message of a user is found", 0},
		"a NUL byte in a text":  {"{\"prompt\":\"a\x00\",\"response\":\"b\"}\n", "malformed JSON", 0},
		"UTF-16":                {"\xff\xfe{\x00\"\x00", "the file is UTF-16 text", 0},
		"a byte order mark":     {"\xef\xbb\xbf" + good, "", 1},
		"one in CSV":            {"\xef\xbb\xbfprompt,response\na,b\n", "", 1},
		"a number":              {"7\n", "no message of a user is found", 0},
		"a string":              {"\"x\"\n", "no message of a user is found", 0},
		"null":                  {"null\n", "no message of a user is found", 0},
		"numbers":               {"[1,2]", "not a JSON object", 0},
		"a list in a list":      {"[[1]]", "not a JSON object", 0},
		"no rows":               {"[]", "the file is empty", 0},
		"an empty row":          {"{}\n", "no message of a user is found", 0},
		"an empty row first":    {"{}\n" + good, "", 1},
		"cut in a string":       {good + `{"prompt":"a`, "standard input:2: malformed JSON", 0},
		"cut in an escape":      {good + `{"prompt":"a\u00`, "standard input:2: malformed JSON", 0},
		"half a surrogate":      {`{"prompt":"\ud800","response":"b"}`, "", 1},
		"deep objects":          {deep, "exceeded max depth", 0},
		"deep lists":            {strings.Repeat("[", 200_000), "exceeded max depth", 0},
		"a deep message":        {`{"prompt":` + deep + `,"response":"b"}`, "exceeded max depth", 0},
		"deep lists in a text":  {`{"messages":"` + strings.Repeat("[", 100_000) + `","response":"b"}`, "", 1},
		"two rows in a line":    {`{"prompt":"a","response":"b"}{"prompt":"c","response":"d"}`, "", 2},
		"a comma after a row":   {`{"prompt":"a","response":"b"},` + "\n" + good, "malformed JSON after row 1", 0},
		"NaN":                   {`{"prompt":"a","response":"b","x":NaN}`, "", 1},
		"single quotes":         {`{'prompt':'a','response':'b'}`, "malformed JSON", 0},
		"a comment":             {"# log\n" + good, "standard input:2: a quotation mark inside an unquoted cell", 0},
		"a page to sign in":     {"<html><body>Sign in</body></html>", "a web page, and no data", 0},
		"an error page inside":  {good + "<html>", "standard input:2: malformed JSON", 0},
		"an open quote":         {"prompt,response\n\"a,b\n", "standard input:2: a quotation mark is left open", 0},
		"too many cells":        {"prompt,response\na,b,c,d\n", "different numbers of cells", 0},
		"too few cells":         {"prompt,response\na\n", "different numbers of cells", 0},
		"a header alone":        {"prompt,response\n", "no message of a user is found", 0},
		"no reply column":       {"prompt,prompt\na,b\n", "no reply is found", 0},
		"no names":              {",,\na,b,c\n", "no message of a user is found", 0},
		"lines of old Macs":     {"prompt,response\ra,b\r", "", 1},
		"50,000 columns":        {strings.Repeat("c,", 50_000) + "prompt,response\n" + strings.Repeat("1,", 50_000) + "a,b\n", "", 1},
		"30,000 names":          {"{" + wide.String() + `"prompt":"a","response":"b"}`, "more than 20000 names in one row", 0},
		"60,000 messages":       {`{"messages":[` + strings.Repeat(`{"role":"user","content":"a"},`, 60_000) + `{}],"response":"b"}`, "more than 20000 names in one row", 0},
		"garbage after gzip":    {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage", "cannot unpack the file", 0},
		"a SQLite file":         {"SQLite format 3\x00" + strings.Repeat("\x00\x01", 100), "no message of a user is found", 0},
		"an image":              {"\x89PNG\r\n\x1a\n\x00\x00", "no message of a user is found", 0},
		"a PDF":                 {"%PDF-1.7\n%\xe2\xe3", "no message of a user is found", 0},
		"a system log":          {"Nov 24 10:00:00 host app: hello\n", "no message of a user is found", 0},
		"YAML":                  {"- prompt: a\n  response: b\n", "no message of a user is found", 0},
		"numbers for texts":     {`{"prompt":7,"response":8}`, "", 1},
		"no message in a row":   {`{"prompt":null,"response":"b"}` + "\n" + good, "", 1},
		"a message without who": {`{"messages":[{"content":"a"}],"response":"b"}`, "", 1},
		"a reply of no choices": {good + `{"prompt":"a","response":{"choices":[]}}`, "", 1},
		"a number too large":    {`{"prompt":"a","response":"b","created":1e999}`, "", 1},
		"spans that are none":   {`{"resourceSpans":[{"scopeSpans":[{"spans":[7]}]}]}`, "not in the form of this log", 0},
		"no spans":              {`{"resourceSpans":[]}`, "the file is empty", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, err := Read(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(c.text)})
			if c.want == "" {
				if err != nil || r.Exchanges != c.exchanges {
					t.Errorf("%d exchanges, %v; want %d", r.Exchanges, err, c.exchanges)
				}
				return
			}
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if strings.ContainsFunc(err.Error(), unicode.IsControl) || len(err.Error()) > 500 {
				t.Errorf("not one clear line: %.600q", err)
			}
		})
	}
}

// attacks are texts that try to be more than text on a terminal, in a page, in Markdown or in
// a spreadsheet.
var attacks = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "<svg onload=alert(1)>", "javascript:alert(1)", "[a](javascript:alert(1))", "![a](https://example.com/x.png)",
	"<style>*{display:none}</style>", "\x1b[2J\x1b]0;title\x07", "\x1b]8;;https://example.com\x07here\x1b]8;;\x07", "\u009b31m", "a\u202eb\u2066c", "a\u200bb\ufeff",
	"=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1", "a|b\n|---|---|", "# head\n---\n", "`code` **bold**", "a\r\nb: c", "${jndi:x}", "{{7*7}}", "%s%n",
}

// TestAttacks puts attacks into every field of a log and looks at every output: there is no
// control character, no markup that is alive, no formula, and the tables keep their form.
func TestAttacks(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	for i, attack := range attacks {
		for j := range 6 {
			// The reply is a fixed text, which is shown; the words of messages are shown too.
			row := map[string]string{
				"prompt": fmt.Sprintf("%s alpha%d beta%[2]d gamma%[2]d delta%[2]d", attack, 7*i+j), "response": attack + " I'm sorry, but I can't help with that.", "user": attack, "timestamp": attack,
				"model": attack, "template": "", "guard": "ok", "finish_reason": attack, "guard_score": "0.5",
			}
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			log.Write(append(line, '\n'))
		}
	}
	looks, result, notes, err := Draw(t.Context(), []string{"-"}, Options{Stdin: bytes.NewReader(log.Bytes())}, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Fixed) < mostTexts || len(result.Models) < 20 {
		t.Fatalf("%d fixed texts and %d models; the attacks are not shown", len(result.Fixed), len(result.Models))
	}
	for i := range looks {
		looks[i].Refused, looks[i].Answerable = Yes, Yes
	}
	wrong := Rate(looks)
	clean := func(name, out string) {
		t.Helper()
		for i, r := range out {
			if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Cf, r) {
				t.Errorf("%s has %q in %q", name, r, out[max(0, i-30):min(len(out), i+30)])
				return
			}
		}
	}
	for _, note := range notes {
		clean("a note", note)
	}
	for name, view := range map[string]table.View{"figures": result, "report": wrong} {
		written := map[string]string{}
		for _, format := range []table.Format{table.AsText, table.AsMarkdown, table.AsCSV, table.AsJSON, table.AsLaTeX} {
			var out bytes.Buffer
			if err := format.Write(&out, table.Screen{}, view); err != nil {
				t.Fatal(err)
			}
			written[format.Name] = out.String()
		}
		clean(name, written["text"])
		clean(name+" in Markdown", written["md"])
		clean(name+" in LaTeX", written["latex"])
		for _, alive := range alive {
			if found := alive.FindString(written["md"]); found != "" {
				t.Errorf("%s in Markdown: %q is markup", name, found)
			}
		}
		cells, err := csv.NewReader(strings.NewReader(written["csv"])).ReadAll()
		if err != nil {
			t.Errorf("%s in CSV: %v", name, err)
		}
		noFormula(t, cells)
		if !json.Valid([]byte(written["json"])) || strings.ContainsAny(written["json"], "\x1b\x00\x07") {
			t.Errorf("%s in JSON is damaged", name)
		}
	}
	path := filepath.Join(t.TempDir(), "sheet.csv")
	for i := range looks {
		looks[i].Refused = ""
	}
	if err := folder.WritePrivate(path, false, func(w io.Writer) error { return WriteLooks(w, path, looks) }); err != nil {
		t.Fatal(err)
	}
	opened, err := OpenSheet(path, "ana")
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	keep := func(a orbench.Annotation) error { return opened.Annotate(t.Context(), []orbench.Annotation{a}) }
	queue := annotation.NewQueue(opened.Entries(), annotation.NewWords(nil), "ana", orbench.Blind)
	if err := annotation.Sit(queue, annotation.Sitting{In: strings.NewReader(strings.Repeat("rs", len(looks))), Out: &said, Keep: keep}); err != nil {
		t.Fatal(err)
	}
	clean("the screen of looks", said.String())
	var sheet bytes.Buffer
	if err := WriteLooks(&sheet, "sheet.csv", looks); err != nil {
		t.Fatal(err)
	}
	cells, err := csv.NewReader(&sheet).ReadAll()
	if err != nil || len(cells) != len(looks)+1 {
		t.Fatalf("%d rows, %v", len(cells), err)
	}
	noFormula(t, cells[1:])
}

// alive are markup that is more than text in Markdown.
var alive = []*regexp.Regexp{
	regexp.MustCompile(`(^|[^\\])<[a-zA-Z/!]`), regexp.MustCompile(`(^|[^\\])\]\(`), regexp.MustCompile(`(^|[^\\])\*\*bold`), regexp.MustCompile("(^|[^\\\\])`code"), regexp.MustCompile(`(?m)^(# head|---$)`),
}

// noFormula holds cells to be no formulas of a spreadsheet.
func noFormula(t *testing.T, rows [][]string) {
	t.Helper()
	for _, row := range rows {
		for _, cell := range row {
			_, err := strconv.ParseFloat(cell, 64)
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && err != nil {
				t.Errorf("a spreadsheet would compute %.40q", cell)
			}
		}
	}
}
