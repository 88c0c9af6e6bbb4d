package sheet_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/sheet"
)

func TestRead(t *testing.T) {
	t.Parallel()
	want := []sheet.TextRow{{Line: 2, Cells: []string{"1", "a, b"}}, {Line: 3, Cells: []string{"2", "=c"}}}
	for _, test := range []struct{ name, file, text, fault string }{
		{name: "commas", file: "s.csv", text: "id,text\n1,\"a, b\"\n2,'=c\n"},
		{name: "semicolons and a mark", file: "s.csv", text: "\ufeffid;text\r\n1;a, b\r\n2;=c\r\n"},
		{name: "tabs", file: "s.csv", text: "id\ttext\n1\ta, b\n2\t=c\n"},
		{name: "lines", file: "s.jsonl", text: "\n{\"id\":1,\"text\":\"a, b\"}\n{\"id\":\"2\",\"text\":\"=c\"}\n"},
		{name: "nothing", file: "s.csv", fault: "s.csv: the file is empty; give a table with labels"},
		{name: "a header", file: "s.csv", text: "id,text\n", fault: "s.csv: the file has no rows below the header; give a table with labels"},
		{name: "a short row", file: "s.csv", text: "id,text\n1\n", fault: "s.csv:2: the row and the header have different numbers of cells; put texts with commas between quotation marks"},
		{name: "a workbook", file: "s.csv", text: "PK\x03\x04\x00", fault: "s.csv: the file is a workbook or UTF-16 text; save it as \"CSV UTF-8\""},
		{name: "no object", file: "s.jsonl", text: "{}\n[1]\n", fault: "s.jsonl:2: the line is no JSON object; correct it"},
	} {
		got, err := sheet.Read(test.file, strings.NewReader(test.text))
		if fault := fmt.Sprint(err); test.fault != "" && fault != test.fault {
			t.Errorf("%s: %s, want %s", test.name, fault, test.fault)
		}
		if test.fault != "" {
			continue
		}
		if err != nil || !reflect.DeepEqual(got.Header, []string{"id", "text"}) || !reflect.DeepEqual(got.Rows, want) {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if got.Column("TEXT", "id") != 1 || got.Column("other") != -1 {
			t.Errorf("%s: columns are not found", test.name)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	header := []string{"id", "text"}
	rows := [][]string{{"1", "=a"}, {"2", "'=b"}, {"3", "two\nlines \u2028 \U0001F642"}}
	for _, jsonLines := range []bool{false, true} {
		var b bytes.Buffer
		if err := sheet.Write(&b, jsonLines, header, rows); err != nil {
			t.Fatal(err)
		}
		if !jsonLines && strings.Contains(b.String(), ",=") {
			t.Errorf("a spreadsheet would compute a cell of %q", b.String())
		}
		file := map[bool]string{false: "s.csv", true: "s.jsonl"}[jsonLines]
		s, err := sheet.Read(file, &b)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range s.Rows {
			if !reflect.DeepEqual(row.Cells, rows[i]) {
				t.Errorf("%s: %q, want %q", file, row.Cells, rows[i])
			}
		}
	}
}
