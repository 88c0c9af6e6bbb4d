package measurement

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// voted is the prompts of a build that moderators voted on, with what people say of them.
type voted struct {
	name  string
	items []audit.Item
	said  []orbench.Annotation
}

// words are what people say.
func (v voted) words() annotation.Words { return annotation.NewWords(v.said) }

// drawn are the prompts for people to label.
func (v voted) drawn() ([]annotation.Entry, error) {
	entries := audit.Entries(v.items, v.words())
	if len(entries) == 0 {
		return nil, &orbench.InputError{File: v.name, Problem: "no prompt of the build has been drawn", Hint: "draw some with orbench label draw " + untrusted.Shell(v.name) + " `size` 200"}
	}
	return entries, nil
}

// voted reads what moderators voted on in a build.
func (a app) voted(ctx context.Context, memory *store.Store, at, name string) (v voted, err error) {
	opened, err := a.OpenStudy(ctx, memory, at, name)
	if err != nil {
		return v, err
	}
	made, err := opened.Build.Made(ctx, memory)
	if err != nil {
		return v, err
	}
	v.name = name
	v.items, err = made.Voted()
	if err = errors.Join(err, made.Close()); err == nil {
		v.said, err = memory.Annotations(ctx)
	}
	return v, err
}

// drawVoted draws prompts of a build.
func (a app) drawVoted(ctx context.Context, memory *store.Store, v voted, f labelDrawFlags) error {
	if f.size <= 0 || f.target != "" || f.label != "" {
		return command.InputError("--size", "of a build only a number of prompts is drawn", "give --size, and leave out --target and --label")
	}
	drawn, err := audit.Draw(v.items, v.words(), f.size, f.seed, time.Now().UTC())
	if err != nil {
		return err
	}
	if err := memory.Annotate(ctx, drawn); err != nil {
		return err
	}
	a.Infof("drew %s of %s prompts that were put to the vote; label them with: orbench label %s", table.Count(len(drawn)), table.Count(len(v.items)), untrusted.Shell(v.name))
	return nil
}

// labelVoted shows a person one drawn prompt of a build after the other. Where none is drawn
// yet, it draws some.
func (a app) labelVoted(ctx context.Context, memory *store.Store, v voted, person string, disputes bool, at string) error {
	if len(audit.Entries(v.items, v.words())) == 0 {
		err := a.drawVoted(ctx, memory, v, labelDrawFlags{size: min(audit.Usual, len(v.items)), seed: 1, store: at})
		if err == nil {
			v.said, err = memory.Annotations(ctx)
		}
		if err != nil {
			return err
		}
	}
	return a.sit(ctx, v.name, audit.Entries(v.items, v.words()), v.words(), person, labelHow{what: "prompts", disputes: disputes, store: at, see: "report", keep: memory.Annotate})
}

// writeSheet writes entries as a table for people to fill in.
func (a app) writeSheet(out string, rows []annotation.Entry) error {
	if err := folder.WriteNew(out, func(w io.Writer) error { return annotation.Write(w, filepath.Ext(out) == ".jsonl", rows) }); err != nil {
		return err
	}
	a.Infof("wrote %d rows to %s", len(rows), out)
	return nil
}
