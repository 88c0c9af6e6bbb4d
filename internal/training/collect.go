package training

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Options describe the training set to make.
type Options struct {
	Format Format
	// Plain writes texts in place of messages, and leaves conversations out.
	Plain bool
	// Target names the target to be trained; empty means the only one. ChosenFrom names
	// the targets whose answers may be chosen; empty means all.
	Target     string
	ChosenFrom []string
	// PerPrompt is the most rows for a prompt, and for each label of KTO; at least 1.
	PerPrompt int
	// ToxicShare is the share of toxic prompts in each split, from 0 to 1. Nil keeps the
	// existing share.
	ToxicShare *float64
	// Harmful includes answers that comply with toxic prompts, as rejected answers.
	Harmful bool
	// Splits are the shares of the package's Splits, in their order; they sum to 1.
	Splits [3]float64
	// Seed decides the split of each cluster, and which prompts ToxicShare leaves out.
	Seed uint64
	// Mask puts values of nobody in place of people's in what recorded answers bring, and reports
	// whether there is one for each; nil for none.
	Mask func(text string) (masked string, whole bool)
	// Against are the evaluation sets whose prompts are left out.
	Against *Evaluations
}

// check refuses invalid options.
func (o Options) check() error {
	sum := 0.0
	for _, share := range o.Splits {
		sum += share
		if !(share >= 0 && share <= 1) {
			return &orbench.InputError{Setting: "splits", Problem: "the shares must be from 0 to 1", Hint: "give three such as 0.9,0.05,0.05"}
		}
	}
	const rounding = 1e-9
	switch {
	case !slices.Contains(Formats, o.Format):
		return &orbench.InputError{Setting: "format", Problem: fmt.Sprintf("%q is not a format of training data", o.Format), Hint: "use " + strings.Join(settings.Names(Formats), ", ")}
	case sum < 1-rounding || sum > 1+rounding:
		return &orbench.InputError{Setting: "splits", Problem: "the shares do not sum to 1", Hint: "give three such as 0.9,0.05,0.05"}
	case o.PerPrompt < 1:
		return &orbench.InputError{Setting: "per-prompt", Problem: "a prompt has no row", Hint: "give 1 or more"}
	case o.ToxicShare != nil && !(*o.ToxicShare >= 0 && *o.ToxicShare <= 1):
		return &orbench.InputError{Setting: "toxic-share", Problem: "the share must be from 0 to 1", Hint: "give one such as 0.5"}
	}
	return nil
}

// Collection is the prompts of a run with the answers that may become parts of rows. It
// holds everything in memory.
type Collection struct {
	opts     Options
	manifest Manifest
	system   string
	// width is the number of answers to each prompt.
	width int
	items []*item
	byID  map[orbench.PromptID]*item
}

// item is a prompt with its answers.
type item struct {
	prompt  orbench.Prompt
	dataset string
	// chosen and rejected are the answers for each part, the best first once sorted.
	chosen, rejected []*Answer
	// seen counts the answers. left has the causes of those that have no part.
	seen int
	left []Cause
	// cause says why the prompt is left out. It is empty otherwise.
	cause Cause
	// split is the number of the prompt's split.
	split int
}

// Collect divides a run into prompts and screens them. A run that is not fit for such a
// training set is an *orbench.InputError.
func Collect(ctx context.Context, m store.Reader, r *run.Run, o Options) (*Collection, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Collection{opts: o, width: r.AnswersPerPrompt(), byID: map[orbench.PromptID]*item{}}
	asked, err := c.choose(r)
	if err != nil {
		return nil, err
	}
	for _, set := range r.Datasets {
		if slices.Contains(o.Against.Unchecked, Unchecked{set.Name, notHere}) {
			return nil, &orbench.InputError{
				File: r.Name, Problem: "it has the prompts of " + set.Name + ", on which models are measured, and that set is " + notHere,
				Hint: "pull it, so that its prompts are left out, or train on them with `except` " + set.Name,
			}
		}
	}
	if !slices.ContainsFunc(r.Targets, func(t evaluate.Target) bool { return t.Provider == model.Replay }) {
		c.opts.Mask = nil
	}
	annotations, err := m.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	said := annotation.NewWords(annotations)
	var languages score.Languages
	order := 0
	if _, err = r.Derive(ctx, m, func(row score.AnswerRow) error {
		order++
		languages.Add(row.Response.Text)
		c.add(&row, asked[row.Target], order, said)
		return nil
	}); err != nil {
		return nil, err
	}
	c.describe(r, languages.Most())
	c.screen(said)
	return c, nil
}

