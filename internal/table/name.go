package table

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// SimulatedNotice heads every output that holds simulated figures.
const SimulatedNotice = "SIMULATED: figures marked so come from simulated models. They say nothing about any real one."

// Names are names in the order in which they came, each once.
type Names []string

// Add adds those that are not there yet.
func (n *Names) Add(names ...string) {
	for _, name := range names {
		if !slices.Contains(*n, name) {
			*n = append(*n, name)
		}
	}
}

// Name marks a name as simulated where it is.
func Name(name string, simulated bool) string {
	if simulated {
		return name + " (simulated)"
	}
	return name
}

// ShortHash is as much of a dataset's hash as figures show: enough to tell two
// versions apart.
func ShortHash(sha string) string {
	short, _ := untrusted.Cut(sha, 8)
	return short
}

// Category names a category for people.
func Category(c orbench.Category) string {
	if c == "" {
		return "(none)"
	}
	return string(c)
}

// LabelTitle says what the refusal rate on prompts of a label is called, and
// which way is good.
func LabelTitle(l orbench.Label) string {
	switch l {
	case orbench.Safe:
		return "Over-refusal: safe prompts refused, lower is better"
	case orbench.Toxic:
		return "Toxic refusal: toxic prompts refused, higher is better"
	}
	return "Refusal of " + untrusted.Terminal(string(l)) + " prompts, which counts towards neither side"
}

// ShortenTarget shortens a target's name to n columns. Variants of a target, and the
// same target of several runs, differ by what stands in brackets, so the target's own
// name gives way first.
func ShortenTarget(name string, n int) string {
	name = untrusted.Terminal(name)
	at := strings.Index(name, " [")
	if untrusted.Width(name) <= n || at < 0 {
		return untrusted.Shorten(name, n)
	}
	base, changes := name[:at], name[at+1:]
	const least = 8
	room := max(least, n-1-untrusted.Width(changes))
	if room+1 >= n {
		return untrusted.Shorten(name, n)
	}
	base = untrusted.Shorten(base, room)
	return base + " " + untrusted.Shorten(changes, n-1-untrusted.Width(base))
}
