package tradeoff

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

const (
	// mostNamed is the most variants for which the plot prints names. If there
	// are more, they are numbered, with a key below.
	mostNamed = 18
	// mostArrows is the most points for which arrows lead from targets to
	// variants. If there are more, faint lines are drawn.
	mostArrows = 40
)

// key numbers the changes that make variants, if there are too many variants to
// name each in a plot. The same change has the same number for every target. It
// is empty if all variants are named.
type key table.Names

// keyOf numbers the changes of the pairs.
func keyOf(pairs []score.Pair) key {
	var k table.Names
	variants := 0
	for _, p := range pairs {
		change := p.Change()
		if change == "" {
			continue
		}
		variants++
		k.Add(change)
	}
	if variants <= mostNamed {
		return nil
	}
	return key(k)
}

// number returns what stands for a change; "" if it has no number.
func (k key) number(change string) string {
	if i := slices.Index(k, change); i >= 0 {
		return strconv.Itoa(i + 1)
	}
	return ""
}

const (
	keySize   = 8.0
	keyLine   = vg.Length(11)
	keyAround = vg.Length(16)
)

// columns returns how many entries of the key fit side by side.
func (k key) columns(width vg.Length) int {
	widest := vg.Length(1)
	for _, change := range k {
		widest = max(widest, chart.TextStyle(keySize, false, chart.Foreground).Width(keyText(change)))
	}
	return max(1, int(width/(widest+32)))
}

func keyText(change string) string { return untrusted.Shorten(change, 110) }

// height returns the height of the key on a figure of a given width.
func (k key) height(width vg.Length) vg.Length {
	if len(k) == 0 {
		return 0
	}
	columns := k.columns(width)
	return keyAround + vg.Length((len(k)+columns-1)/columns)*keyLine
}

// draw writes the key at the top of a canvas, column by column.
func (k key) draw(c draw.Canvas) {
	width := c.Max.X - c.Min.X
	columns := k.columns(width)
	rows := (len(k) + columns - 1) / columns
	for i, change := range k {
		x := c.Min.X + vg.Length(i/rows)*width/vg.Length(columns)
		y := c.Max.Y - 6 - vg.Length(i%rows+1)*keyLine
		c.FillText(chart.Right(chart.TextStyle(keySize, true, chart.Foreground)), vg.Point{X: x + 18, Y: y}, strconv.Itoa(i+1))
		c.FillText(chart.TextStyle(keySize, false, chart.Muted), vg.Point{X: x + 23, Y: y}, keyText(change))
	}
}
