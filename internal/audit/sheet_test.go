package audit_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
)

func TestReadSheet(t *testing.T) {
	t.Parallel()
	id := orbench.NewPrompt("=1+1", "", "").ID
	for name, tt := range map[string]struct {
		text   string
		others []string
		want   audit.Sheet
	}{
		"of one rater": {
			"id,prompt,category,label\np1,a text,hate, Safe \np2,,,\n", nil,
			audit.Sheet{People: []string{"ana"}, Rows: []audit.LabeledRow{
				{Line: 2, ID: "p1", Category: "hate", Labels: map[string]orbench.Label{"ana": orbench.Safe}},
				{Line: 3, ID: "p2", Labels: map[string]orbench.Label{}},
			}},
		},
		"of several, as Excel may save it": {
			"\xef\xbb\xbfID;Rater:Ben;moderator:a/b;Ensemble;notes\r\np1;harmful;borderline;undecided;hm\r\n", nil,
			audit.Sheet{People: []string{"Ben"}, Moderators: []string{"a/b"}, Ensemble: true, Rows: []audit.LabeledRow{
				{Line: 2, ID: "p1", Labels: map[string]orbench.Label{"Ben": orbench.Toxic, "a/b": orbench.Controversial, "ensemble": orbench.Undecided}},
			}},
		},
		"a truth from elsewhere": {
			"id\tgold\tlabel\np1\tsafe\ttoxic\n",
			[]string{"gold", "label"},
			audit.Sheet{Others: []string{"gold", "label"}, Rows: []audit.LabeledRow{
				{Line: 2, ID: "p1", Labels: map[string]orbench.Label{"gold": orbench.Safe, "label": orbench.Toxic}},
			}},
		},
		"the ID from the prompt": {
			"prompt,label\n'=1+1,safe\n", nil,
			audit.Sheet{People: []string{"ana"}, Rows: []audit.LabeledRow{
				{Line: 2, ID: id, Labels: map[string]orbench.Label{"ana": orbench.Safe}},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := audit.ReadSheet("some/ana.csv", strings.NewReader(tt.text), tt.others)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.SHA256) != 64 {
				t.Errorf("the hash is %q", got.SHA256)
			}
			tt.want.File, tt.want.SHA256 = "some/ana.csv", got.SHA256
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadSheetRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                          "x.csv: the file is empty; ",
		"id,label\n":                                "x.csv: the file has no rows below the header; ",
		"label\nsafe\n":                             "x.csv:1: there is no column id and no column prompt; ",
		"id,label\np1,safe\np2,Maybe\n":             `x.csv:3: x's label is "Maybe"; write safe, toxic or controversial`,
		"id,label\np1,undecided\n":                  `x.csv:2: x's label is "undecided", which is for moderators; `,
		"id,label\n\"p1\",safe\n\np1,safe\n":        "x.csv:4: the prompt p1 is already in line 2; ",
		"id,label\n,safe\n":                         "x.csv:2: the row has no id and no prompt; ",
		"id,label\np1,safe,toxic\n":                 "x.csv:2: the row and the header have different numbers of cells; ",
		"id,label\np1,\"safe\n":                     "x.csv:2: not CSV: ",
		"id,rater:a,rater:a\np1,safe,safe\n":        "x.csv:1: the columns 2 and 3 are both a's; ",
		"id,rater: \np1,safe\n":                     `x.csv:1: the column "rater:" does not name a person; `,
		"id,id,label\np1,p2,safe\n":                 "x.csv:1: the columns 1 and 2 are both id's; ",
		"PK\x03\x04\x00\x00id,label":                "x.csv: the file is a workbook or UTF-16 text; ",
		"id,label\np1," + strings.Repeat("x", 9999): `x.csv:2: x's label is "` + strings.Repeat("x", 40) + `"…; `,
	} {
		_, err := audit.ReadSheet("x.csv", strings.NewReader(text), nil)
		if !errors.Is(err, orbench.ErrInput) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: the error is %v, want %s", text, err, want)
		}
	}
}

func TestSheetIsBlindAndDisarmed(t *testing.T) {
	t.Parallel()
	items := []audit.Item{{
		ID: "p1", Prompt: "=1+1", Category: "@x", Decision: orbench.Toxic,
		Votes: map[string]orbench.Label{"a/b": orbench.Safe},
	}}
	var b bytes.Buffer
	if err := audit.WriteSheet(&b, items, nil); err != nil || b.String() != "id,prompt,category,label\np1,'=1+1,'@x,\n" {
		t.Errorf("wrote %q, %v", b.String(), err)
	}
	b.Reset()
	if err := audit.WriteSheet(&b, items, []string{"ana", "ben"}); err != nil || b.String() != "id,prompt,category,rater:ana,rater:ben\np1,'=1+1,'@x,,\n" {
		t.Errorf("wrote %q, %v", b.String(), err)
	}
}

func TestCheckRaters(t *testing.T) {
	t.Parallel()
	if err := audit.CheckRaters([]string{"ana", "worker 1", "Zoë"}); err != nil {
		t.Error(err)
	}
	for _, names := range [][]string{{""}, {" a"}, {"a(b"}, {"a,b"}, {"a\nb"}, {"ensemble"}, {"label"}, {"a", "a"}} {
		if err := audit.CheckRaters(names); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%q: the error is %v", names, err)
		}
	}
}

// FuzzSheet checks that every text comes back from a written sheet by its ID,
// and that no cell starts like a formula.
func FuzzSheet(f *testing.F) {
	for _, s := range []string{"a", "=1+1", "'=1+1", "''=1", "'a", " +x", "\t@x", "a,b\"c\nd", "－1", "-", "'", "\x00=", "\u200b=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Line ends within a cell are the one thing that CSV does not keep, and a
		// blank text is no prompt.
		if strings.Contains(text, "\r") || strings.TrimSpace(text) == "" {
			t.Skip()
		}
		var b bytes.Buffer
		if err := audit.WriteSheet(&b, []audit.Item{{Prompt: text}}, nil); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if cell := strings.TrimLeft(rows[1][1], " \t\n\v\f\u00a0\u200b\ufeff\x00"); strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") || strings.HasPrefix(cell, "@") {
			t.Errorf("the cell %q starts a formula", rows[1][1])
		}
		sheet, err := audit.ReadSheet("x.csv", bytes.NewReader(b.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sheet.Rows[0].ID, orbench.NewPrompt(text, "", "").ID; got != want {
			t.Errorf("%q came back as another text", text)
		}
	})
}

// FuzzReadSheet checks that any file is either read or rejected with its name.
func FuzzReadSheet(f *testing.F) {
	for _, s := range []string{"id,label\np1,safe\n", "prompt;rater:a;ensemble\nx;toxic;undecided\n", "\xef\xbb\xbfid\tmoderator:a/b\np1\tsafe\n", "id,label\n\"", "PK\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sheet, err := audit.ReadSheet("x.csv", bytes.NewReader(data), []string{"truth"})
		if err != nil {
			if !errors.Is(err, orbench.ErrInput) || !strings.HasPrefix(err.Error(), "x.csv:") {
				t.Errorf("the error is %v", err)
			}
			return
		}
		if len(sheet.Rows) == 0 {
			t.Error("a sheet without rows was read")
		}
		for _, row := range sheet.Rows {
			if row.ID == "" || row.Line < 2 {
				t.Errorf("a row is %+v", row)
			}
		}
	})
}