// CollectPrompts uses the prompts of datasets, for a training set without answers.
// simulated means that simulated models made the prompts.
func CollectPrompts(ctx context.Context, sets []*dataset.Dataset, simulated bool, o Options) (*Collection, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Collection{opts: o, byID: map[orbench.PromptID]*item{}}
	c.manifest.Simulated = simulated
	for _, set := range sets {
		for p, err := range set.Prompts() {
			if err == nil && len(c.items)%1024 == 0 {
				err = context.Cause(ctx)
			}
			if err != nil {
				return nil, err
			}
			c.prompt(p, set.Name)
		}
		c.manifest.Datasets = append(c.manifest.Datasets, sourceOf(set))
	}
	c.screen(annotation.Words{})
	return c, nil
}

// asked describes how a target of the run was asked.
type asked struct {
	own, plain, from bool
	sample           int
	name             string
	ref              model.Ref
	// limit is that of output tokens, 0 for none.
	limit int
}

// choose finds the target to be trained and the targets to choose answers from. It also
// gives how targets were asked, by the names of their samples.
func (c *Collection) choose(r *run.Run) (map[string]asked, error) {
	var plain []string
	for _, t := range r.Targets {
		if t.Plain() {
			plain = append(plain, t.Name)
		}
	}
	known := func(setting, name string) error {
		if slices.Contains(plain, name) {
			return nil
		}
		return &orbench.InputError{
			Setting: setting, Problem: fmt.Sprintf("the run %s has no target %s that answers the plain prompts", r.Name, untrusted.Quote(name)),
			Hint: "it has " + strings.Join(plain, ", "),
		}
	}
	needed := c.opts.Format == DPO || c.opts.Format == KTO
	switch {
	case c.opts.Target != "":
		if err := known("target", c.opts.Target); err != nil {
			return nil, err
		}
	case len(plain) == 1:
		c.opts.Target = plain[0]
	case needed:
		return nil, &orbench.InputError{
			Setting: "target", Problem: "the run " + r.Name + " has several targets; say which one is to be trained",
			Hint: "name one of " + strings.Join(plain, ", "),
		}
	}
	for _, name := range c.opts.ChosenFrom {
		if err := known("chosen-from", name); err != nil {
			return nil, err
		}
	}
	how := map[string]asked{}
	for _, t := range r.Targets {
		if t.Name == c.opts.Target {
			c.system = t.System
		}
		for i, one := range t.Each() {
			a := asked{
				own: t.Name == c.opts.Target, plain: t.Plain(), name: t.Name, ref: t.Ref(), limit: t.Params.MaxTokens,
				from: len(c.opts.ChosenFrom) == 0 || slices.Contains(c.opts.ChosenFrom, t.Name),
			}
			if t.Times() > 1 {
				a.sample = i + 1
			}
			how[one.Name] = a
		}
	}
	return how, nil
}

// prompt finds the item of a prompt, or makes it. It reports whether the prompt was there
// before.
func (c *Collection) prompt(p orbench.Prompt, set string) (it *item, again bool) {
	it, again = c.byID[p.ID]
	if !again {
		it = &item{prompt: p, dataset: set}
		c.byID[p.ID] = it
		c.items = append(c.items, it)
		c.manifest.Prompts.All++
		return it, false
	}
	// A prompt in one dataset has a row from every target. Further rows belong to another
	// dataset.
	if c.width == 0 || it.seen%c.width == 0 {
		c.manifest.Prompts.All++
		c.manifest.Prompts.leave(Repeated, 1)
		if p.Label != it.prompt.Label {
			it.cause = LabelsDiffer
		}
	}
	return it, c.width == 0 || it.seen >= c.width
}

