package run

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/provenance"
)

// Listed is a run in a list of those of a store.
type Listed struct {
	Run string `json:"run"`
	// Started is when the run was last started.
	Started time.Time `json:"started"`
	// LastPaid is when the last of its calls was paid, nil where none was.
	LastPaid *time.Time `json:"last_paid"`
	// Targets and Judges are their names.
	Targets  []string             `json:"targets"`
	Datasets []provenance.Dataset `json:"datasets"`
	Judges   []string             `json:"judges"`
}

// Listed is the run in a few words.
func (s Stored) Listed() Listed {
	l := Listed{
		Run: s.Name, Started: s.Saved.UTC(), Datasets: []provenance.Dataset{},
		Targets: append([]string{}, s.Config.TargetNames()...), Judges: append([]string{}, s.Config.JudgeNames()...),
	}
	if paid := s.History.LastPaid.UTC(); !paid.IsZero() {
		l.LastPaid = &paid
	}
	for _, d := range s.Config.Datasets {
		name := filepath.Base(d.Ref)
		l.Datasets = append(l.Datasets, provenance.Dataset{Dataset: strings.TrimSuffix(name, filepath.Ext(name)), SHA256: d.SHA256})
	}
	return l
}
