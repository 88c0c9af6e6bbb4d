package pair_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/pair"
)

func svgOf(t *testing.T, figures []pair.Figures) string {
	t.Helper()
	f, ok := pair.Plot(figures, "lexical")
	if !ok {
		t.Fatal("nothing to draw")
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlot(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 12 {
		kind := []string{"first", "second"}[i%2]
		lines = append(lines, fmt.Sprintf("safe %d %c,%s,safe,%d", i, "AARA"[i%4], kind, i), fmt.Sprintf("toxic %d R,contrast,toxic,%d", i, i))
	}
	one := count(t, design(1, newDataset(t, "one", lines...)), scripted)
	svg := svgOf(t, one)
	for _, want := range []string{">p/m<", ">first<", ">second<", ">9<", ">3<", ">told apart<", "12, J 0.75 [0.3", ">6, J 1.00"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the plot has no %s", want)
		}
	}
	if strings.Contains(svg, "SIMULATED") || strings.Contains(svg, "p/m, one") {
		t.Error("the plot is of one real target on one dataset")
	}
	// With many targets there are no bars for types.
	many := one
	for range 30 {
		many = append(many, one[0])
	}
	many[1].Simulated, many[2].SafeDataset = true, "<other>"
	svg = svgOf(t, many)
	if strings.Contains(svg, ">first<") || !strings.Contains(svg, "62 more targets and types are in the tables") || !strings.Contains(svg, "SIMULATED") || !strings.Contains(svg, "p/m, &lt;other") {
		t.Error("31 targets have bars for their types, or the plot does not say what is simulated or where from")
	}
	if _, ok := pair.Plot(one, "another"); ok {
		t.Error("a plot by a judge that judged nothing")
	}
	if _, ok := pair.Plot(nil, "lexical"); ok {
		t.Error("a plot of nothing")
	}
}
