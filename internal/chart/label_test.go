package chart

import (
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/plot/vg"
)

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
				room := Labels{Area: area}
				var labels []Label
				for i := range n {
					room.Hard = append(room.Hard, SquareAround(at(i), MarkRadius))
					labels = append(labels, Label{At: at(i), Width: vg.Length(60 + i*7%80), Height: 8, Keep: true})
				}
				marks := slices.Clone(room.Hard)
				placed := room.Place(labels)
				for i, p := range placed {
					box := labels[i].box(p)
					if !p.Shown {
						t.Errorf("label %d is missing", i)
					}
					if box.Min.X < area.Min.X || box.Min.Y < area.Min.Y || box.Max.X > area.Max.X || box.Max.Y > area.Max.Y {
						t.Errorf("label %d hangs out: %v", i, box)
					}
					for k, m := range marks {
						if Overlap(box, m) > 0 {
							t.Errorf("label %d covers mark %d", i, k)
						}
					}
					for k := range i {
						if Overlap(box, labels[k].box(placed[k])) > 0 {
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
	room := Labels{Area: vg.Rectangle{Max: vg.Point{X: 300, Y: 300}}}
	wall := vg.Rectangle{Min: vg.Point{X: 50, Y: 50}, Max: vg.Point{X: 250, Y: 250}}
	room.Hard = append(room.Hard, wall)
	placed := room.Place([]Label{{At: vg.Point{X: 150, Y: 150}, Width: 40, Height: 8}})
	if placed[0].Shown {
		t.Error("a label without room was shown")
	}
}
