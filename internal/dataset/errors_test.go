package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// TestBadFiles holds each fault to one line with the place and the mend.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", dataset.MaxCell+1)
	var b strings.Builder
	for i := range 20_001 {
		fmt.Fprintf(&b, `,"n%d":0`, i)
	}
	names := b.String()[1:]
	for name, tc := range map[string]struct {
		file, content string
		opts          dataset.Options
		line          int
		want          []string
	}{
		"empty file":         {file: "a.csv", content: "", want: []string{"the file is empty"}},
		"header only":        {file: "a.csv", content: "prompt,label\n", want: []string{"no rows"}},
		"blank lines only":   {file: "a.csv", content: "\n\n\n", want: []string{"the file is empty"}},
		"no prompt column":   {file: "a.csv", content: "id,sentence\n1,x\n", line: 1, want: []string{`no prompt column among "id", "sentence"`, "`prompt-column`"}},
		"tools":              {file: "a.csv", content: "prompt,tools\nx,[]\ny,search\n", line: 3, want: []string{`"tools", which orbench cannot send yet`, `the prompt "` + string(orbench.PromptIDOf([]orbench.Message{{Role: orbench.User, Content: "y"}})), "delete the row"}},
		"comments":           {file: "a.csv", content: "# made by hand, of \"this\"\n#\nid,sentence\n1,x\n", line: 3, want: []string{`no prompt column among "id", "sentence"`}},
		"below comments":     {file: "a.csv", content: "# made by hand\nprompt,label\n\nx,fine\n", line: 4, want: []string{`unknown label "fine"`}},
		"missing column":     {file: "a.csv", content: "prompt,kategory\nx,a\n", opts: dataset.Options{Category: "category"}, line: 1, want: []string{`no column "category"`, `did you mean "kategory"?`}},
		"column far away":    {file: "a.csv", content: "prompt,b\nx,a\n", opts: dataset.Options{Label: "gold"}, line: 1, want: []string{`no column "gold"`, `the columns are "prompt", "b"`, "`label-column`"}},
		"two prompt columns": {file: "a.csv", content: "prompt,Prompt\nx,a\n", line: 1, want: []string{`two columns are named "Prompt"`}},
		"unknown label":      {file: "a.csv", content: "prompt,label\nx,safe\ny,fine\n", line: 3, want: []string{`unknown label "fine" in column "label"`, "safe, toxic, controversial or undecided"}},
		"no label":           {file: "a.csv", content: "prompt,label\nx,\n", line: 2, want: []string{`no label in column "label"`}},
		"hostile label":      {file: "a.csv", content: "prompt,label\nx,\x1b[2Jgone\n", line: 2, want: []string{`\x1b[2Jgone`}},
		"empty prompt":       {file: "a.csv", content: "prompt,label\n\" \t\",safe\n", line: 2, want: []string{`empty prompt in column "prompt"`, "delete the row"}},
		"short row":          {file: "a.csv", content: "prompt,label\nx,safe\ny\n", line: 3, want: []string{"different numbers of cells", "quote"}},
		"bare quote":         {file: "a.csv", content: "prompt\nsay \"x\" now\n", line: 2, want: []string{"quotation mark inside an unquoted cell"}},
		"open quote":         {file: "a.csv", content: "prompt\nx\n\"y\nz\n", line: 3, want: []string{"left open", "line 4"}},
		"quoted and more":    {file: "a.csv", content: "prompt\n\"a\" b\n", line: 2, want: []string{"quotation mark"}},
		"invalid UTF-8":      {file: "a.csv", content: "prompt\nok\ncaf\xe9\n", line: 3, want: []string{`invalid UTF-8 in column "prompt"`, "iconv"}},
		"invalid category":   {file: "a.csv", content: "prompt,category\nok,caf\xe9\n", line: 2, want: []string{`invalid UTF-8 in column "category"`}},
		"NUL byte":           {file: "a.csv", content: "prompt\na\x00b\n", line: 2, want: []string{"NUL byte"}},
		"UTF-16":             {file: "a.csv", content: "\xff\xfep\x00r\x00o\x00", want: []string{"UTF-16", "Excel", "iconv -f UTF-16"}},
		"big-endian UTF-16":  {file: "a.jsonl", content: "\xfe\xff\x00{\x00}", want: []string{"UTF-16"}},
		"workbook":           {file: "a.csv", content: "PK\x03\x04....", want: []string{"Excel workbook", "CSV UTF-8"}},
		"compressed":         {file: "a.csv", content: "\x1f\x8b\x08\x00", want: []string{"cannot unpack"}},
		"parquet as csv":     {file: "a.csv", content: "PAR1....", want: []string{".parquet"}},
		"long cell":          {file: "a.csv", content: "prompt\nok\n" + long + "\n", line: 3, want: []string{"1048577 bytes; the most is 1048576"}},
		"10 MB cell":         {file: "a.csv", content: "prompt\n\"two\nlines\"\n" + strings.Repeat(long, 10) + "\nok\n", line: 4, want: []string{"more than 4194304 bytes"}},
		"quote never closed": {file: "a.csv", content: "prompt\nok\n\"" + strings.Repeat("lines\n", 1<<20), line: 3, want: []string{"more than 4194304 bytes", "quotation mark"}},
		"long category":      {file: "a.csv", content: "prompt,category\nx," + strings.Repeat("c", 201) + "\n", line: 2, want: []string{"201 bytes", "`category-column`"}},
		"control character":  {file: "a.csv", content: "prompt,category\nx,a\x07\n", line: 2, want: []string{"control character"}},
		"default label":      {file: "a.csv", content: "prompt\nx\n", opts: dataset.Options{Default: "evil"}, want: []string{"label: ", `unknown label "evil"`}},

		"JSON array":        {file: "a.jsonl", content: "[{\"prompt\":\"x\"}]", line: 1, want: []string{"a JSON array", "jq -c"}},
		"JSON key twice":    {file: "a.jsonl", content: "{\"prompt\":\"x\"}\n{\"prompt\":\"y\",\"prompt\":\"z\"}\n", line: 2, want: []string{`"prompt" is there twice`, "remove one"}},
		"JSON inner twice":  {file: "a.jsonl", content: `{"messages":[{"role":"user","content":"x","content":"y"}]}`, line: 1, want: []string{`"content" is there twice`}},
		"JSON many names":   {file: "a.jsonl", content: "{\"prompt\":\"x\"}\n" + `{"prompt":"x","by":{` + names + "}}\n", line: 2, want: []string{"more than 20000 names in one row", "as a list"}},
		"JSON null":         {file: "a.jsonl", content: "null", line: 1, want: []string{"not a JSON object"}},
		"JSON cut":          {file: "a.jsonl", content: "{\"prompt\":\"x\"}\n\n{\"prompt\":\n", line: 3, want: []string{"malformed JSON"}},
		"JSON UTF-8":        {file: "a.jsonl", content: "{\"prompt\":\"caf\xe9\"}", line: 1, want: []string{"invalid UTF-8"}},
		"JSON NUL":          {file: "a.jsonl", content: `{"prompt":"a\u0000"}`, line: 1, want: []string{"NUL byte"}},
		"JSON row without":  {file: "a.jsonl", content: "{\"prompt\":\"x\"}\n{\"text\":\"y\"}\n", line: 2, want: []string{`no "prompt"`}},
		"JSON number":       {file: "a.jsonl", content: "{\"prompt\":7}", line: 1, want: []string{`"prompt" is not text`}},
		"JSON object":       {file: "a.jsonl", content: "{\"prompt\":{\"messages\":[]}}", line: 1, want: []string{"prompt.messages", "`prompt-column`"}},
		"JSON label number": {file: "a.jsonl", content: "{\"prompt\":\"x\",\"label\":1}", line: 1, want: []string{`"label" is not text`}},
		"JSON stray label":  {file: "a.jsonl", content: "{\"prompt\":\"x\"}\n{\"prompt\":\"y\",\"label\":\"toxic\"}", line: 2, want: []string{`a "label", but the first row has none`}},
		"JSON role":         {file: "a.jsonl", content: `{"messages":[{"role":"wizard","content":"x"}]}`, line: 1, want: []string{`role "wizard"`}},
		"JSON no user":      {file: "a.jsonl", content: `{"messages":[{"role":"system","content":"x"}]}`, line: 1, want: []string{"empty prompt"}},
		"JSON system later": {file: "a.jsonl", content: `{"prompt":"x"}` + "\n" + `{"messages":[{"role":"user","content":"x"},{"role":"system","content":"x"}]}`, line: 2, want: []string{"message 2 has the role system; only the first message can have it"}},
		"JSON user twice":   {file: "a.jsonl", content: `{"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}]}`, line: 1, want: []string{"messages 1 and 2 are both of the role user", "take turns"}},
		"JSON assistant":    {file: "a.jsonl", content: `{"messages":[{"role":"system","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"y"}]}`, line: 1, want: []string{"the assistant speaks first"}},
		"JSON answered":     {file: "a.jsonl", content: `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`, line: 1, want: []string{"the last message is not the user's", "a column of their own"}},
		"JSON empty turn":   {file: "a.jsonl", content: `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":" "},{"role":"user","content":"z"}]}`, line: 1, want: []string{"message 2, of the role assistant, is empty"}},
		"JSON tools":        {file: "a.jsonl", content: "{\"prompt\":\"x\",\"tools\":[]}\n{\"prompt\":\"y\",\"tools\":[{\"type\":\"function\"}]}", line: 2, want: []string{`the prompt "p`, `"tools", which`}},
		"JSON image":        {file: "a.json", content: `[{"prompt":"x","image":{"path":"a.png"}}]`, want: []string{"row 1: ", `"image", which`}},
		"JSON image part":   {file: "a.jsonl", content: `{"id":"q7","messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url"}]}]}`, line: 1, want: []string{`the prompt "q7" has "image_url"`}},
		"JSON tool calls":   {file: "a.jsonl", content: `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y","tool_calls":[{}]},{"role":"user","content":"z"}]}`, line: 1, want: []string{`the prompt has "tool_calls"`}},
		"JSON path":         {file: "a.jsonl", content: `{"turns":[{"text":"x"}]}`, opts: dataset.Options{Prompt: "turns[1].text"}, line: 1, want: []string{`no column "turns[1].text"`}},
		"JSON path ends":    {file: "a.jsonl", content: `{"turns":[{"text":"x"}]}` + "\n" + `{"turns":[]}`, opts: dataset.Options{Prompt: "turns[-1].text"}, line: 2, want: []string{`no "turns[-1].text"`}},
		"JSON inner labels": {file: "a.jsonl", content: `{"prompt":"x","meta":{"kind":"toxic"}}`, line: 1, want: []string{`"meta.kind" may be one`}},
		"JSON no messages":  {file: "a.jsonl", content: `{"messages":[]}`, line: 1, want: []string{"not a list of messages"}},
		"JSON parts":        {file: "a.jsonl", content: `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`, line: 1, want: []string{"not a list of messages"}},
		"JSON long line":    {file: "a.jsonl", content: "{\"prompt\":\"x\"}\n" + strings.Repeat(long, 10), line: 2, want: []string{"more than 4194304 bytes"}},
		"JSON blank":        {file: "a.jsonl", content: "\n  \n", want: []string{"the file is empty"}},

		"parquet garbage": {file: "a.parquet", content: "PAR1 not really PAR1", want: []string{"not a readable Parquet file"}},
		"parquet empty":   {file: "a.parquet", content: "", want: []string{"not a readable Parquet file"}},
		"array empty":     {file: "a.json", content: " [ ] ", want: []string{"the file is empty"}},
		"key twice":       {file: "a.json", content: `[{"prompt":"x"},{"prompt":"y","prompt":"z"}]`, want: []string{"row 2", `"prompt" is there twice`}},
		"many names":      {file: "a.json", content: `[{"prompt":"x"},{"prompt":"y",` + names + "}]", want: []string{"row 2: more than 20000 names in one row"}},
		"array of texts":  {file: "a.json", content: `["x"]`, want: []string{"row 1: not a JSON object"}},
		"array cut off":   {file: "a.json", content: `[{"prompt":"x"},`, want: []string{"after row 1", "ends too soon"}},
		"array and more":  {file: "a.json", content: `[{"prompt":"x"}] {}`, want: []string{"something follows the end"}},
		"array broken":    {file: "a.json", content: `[{"prompt":"x"} {"prompt":"y"}]`, want: []string{"malformed JSON after row 1"}},
		"array long row":  {file: "a.json", content: `[{"prompt":"x"},{"prompt":"` + strings.Repeat(long, 10) + `"}]`, want: []string{"row 2: more than 4194304 bytes"}},
		"JSON text":       {file: "a.json", content: `"prompt"`, want: []string{"neither a JSON array nor a JSON object"}},
		"excel ending":    {file: "a.xlsx", content: "PK", want: []string{`unknown file ending ".xlsx"`, "CSV UTF-8"}},
		"other ending":    {file: "a.md", content: "x", want: []string{`unknown file ending ".md"`, ".csv, .tsv"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, tc.file, tc.content)
			_, err := dataset.Open(t.Context(), path, tc.opts)
			wantFault(t, err, path, tc.line, tc.want)
		})
	}
}

