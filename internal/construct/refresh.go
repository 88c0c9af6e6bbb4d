package construct

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
)

// number is the number of this build: 0 for a new benchmark.
func (r *run) number() int {
	if r.Base == nil {
		return 0
	}
	return r.Base.Manifest.Builds + 1
}

// inherit copies the rows of the benchmark that this build adds to, unchanged. New texts
// that are near one of them are dropped.
func (r *run) inherit() error {
	if r.Base == nil {
		return nil
	}
	var err error
	if r.seeds, err = r.Base.Seeds(); err != nil {
		return err
	}
	maps.Copy(r.batches, r.Base.Manifest.Batches)
	r.funnel = r.Base.Manifest.Funnel
	clear(r.funnel.Selection.Sets)
	for _, s := range r.Base.Manifest.Models {
		r.spent[asked{s.Role, s.Provider, s.Model}] = &s
	}
	for record, err := range r.Base.Rows() {
		if err != nil {
			return err
		}
		record.Sets = nil
		if record.Kind == benchmark.Rewritten && record.Dropped == benchmark.NotDropped {
			r.known.Keep(record.Text)
			r.madeOf(record.Category).add(record.Text)
			r.ids[record.ID] = true
			r.kept = append(r.kept, record.ID)
		}
		row, err := r.rowFile.add(&record)
		if err != nil {
			return err
		}
		if record.Dropped == benchmark.NotDropped {
			r.enter(&record, row)
			if r.Search != nil && record.Label == orbench.Safe && record.Kind == benchmark.Rewritten {
				r.safe = append(r.safe, &record)
			}
		}
	}
	return nil
}

// enter records a row for the choice of the sets.
func (r *run) enter(record *benchmark.Record, row int) {
	for i := range record.Votes {
		record.Votes[i].Explanation = ""
	}
	if record.SecondChance != nil {
		record.SecondChance.Votes = nil
	}
	r.entries = append(r.entries, entry{record, row})
}

// NextVersion is the version of a benchmark that was added to: the wanted one if it is
// higher than the one before, else the one before with its second number raised.
func NextVersion(before, wanted string) string {
	parse := func(version string) (numbers []int) {
		for part := range strings.SplitSeq(version, ".") {
			n, err := strconv.Atoi(part)
			if err != nil {
				return nil
			}
			numbers = append(numbers, n)
		}
		return numbers
	}
	old := parse(before)
	switch {
	case old == nil && wanted != before:
		return wanted
	case old == nil:
		return before + ".1"
	case slices.Compare(parse(wanted), old) > 0:
		return wanted
	}
	return fmt.Sprintf("%d.%d.0", old[0], append(old, 0)[1]+1)
}

// CheckBase refuses to add to a benchmark if the configuration would make rows that do
// not fit the existing ones.
func CheckBase(c *benchmark.BuildConfig, f *benchmark.Folder) error {
	old := f.Manifest.Config
	wrong := func(what, hint string) error {
		return &orbench.InputError{File: f.Dir, Problem: "was built with " + what, Hint: hint}
	}
	sameModel := func(x, y benchmark.Selector) bool { return x.Model == y.Model }
	switch {
	case old.Name != c.Name:
		return wrong("the name "+old.Name, "set `name` to it")
	case !slices.EqualFunc(old.Hard.Selectors, c.Hard.Selectors, sameModel) || old.Hard.RefusedBy != c.Hard.RefusedBy:
		return wrong("the selectors differ, so prompts would be hard by two measures", "use those in its "+benchmark.ManifestFile+", or build a new benchmark")
	case max(1, old.Rewrites.Turns) != max(1, c.Rewrites.Turns):
		return wrong(fmt.Sprintf("prompts of %d turns", max(1, old.Rewrites.Turns)), "set rewrites.turns to it in the configuration")
	case old.Moderation.Rule != c.Moderation.Rule || !slices.Equal(old.Moderation.Moderators, c.Moderation.Moderators):
		return wrong("the moderators or the rule differ, so prompts would be safe by two measures", "use those in its "+benchmark.ManifestFile+", or build a new benchmark")
	case (old.SecondChance.Model == "") != (c.SecondChance.Model == ""):
		return wrong("the second chance differs, so prompts would be toxic by two measures", "set second_chance as in its "+benchmark.ManifestFile+", or build a new benchmark")
	}
	return nil
}
