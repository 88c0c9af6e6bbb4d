package dataset

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// source says where a dataset's rows come from and how to read them.
type source struct {
	name string
	// path is the file, or builtIn.
	path string
	// embedded is the content if path is builtIn.
	embedded []byte
	opts     Options
	// labels gives the meaning of the values in the label column. If it is nil,
	// Options.LabelValues does.
	labels map[string]orbench.Label
	// taken are columns that Dataset.Own does not give; nil for nobody who asks.
	taken []string
	// watch says to look for a possible label column in a file without one.
	watch bool
	// wantSHA256 is the hash of the content when it was pulled, or "".
	wantSHA256 string
	// makers are the makers in the table of named datasets.
	makers Makers
	// origins maps a built benchmark's prompts to their seeds. It is nil for any other
	// file.
	origins benchmark.Origins
	// pairs says how a published dataset pairs its prompts, nil for any other.
	pairs *Pairs
	// recorded takes in recorded answers; nil for a file that has none.
	recorded *Recording
}

// builtIn stands for the path of an embedded dataset.
const builtIn = "built in"

// input is an opened source.
type input struct {
	*rows.File
	columns Columns
	label   orbench.Label
	// meaning gives the label for a value of the label column; it reports false if there
	// is none.
	meaning func(written string) (orbench.Label, bool)
	answers bool
	// unsent are the columns that must be empty. Their cells come before the watched
	// ones.
	unsent []string
	// watched are the columns that may contain labels, nil if none is watched. watchedAt
	// is where their cells begin.
	watched labelWatch
	// passed say which columns like those that were found were not taken.
	passed    []string
	watchedAt int
	// own gets the cells of each prompt's row that Dataset.Own gives, and ownColumns names
	// their columns; nil for nobody who asks.
	own        map[orbench.PromptID][]string
	ownColumns []string
	// recorded takes in recorded answers, whose cells begin at answersAt.
	recorded  *Recording
	answersAt int
	origins   benchmark.Origins
	// pairs names the pairs of a published dataset with pairs, nil for any other.
	// pairedBy is Dataset.PairedBy.
	pairs    *pairing
	pairedBy string
}

// item checks a row and gives its prompt.
func (in *input) item(r rows.Row) (orbench.Prompt, error) {
	p, err := in.promptOf(r)
	if err != nil {
		return p, err
	}
	if _, there := in.own[p.ID]; in.own != nil && !there {
		in.own[p.ID] = append([]string{strings.TrimSpace(r.Cells[answerCell-1])}, r.Cells[in.watchedAt:]...)
	}
	for i, name := range in.unsent {
		if rows.Holds(r.Cells[in.watchedAt-len(in.unsent)+i]) {
			return p, r.Unsent(in.Name, string(p.ID), name)
		}
	}
	if in.recorded != nil {
		if err := in.recorded.add(in.Name, r, r.Cells[in.answersAt:], p); err != nil {
			return p, err
		}
		r.Cells = r.Cells[:in.answersAt]
	}
	in.watched.Add(r.Cells[in.watchedAt:])
	if problem, hint := checkAsked(p.Messages); problem != "" && !in.answers {
		return p, r.Fault(in.Name, problem, hint)
	}
	switch {
	case in.origins != nil:
		seed := string(in.origins.Of(p.ID))
		p.Cluster, p.Pair = cmp.Or(p.Cluster, seed), cmp.Or(p.Pair, seed)
	case in.pairs != nil:
		p.Pair = in.pairs.next(p)
	}
	return p, nil
}