// TestBesideText refuses what Parquet files hold beside text, and reads an empty column.
func TestBesideText(t *testing.T) {
	t.Parallel()
	type nested struct {
		Prompt string   `parquet:"prompt"`
		Images []string `parquet:"images"`
	}
	path := parquetFile(t, []nested{{"x", []string{"a.png"}}})
	_, err := dataset.Open(t.Context(), path, dataset.Options{})
	wantFault(t, err, path, 0, []string{`column "images" holds nested values, which orbench cannot send yet`, "leave it out"})
	type plain struct {
		Prompt string `parquet:"prompt"`
		Tools  string `parquet:"tools,optional"`
	}
	path = parquetFile(t, []plain{{"x", ""}, {"y", "null"}})
	if d, err := dataset.Open(t.Context(), path, dataset.Options{}); err != nil || d.Count != 2 {
		t.Errorf("without tools: %v, %v", d, err)
	}
	path = parquetFile(t, []plain{{"x", ""}, {"y", `[{"name":"search"}]`}})
	_, err = dataset.Open(t.Context(), path, dataset.Options{})
	wantFault(t, err, path, 0, []string{`row 2: the prompt "p`, `has "tools", which orbench cannot send yet`})
}

// wantFault checks an error's kind, place and words.
func wantFault(t *testing.T, err error, path string, line int, want []string) {
	t.Helper()
	var input *orbench.InputError
	if !errors.As(err, &input) {
		t.Fatalf("got %v (%T), want an input error", err, err)
	}
	text := err.Error()
	if input.File != path && input.Setting == "" || input.Line != line {
		t.Errorf("place %s:%d, want %s:%d (%s)", input.File, input.Line, path, line, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not contain %q", text, w)
		}
	}
	if input.Hint == "" {
		t.Errorf("%q has no mend", text)
	}
	if strings.ContainsAny(text, "\n\x1b\x00") || len(text) > 600+len(path) {
		t.Errorf("not one clear line: %q", text)
	}
}

