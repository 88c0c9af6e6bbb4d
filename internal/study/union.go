package study

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/orbench/orbench/internal/store"
)

// Union makes one study of two of the same name and settings, with the commands of both.
// The settings in which they differ are named, and then there is no union.
func Union(a, b store.Run) (one store.Run, differ []string, err error) {
	x, err1 := Of(a)
	y, err2 := Of(b)
	if err := cmp.Or(err1, err2); err != nil {
		return a, nil, err
	}
	if differ = Differences(x.Config, y.Config); len(differ) > 0 {
		return a, differ, nil
	}
	x.History = x.History.And(y.History)
	if y.Saved.After(x.Saved) {
		x.Saved = y.Saved
	}
	one, err = x.Stored()
	return one, nil, err
}

// Differences names the settings that two studies of a kind do not have alike, by the JSON of
// each.
func Differences(a, b []byte) (names []string) {
	own, theirs := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal(a, &own) != nil || json.Unmarshal(b, &theirs) != nil {
		return []string{"settings"}
	}
	all := maps.Clone(own)
	maps.Copy(all, theirs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(own[name], theirs[name]) {
			names = append(names, name)
		}
	}
	return names
}
