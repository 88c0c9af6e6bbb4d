package web

import (
	"context"
	"slices"

	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/run"
)

// choosePage offers what can be compared.
type choosePage struct {
	page.Frame
	// Name is the parameter that is chosen, once for each side: study or target.
	Name string
	// Hidden is what is chosen already.
	Hidden []page.Hidden
	Sides  []choiceOf
}

// choiceOf is the choice of one side.
type choiceOf struct {
	Title   string   `json:"side"`
	Options []choice `json:"options"`
}

// choice is something that can be chosen.
type choice struct {
	Value string `json:"value"`
	// Text says what it is.
	Text   string `json:"text"`
	Chosen bool   `json:"-"`
}

// chooseStudies offers the runs of the store. The one of a name is chosen as the candidate.
func (s *Server) chooseStudies(ctx context.Context, name string) (*choosePage, error) {
	all, err := run.List(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	p := &choosePage{Name: "study"}
	for i, title := range []string{"Base", "Candidate"} {
		side := choiceOf{Title: title}
		// The newest beside the one before it, or the newest of the others beside that name.
		chosen := 1 - i
		if name != "" {
			chosen = slices.IndexFunc(all, func(one run.Stored) bool { return (one.Name == name) == (i == 1) })
		}
		for n, one := range all {
			text := one.Name + " · " + one.Saved.Format("2 Jan 15:04")
			side.Options = append(side.Options, choice{one.Name, text, n == chosen})
		}
		p.Sides = append(p.Sides, side)
	}
	return p, nil
}

// chooseTargets offers the targets of one study or two.
func chooseTargets(of [2]*opened, names []string) *choosePage {
	p := &choosePage{Name: "target"}
	for _, name := range names {
		p.Hidden = append(p.Hidden, page.Hidden{Name: "study", Value: name})
	}
	for i, title := range []string{"Base", "Candidate"} {
		side := choiceOf{Title: title + ", in " + of[i].Name}
		for n, target := range of[i].Config.TargetNames() {
			side.Options = append(side.Options, choice{target, target, len(names) == 1 && n == i})
		}
		p.Sides = append(p.Sides, side)
	}
	return p
}