func TestBadParquet(t *testing.T) {
	t.Parallel()
	type numbered struct {
		Prompt string `parquet:"prompt"`
		Label  int32  `parquet:"label"`
	}
	type nested struct {
		Prompt []string `parquet:"prompt,list"`
	}
	good := parquetFile(t, []parquetFull{{Prompt: "x", Label: "safe"}, {Prompt: "y", Label: "safe"}})
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(string(content))
	copy(damaged[4:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	for name, tc := range map[string]struct {
		path string
		want []string
	}{
		"number as label": {parquetFile(t, []numbered{{"x", 1}}), []string{`column "label"`, "not text"}},
		"nested prompt":   {parquetFile(t, []nested{{[]string{"x"}}}), []string{`column "prompt" holds a nested value`}},
		"unknown label":   {parquetFile(t, []parquetFull{{Prompt: "x", Label: "safe"}, {Prompt: "y", Label: "?"}}), []string{"row 2", "unknown label"}},
		"damaged":         {file(t, "d.parquet", string(damaged)), []string{"not a readable Parquet file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dataset.Open(t.Context(), tc.path, dataset.Options{})
			wantFault(t, err, tc.path, 0, tc.want)
		})
	}
}

func TestBadRefs(t *testing.T) {
	t.Parallel()
	near := file(t, "prompts.csv", "prompt\nx\n")
	folder := filepath.Dir(near)
	for name, tc := range map[string]struct{ ref, want string }{
		"unknown name": {"nonsense", "the names are starter, or-bench-80k"},
		"near name":    {"or-bench-hard1k", "did you mean or-bench-hard-1k?"},
		"not pulled":   {"xstest", "orbench dataset pull xstest"},
		"folder":       {folder, "a folder"},
		"no such file": {filepath.Join(folder, "other-things.csv"), "no such file"},
		"near file":    {filepath.Join(folder, "promts.csv"), "did you mean \"" + near + "\"?"},
		"no folder":    {filepath.Join(folder, "no", "x.csv"), "no such file"},
		"empty":        {"", "no dataset and no file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dataset.Open(t.Context(), tc.ref, dataset.Options{Cache: t.TempDir()})
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an input error with %q", err, tc.want)
			}
		})
	}
	csvFolder := filepath.Join(t.TempDir(), "folder.csv")
	if err := os.Mkdir(csvFolder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Open(t.Context(), csvFolder, dataset.Options{}); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a folder named .csv: got %v", err)
	}
}
