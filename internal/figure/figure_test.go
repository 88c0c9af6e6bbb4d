package figure_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

// TestMeanings has a meaning for each measure.
func TestMeanings(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "measure.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	measures := 0
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if v.Type.(*ast.Ident).Name != "Measure" {
				continue
			}
			measures++
			name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if m := figure.Meanings[figure.Measure(name)]; err != nil || m.Title == "" || m.Unit == "" || !strings.HasSuffix(m.About, ".") {
				t.Errorf("%s means %+v", name, m)
			}
		}
	}
	if measures != len(figure.Meanings) {
		t.Errorf("%d measures have %d meanings", measures, len(figure.Meanings))
	}
}

// TestTouches has warnings about a target, a judge and a dataset.
func TestTouches(t *testing.T) {
	t.Parallel()
	f := figure.PartOf(figure.OverRefusal, figure.Keys{Target: "a", Dataset: "d", DatasetSHA256: "00", Limit: 3, Label: orbench.Safe, Category: "c", Judge: "lexical"}, 1, 1, nil)
	for k, want := range map[figure.Keys]bool{
		{Target: "a", Dataset: "d", Label: orbench.Safe}: true,
		{Dataset: "d"}: true,
		{Target: "a", Dataset: "d", Label: orbench.Safe, Judge: "lexical"}: true,
		{Judge: "lexical"}:                          true,
		{Target: "b", Dataset: "d"}:                 false,
		{Target: "a", Dataset: "d", Judge: "llm:x"}: false,
	} {
		if got := k.Touches(&f); got != want {
			t.Errorf("%+v touches the figure: %t", k, got)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	f := figure.PartOf(figure.OverRefusal, figure.Keys{}, 10, 2, &stats.Estimate{Value: 0.2, Lo: 0.1, Hi: 0.4})
	if got := f.Shown(); *got != (stats.Estimate{Value: 0.2, Lo: 0.1, Hi: 0.4}) {
		t.Errorf("without a range %+v", got)
	}
	f.Range = &stats.Interval{Lo: 0, Hi: 0.7}
	if got := f.Shown(); got.Hi != 0.7 || f.Sampled().Hi != 0.4 {
		t.Errorf("with a range %+v", got)
	}
	f.Checked, f.Labels = figure.Here, 60
	if f.Basis.String() != "checked here (60 labels)" {
		t.Error(f.Basis.String())
	}
}
