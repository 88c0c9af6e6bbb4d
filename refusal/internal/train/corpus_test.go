package train

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestOwn(t *testing.T) {
	rows, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	seen := map[string]string{}
	for _, row := range rows {
		if row.Refused {
			refused++
		}
		if row.Answer == "" || row.Set == "own" && strings.ContainsAny(row.Answer, "{}|") {
			t.Errorf("%s: answer %q", row.ID, row.Answer)
		}
		key := row.Prompt + "|" + row.Answer
		if seen[key] != "" {
			t.Errorf("%s repeats %s", row.ID, seen[key])
		}
		seen[key] = row.ID
	}
	t.Logf("%d examples, %d refusals", len(rows), refused)
	if share := float64(refused) / float64(len(rows)); share < 0.4 || share > 0.6 {
		t.Errorf("%.2f of the examples refuse, want about a half", share)
	}
}

// TestRead reads what each kind of file says: a label, none, or a share of raters.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		source Source
		text   string
		want   []LabeledAnswer
		fault  string
	}{
		{Sources[0], "id,type,prompt,completion,a1,a2,final_label\nv1,t,p,\"a\nb\",x,y,3_partial_refusal\nv2,t,q,c,x,y,1_full_compliance\n", []LabeledAnswer{
			{Set: "XSTest", Model: "Llama-2-70b", Group: "t", Prompt: "p", Answer: "a\nb", Refused: true, Clear: true},
			{Set: "XSTest", Model: "Llama-2-70b", Group: "t", Prompt: "q", Answer: "c", Clear: true},
		}, ""},
		{Sources[4], "model,prompt,response,action,label\nm,p,a,0,refused\nm,q,b,2,\n", []LabeledAnswer{
			{Set: "Do-Not-Answer", Model: "m", Prompt: "p", Answer: "a", Refused: true, Clear: true},
		}, ""},
		{Sources[5], "set,model,prompt,response,answer_rate,prompt_toxic_rate,label\ns,m,p,a,0.1,0.5,refused\ns,m,q,b,0.6,0.5,answered\n", []LabeledAnswer{
			{Set: "ORFuzz", Model: "m", Group: "s", Prompt: "p", Answer: "a", Refused: true, Clear: true},
			{Set: "ORFuzz", Model: "m", Group: "s", Prompt: "q", Answer: "b"},
		}, ""},
		{Sources[0], "id,prompt\n1,p\n", nil, "want a column completion"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.source.File), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := c.source.Read(dir)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error %v, want …%s…", err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i].ID = ""
		}
		if !reflect.DeepEqual(rows, c.want) {
			t.Errorf("%s: read %+v, want %+v", c.source.File, rows, c.want)
		}
	}
}