// open opens the source and finds its columns.
func (s source) open() (*input, error) {
	values, err := parseLabelValues(s.opts.LabelValues)
	if err != nil {
		return nil, err
	}
	in := &input{label: s.opts.Default, meaning: values.Label, answers: s.opts.Answers, origins: s.origins, recorded: s.recorded}
	if s.labels != nil {
		in.meaning = func(written string) (orbench.Label, bool) {
			label, ok := s.labels[strings.TrimSpace(written)]
			return label, ok
		}
	}
	choose := func(file string, have []string, at func(string) bool) (rows.Layout, error) {
		// The column was chosen from a line that turned out to be a comment.
		var err error
		in.watched = nil
		opts := s.opts
		if s.recorded != nil {
			if err := s.recorded.columns.find(file, have, at, opts); err != nil {
				return rows.Layout{}, err
			}
			opts.Prompt, opts.Response = s.recorded.columns.prompt, ""
		}
		in.columns, err = findColumns(file, have, at, opts)
		if s.recorded != nil {
			in.columns.Prompt = s.recorded.columns.prompt
		} else if in.columns.Prompt == "" && err == nil {
			err = noColumn(file, have, "prompt", "name it with `prompt-column`")
		}
		if in.origins != nil && s.opts.Pair == "" {
			// The lineage gives the pairs for all sets of the benchmark alike.
			in.columns.Pair = ""
		}
		if s.recorded == nil {
			in.unsent = in.columns.unsent(have)
		}
		var others []string
		in.passed = s.passedOver(in.columns, have)
		if s.watch && in.columns.Label == "" {
			others = in.columns.others(have)
			in.watched = watchLabels(others, in.columns.Category)
		}
		if s.taken != nil {
			c := in.columns
			others = slices.DeleteFunc(rows.Without(have, append(s.taken, c.Prompt, c.Category, c.Label, c.id)...), func(name string) bool {
				object, _, path := strings.Cut(name, ".")
				return path && slices.Contains(have, object)
			})
			in.ownColumns = others
		}
		l := in.columns.layout(s.labels != nil || values != nil, in.unsent, others)
		in.watchedAt = len(l.Fields) - len(others)
		for i := range in.ownColumns {
			l.Fields[in.watchedAt+i].Whole = true
		}
		if s.recorded != nil {
			l.PassBlank, l.Prompt, l.Exchange, in.answersAt = false, "", s.recorded.columns.exchange(s.opts), len(l.Fields)
			l.Fields = append(l.Fields, s.recorded.columns.fields()...)
		}
		if s.opts.Unlabeled {
			l.Stray = nil
		}
		return l, err
	}
	switch {
	case s.path == builtIn:
		in.File, err = rows.Embedded(s.name, s.embedded, choose)
	case s.recorded != nil:
		in.File, err = rows.OpenAnswers(s.path, choose)
	default:
		in.File, err = rows.Open(s.path, choose)
	}
	switch {
	case s.pairs != nil:
		in.pairedBy, in.pairs = s.pairs.By, s.pairs.numbers()
	case in.columns.Pair != "":
		in.pairedBy = in.columns.Pair
	case in.origins != nil:
		in.pairedBy = "seed"
	}
	return in, err
}

// passedOver says of columns that were found by their usual names which others are like them.
func (s source) passedOver(c Columns, have []string) (notes []string) {
	if s.path == builtIn || s.labels != nil {
		return nil
	}
	add := func(named, what, taken string, like func(string) bool, other ...string) {
		if note := rows.PassedOver(s.path, what, taken, have, like, other...); note != "" && named == "" {
			notes = append(notes, note)
		}
	}
	response := c.Response
	if s.recorded != nil {
		response = s.recorded.columns.response
		add(s.opts.Response, "answers", response, rows.LikeAnswer, c.Prompt)
	}
	add(s.opts.Prompt, "prompts", c.Prompt, func(name string) bool { return slices.Contains(promptNames, strings.ToLower(strings.TrimSpace(name))) }, response, c.Category, c.Cluster)
	add(s.opts.Label+s.opts.LabelValues, "labels", c.Label, func(name string) bool { return strings.HasSuffix(strings.ToLower(name), "label") })
	return notes
}

// resolve turns a ref into a source without reading rows.
func resolve(ref string, opts Options) (source, error) {
	if e, ok := Named(ref); ok {
		return e.source(opts)
	}
	if path, ok := strings.CutPrefix(ref, ReplayPrefix); ok {
		path, _, _ = cutModel(path)
		base := filepath.Base(path)
		return source{name: strings.TrimSuffix(base, filepath.Ext(base)), path: path, opts: opts, recorded: &Recording{Said: map[string]map[string]int{}}}, nil
	}
	if base := filepath.Base(ref); rows.Readable(ref) {
		return source{name: strings.TrimSuffix(base, filepath.Ext(base)), path: ref, opts: opts}, nil
	}
	if _, err := os.Stat(ref); err == nil {
		return source{}, rows.Unknown(ref)
	}
	list, near := names(ref)
	hint := "the names are " + list + "; or give the path of a file"
	if near != "" {
		hint = fmt.Sprintf("did you mean %s? \"orbench dataset list\" has all names", near)
	} else if near := rows.Nearest(ref); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return source{}, &orbench.InputError{Problem: fmt.Sprintf("no dataset and no file is named %s", untrusted.Quote(ref)), Hint: hint}
}
