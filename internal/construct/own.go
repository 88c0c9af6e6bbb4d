package construct

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/settings"
)

// OpenSeeds loads the seeds from the configuration's file, if it names one, and records
// in the configuration what was read. The path is relative to the folder of the
// configuration file; pulled datasets are in the folder cache. A prompt labeled safe is
// not used as a seed. A seed with a category outside the policy, and a conversation, are
// *orbench.InputErrors.
func (b *Builder) OpenSeeds(ctx context.Context, config, cache string) error {
	if b.Config.Seeds.File == nil {
		return nil
	}
	f := *b.Config.Seeds.File
	path := f.Dataset
	if !dataset.IsName(path) && !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(config), path)
	}
	set, err := dataset.Open(ctx, path, dataset.Options{
		Prompt: f.PromptColumn, Category: f.CategoryColumn, Default: orbench.Toxic, Cache: cache,
	})
	if err != nil {
		return err
	}
	f.SHA256 = set.SHA256
	b.Own = map[orbench.Category][]benchmark.Seed{}
	names := map[string]orbench.Category{}
	for _, c := range b.Config.Policy {
		names[strings.ToLower(string(c.Category))] = c.Category
	}
	for p, err := range set.Prompts() {
		if err != nil {
			return err
		}
		if p.Label == orbench.Safe {
			f.Safe++
			continue
		}
		named := cmp.Or(p.Category, f.Category)
		category, ok := names[strings.ToLower(strings.TrimSpace(string(named)))]
		switch {
		case len(p.Messages) > 1:
			return b.wrongSeed(path, p, "is a conversation, but seeds are single prompts", "leave it out, or give its last turn alone")
		case named == "":
			return b.wrongSeed(path, p, "has no category", "give it one of the policy ("+b.categories()+"), or name one for all with category beside dataset, under seeds.file")
		case !ok:
			return b.wrongSeed(path, p, fmt.Sprintf("has the category %q, which the policy does not have", named), "the policy has "+b.categories()+"; rename it, or add it under policy")
		}
		f.Seeds++
		b.Own[category] = append(b.Own[category], benchmark.Seed{ID: p.ID, Text: p.Text(), Category: category, File: f.Dataset})
	}
	if f.Seeds == 0 {
		return &orbench.InputError{File: path, Problem: "has no seed: all of its prompts are labeled safe", Hint: "name a dataset of toxic prompts"}
	}
	b.Config.Seeds.File = &f
	return nil
}

func (b *Builder) wrongSeed(path string, p orbench.Prompt, problem, hint string) error {
	return &orbench.InputError{File: path, Problem: fmt.Sprintf("the seed %s (%.60q) %s", p.ID, p.Text(), problem), Hint: hint}
}

// categories lists the names of the policy's categories.
func (b *Builder) categories() string {
	return strings.Join(settings.Names(b.Config.Definitions().Categories()), ", ")
}