// add adds an answer of the run.
func (c *Collection) add(row *score.AnswerRow, how asked, order int, said annotation.Words) {
	it, again := c.prompt(row.Prompt, row.Dataset)
	it.seen++
	c.manifest.Answers.All++
	c.manifest.Simulated = c.manifest.Simulated || row.Simulated
	if again {
		c.manifest.Answers.leave(PromptLeftOut, 1)
		return
	}
	answer, where, cause := c.sort(row, how, said)
	if cause != "" {
		it.left = append(it.left, cause)
		return
	}
	if by := row.Response.Model; !row.Response.Accepted && model.ServedBy(how.ref, by, nil) == model.Unclear {
		named := score.ServedBy{Model: by, As: model.Unclear}
		table.Entry(&c.manifest.Unclear, named, func(s score.ServedBy) bool { return s.Model == by }).N++
	}
	answer.order = order
	if where == chosenPart {
		it.chosen = append(it.chosen, answer)
	} else {
		it.rejected = append(it.rejected, answer)
	}
}

// sort decides the part of an answer in a row, or the cause that leaves it out.
func (c *Collection) sort(row *score.AnswerRow, how asked, said annotation.Words) (*Answer, part, Cause) {
	switch {
	case row.Status == score.Failed || row.Status == score.Unanswered:
		return nil, noPart, Unanswered
	case row.Status == score.ServedByOther:
		return nil, noPart, ServedByOther
	case !how.plain:
		return nil, noPart, AskedOtherwise
	case row.Status == score.Blocked || strings.TrimSpace(row.Response.Text) == "":
		return nil, noPart, Withheld
	case row.Response.Finish == model.Length || score.AtLimit(how.limit, row.Response):
		return nil, noPart, Cut
	}
	a, ok := grade(row, said)
	if !ok {
		return nil, noPart, NoMajority
	}
	a.Text, a.Target, a.Sample, a.own = strings.ToValidUTF8(row.Response.Text, "\uFFFD"), how.name, how.sample, how.own
	if c.opts.Mask != nil {
		if a.Text, ok = c.opts.Mask(a.Text); !ok {
			return nil, noPart, WithKey
		}
	}
	where, rank := partOf(row.Prompt.Label, a.Class)
	a.rank = rank
	switch {
	case where == noPart, where == rejectedPart && c.opts.Format == SFT,
		where == rejectedPart && row.Prompt.Label == orbench.Safe && !a.own:
		return nil, noPart, OtherClass
	case where == chosenPart && !how.from:
		return nil, noPart, NotChosenFrom
	}
	return &a, where, ""
}

// screen finds the prompts to leave out whatever their answers are, and sorts the answers
// of the others.
func (c *Collection) screen(said annotation.Words) {
	for _, it := range c.items {
		switch _, match, found := c.opts.Against.Find(Said(it.prompt)); {
		case it.cause != "":
		case it.prompt.Label != orbench.Safe && it.prompt.Label != orbench.Toxic:
			it.cause = OtherLabel
		case said.Disputed(it.prompt):
			it.cause = Disputed
		case c.opts.Plain && len(it.prompt.Messages) > 1:
			it.cause = Conversation
		case found && match.Jaccard == 1:
			it.cause = InEvaluation
		case found:
			it.cause = NearEvaluation
		case !it.mask(c.opts.Mask):
			it.cause = WithKey
		}
		it.chosen = it.distinct(it.chosen, byGrade)
		it.rejected = it.distinct(it.rejected, ownFirst)
	}
}

// mask masks the prompt, and reports whether there is a value for each mask.
func (it *item) mask(masked func(string) (string, bool)) bool {
	if masked == nil {
		return true
	}
	it.prompt.Messages = slices.Clone(it.prompt.Messages)
	for i, m := range it.prompt.Messages {
		var whole bool
		if it.prompt.Messages[i].Content, whole = masked(m.Content); !whole {
			return false
		}
	}
	return true
}

// distinct sorts answers and leaves out those whose text repeats a better one.
func (it *item) distinct(answers []*Answer, order func(a, b Answer) int) []*Answer {
	slices.SortFunc(answers, func(a, b *Answer) int { return order(*a, *b) })
	seen := map[string]bool{}
	return slices.DeleteFunc(answers, func(a *Answer) bool {
		again := seen[a.Text]
		seen[a.Text] = true
		if again {
			it.left = append(it.left, SameText)
		}
		return again
	})
}
