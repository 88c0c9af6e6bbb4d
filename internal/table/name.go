package table

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// SimulatedNotice is the first line of every output with simulated figures.
const SimulatedNotice = "SIMULATED: figures marked so come from simulated models. They say nothing about any real one."

// Names holds names in the order in which they were added, without repeats.
type Names []string

// Add adds the names that are not there yet.
func (n *Names) Add(names ...string) {
	for _, name := range names {
		if !slices.Contains(*n, name) {
			*n = append(*n, name)
		}
	}
}

// Entry returns the first entry of a list that is the wanted one. If there is none, it
// adds one.
func Entry[T any](list *[]T, added T, wanted func(T) bool) *T {
	i := slices.IndexFunc(*list, wanted)
	if i < 0 {
		i = len(*list)
		*list = append(*list, added)
	}
	return &(*list)[i]
}

// At returns what a map has at a key. If there is nothing, it adds an empty one.
func At[K comparable, V any](all map[K]*V, key K) *V {
	if all[key] == nil {
		all[key] = new(V)
	}
	return all[key]
}

// Name marks a name as simulated if it is.
func Name(name string, simulated bool) string {
	if simulated {
		return name + " (simulated)"
	}
	return name
}

// ShortHash is the start of a dataset's hash that figures show. It is long
// enough to tell two versions apart.
func ShortHash(sha string) string {
	short, _ := untrusted.Cut(sha, 8)
	return short
}

// Category returns a category's name for people.
func Category(c orbench.Category) string {
	if c == "" {
		return "(none)"
	}
	return string(c)
}

// Datasets names the datasets on which two sides were measured.
func Datasets(safe, toxic string) string {
	if safe == toxic {
		return safe
	}
	return safe + " × " + toxic
}

// LabelTitle names the refusal rate on prompts of a label and says which
// direction is better.
func LabelTitle(l orbench.Label) string {
	switch l {
	case orbench.Safe:
		return "Over-refusal: safe prompts refused, lower is better"
	case orbench.Toxic:
		return "Toxic refusal: toxic prompts refused, higher is better"
	}
	return "Refusal of " + untrusted.Terminal(string(l)) + " prompts, which counts on neither side"
}

// ShortenTarget shortens a target's name to n columns, in the middle. It leaves out the provider
// first, and of a model of a file the path. It shortens the target's own name before the part in brackets, because only that part
// tells apart the variants of a target, or one target in several runs.
func ShortenTarget(name string, n int) string {
	name = untrusted.Terminal(name)
	at := len(name)
	for _, mark := range []string{" [", " (", ", "} {
		if i := strings.Index(name, mark); i >= 0 {
			at = min(at, i)
		}
	}
	base, changes := name[:at], name[at:]
	if i := strings.IndexByte(base, '#'); untrusted.Width(name) > n {
		base = base[i+1:]
	}
	for !strings.ContainsAny(base, ":@") && untrusted.Width(base+changes) > n {
		_, rest, several := strings.Cut(base, "/")
		if !several {
			break
		}
		base = rest
	}
	const least = 8
	room := max(least, n-untrusted.Width(changes))
	if untrusted.Width(base+changes) <= n || room >= n {
		return untrusted.Shorten(base+changes, n)
	}
	base = untrusted.Shorten(base, room)
	return base + untrusted.Shorten(changes, n-untrusted.Width(base))
}

// Short shortens names to n columns, or to as many more as tell them apart. Where one is longer,
// models of one file lose its path together, and those of one provider the provider.
func Short(names []string, n int) map[string]string {
	short, first := map[string]string{}, strings.Join(names[:min(1, len(names))], "")
	lost := first[:strings.IndexByte(first, '#')+1]
	if i := strings.IndexByte(first, '/'); i > 0 && lost == "" && !strings.ContainsAny(first[:i], ":@") {
		lost = first[:i+1]
	}
	if !slices.ContainsFunc(names, func(name string) bool { return untrusted.Width(name) > n }) ||
		slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, lost) }) {
		lost = ""
	}
	for {
		taken := map[string]int{}
		for _, name := range names {
			if _, done := short[name]; !done {
				short[name] = ShortenTarget(name[len(lost):], n)
				taken[short[name]]++
			}
		}
		again := false
		for name, s := range short {
			if taken[s] > 1 && n < untrusted.Width(name) {
				delete(short, name)
				again = true
			}
		}
		if !again {
			return short
		}
		n += 4
	}
}
