package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// pictures is a folder to keep the drawn figures in, to look at them.
var pictures = flag.String("pictures", "", "write the figures that tests draw to this folder")

func keepPicture(t *testing.T, name string, f figure) {
	t.Helper()
	if *pictures == "" {
		return
	}
	out, err := os.Create(filepath.Join(*pictures, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := f.png(out); err != nil {
		t.Fatal(err)
	}
}

// svgTexts draws a figure and gives the texts in it. It fails the test where the
// SVG is not well-formed XML.
func svgTexts(t *testing.T, f figure) []string {
	t.Helper()
	var b bytes.Buffer
	if err := f.svg(&b); err != nil {
		t.Fatal(err)
	}
	var texts []string
	d := xml.NewDecoder(&b)
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("the SVG is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 6, 32} {
		t.Run(strconv.Itoa(n)+" targets", func(t *testing.T) {
			t.Parallel()
			r, _ := fixture{targets: n, safe: 20, toxic: 6, simulated: n == 6}.make()
			draw := map[string]func(score.Result, string) (figure, bool){"tradeoff": tradeOff, "categories": heatMap}
			for name, draw := range draw {
				f, ok := draw(r, "lexical")
				if !ok {
					t.Fatalf("no %s", name)
				}
				keepPicture(t, name+"-"+strconv.Itoa(n), f)
				texts := svgTexts(t, f)
				for i := range n {
					want := targetName(i)
					if name == "tradeoff" && n > crowd {
						want = untrusted.Shorten(want, 30)
					}
					if name == "categories" && r.Simulated {
						want += " (simulated)"
					}
					if !slices.Contains(texts, want) {
						t.Errorf("%s does not name %s", name, want)
					}
				}
				all := strings.Join(texts, "\n")
				for _, want := range []string{"starter@1a2b3c4d", "lexical"} {
					if !strings.Contains(all, want) {
						t.Errorf("%s does not say %q", name, want)
					}
				}
				if strings.Contains(strings.ToLower(all), "simulated") != r.Simulated {
					t.Errorf("%s of a simulated result (%v) says:\n%s", name, r.Simulated, all)
				}
			}
		})
	}
}

func TestPNGHasTheFiguresSize(t *testing.T) {
	t.Parallel()
	r, _ := fixture{targets: 2, safe: 2, toxic: 2}.make()
	f, _ := tradeOff(r, "lexical")
	var b bytes.Buffer
	if err := f.png(&b); err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(&b)
	if err != nil {
		t.Fatal(err)
	}
	if want := int(figureWidth.Points() / 72 * plotDPI); config.Width != want {
		t.Errorf("the PNG is %d pixels wide, want %d", config.Width, want)
	}
}

func TestTargetsWithOneSideAreKept(t *testing.T) {
	t.Parallel()
	r, _ := fixture{targets: 6, safe: 20, toxic: 6}.make()
	tests := map[string]struct {
		result   score.Result
		has, not []string
	}{
		"some of each": {
			onlyLabel(onlyLabel(r, orbench.Safe, targetName(0), targetName(3)), orbench.Toxic, targetName(1)),
			[]string{"Safe prompts only", "Toxic prompts only", "safe prompts refused, %"},
			nil,
		},
		"safe only": {
			onlyLabel(r, orbench.Safe),
			[]string{"Safe prompts only"},
			[]string{"Toxic prompts only", "toxic prompts refused, %"},
		},
		"toxic only": {
			onlyLabel(r, orbench.Toxic),
			[]string{"Toxic prompts only"},
			[]string{"Safe prompts only", "safe prompts refused, %"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := tradeOff(tt.result, "lexical")
			if !ok {
				t.Fatal("nothing was drawn")
			}
			keepPicture(t, "tradeoff "+name, f)
			all := strings.Join(svgTexts(t, f), "\n")
			for i := range 6 {
				if !strings.Contains(all, untrusted.Shorten(targetName(i), 34)) {
					t.Errorf("%s is missing", targetName(i))
				}
			}
			for _, want := range tt.has {
				if !strings.Contains(all, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(all, not) {
					t.Errorf("%q is there", not)
				}
			}
		})
	}
}

func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	r, _ := fixture{targets: 1, safe: 2, toxic: 2}.make()
	for i := range r.Runs {
		r.Runs[i].Judges = []score.JudgeResult{{Judge: "lexical"}}
	}
	if _, ok := tradeOff(r, "lexical"); ok {
		t.Error("a trade-off was drawn of nothing")
	}
	if _, ok := heatMap(r, "lexical"); ok {
		t.Error("a heat map was drawn without categories")
	}
	if _, ok := tradeOff(score.Result{}, "lexical"); ok {
		t.Error("a trade-off was drawn of an empty result")
	}
}

// Names from outside cannot break out of the SVG, nor make it invalid XML.
func TestHostileNamesInPlots(t *testing.T) {
	t.Parallel()
	r, _ := fixture{targets: 1, safe: 2, toxic: 2}.make()
	const evil = "</text><script>alert(1)</script>\x00\x1b[31m\u202e&\"'\xff"
	for i := range r.Runs {
		r.Runs[i].Target, r.Runs[i].Dataset = evil, evil
		for k := range r.Runs[i].Judges {
			j := &r.Runs[i].Judges[k]
			j.Judge = evil
			j.ByCategory = map[orbench.Category]score.Count{evil: {N: 4, Refused: 1}, "fine": {N: 1}}
		}
	}
	for name, draw := range map[string]func(score.Result, string) (figure, bool){"tradeoff": tradeOff, "categories": heatMap} {
		f, ok := draw(r, evil)
		if !ok {
			t.Fatalf("no %s", name)
		}
		keepPicture(t, "hostile-"+name, f)
		svgTexts(t, f)
		inline, err := f.inlineSVG(evil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(inline, "<script") || strings.ContainsAny(inline, "\x00\x1b\u202e") {
			t.Errorf("%s lets a name through", name)
		}
	}
}

// A dataset with very many categories gives a figure of a bounded size.
func TestManyCategories(t *testing.T) {
	t.Parallel()
	r, _ := fixture{targets: 2, safe: 2, toxic: 2}.make()
	for i := range r.Runs {
		for k := range r.Runs[i].Judges {
			counts := map[orbench.Category]score.Count{}
			for c := range 500 {
				counts[orbench.Category("a rather long name of category "+strconv.Itoa(c))] = score.Count{N: c, Refused: c / 2}
			}
			r.Runs[i].Judges[k].ByCategory = counts
		}
	}
	f, ok := heatMap(r, "lexical")
	if !ok {
		t.Fatal("no heat map")
	}
	keepPicture(t, "categories-many", f)
	if f.width > 3000 {
		t.Errorf("the figure is %v points wide", f.width)
	}
	all := strings.Join(svgTexts(t, f), "\n")
	for _, want := range []string{"the 40 largest of 500 categories", "499"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// However the points lie, labels that must appear cover neither marks nor each
// other, and stay within the plot.
func TestLabelsDoNotCollide(t *testing.T) {
	t.Parallel()
	area := vg.Rectangle{Max: vg.Point{X: 800, Y: 520}}
	at := map[string]func(i int) vg.Point{
		"spread":        func(i int) vg.Point { return vg.Point{X: vg.Length(20 + 23*i), Y: vg.Length(15 + (i*197)%490)} },
		"on a line":     func(i int) vg.Point { return vg.Point{X: vg.Length(10 + 24*i), Y: 500} },
		"in one corner": func(i int) vg.Point { return vg.Point{X: vg.Length(i % 5 * 9), Y: vg.Length(520 - i/5*9)} },
		"on one spot":   func(int) vg.Point { return vg.Point{X: 400, Y: 260} },
	}
	for name, at := range at {
		for _, n := range []int{1, 6, 32} {
			t.Run(name+", "+strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				room := labelMap{area: area}
				var labels []label
				for i := range n {
					room.hard = append(room.hard, around(at(i), markRadius))
					labels = append(labels, label{at: at(i), width: vg.Length(60 + i*7%80), height: 8, keep: true})
				}
				marks := slices.Clone(room.hard)
				placed := room.place(labels)
				for i, p := range placed {
					box := labels[i].box(p)
					if !p.shown {
						t.Errorf("label %d is missing", i)
					}
					if box.Min.X < area.Min.X || box.Min.Y < area.Min.Y || box.Max.X > area.Max.X || box.Max.Y > area.Max.Y {
						t.Errorf("label %d hangs out: %v", i, box)
					}
					for k, m := range marks {
						if overlap(box, m) > 0 {
							t.Errorf("label %d covers mark %d", i, k)
						}
					}
					for k := range i {
						if overlap(box, labels[k].box(placed[k])) > 0 {
							t.Errorf("labels %d and %d collide", i, k)
						}
					}
				}
			})
		}
	}
}

func TestLabelThatNeedNotAppearGivesWay(t *testing.T) {
	t.Parallel()
	room := labelMap{area: vg.Rectangle{Max: vg.Point{X: 300, Y: 300}}}
	wall := vg.Rectangle{Min: vg.Point{X: 50, Y: 50}, Max: vg.Point{X: 250, Y: 250}}
	room.hard = append(room.hard, wall)
	placed := room.place([]label{{at: vg.Point{X: 150, Y: 150}, width: 40, height: 8}})
	if placed[0].shown {
		t.Error("a label without room was shown")
	}
}
