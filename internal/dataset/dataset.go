package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/maphash"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Dataset describes a set of prompts that has been read once in full and found valid. It
// does not hold the prompts. It is safe for concurrent use as long as its fields do not
// change.
type Dataset struct {
	// Name is the built-in or published name, or the file's name without folder and
	// ending.
	Name string `json:"name"`
	// Source is the path of the rows, or "built in".
	Source string `json:"source"`
	// SHA256 is the hash of the prompts in hex; see doc.go and hasher.
	SHA256 string `json:"sha256"`
	// Count is the number of prompts, each text once.
	Count int `json:"count"`
	// Duplicates is the number of rows left out because an earlier row has the same text.
	// Unless a sample was drawn, Count + Duplicates is the number of rows.
	Duplicates int `json:"duplicates"`
	// Conflicts is the number of duplicates whose label differs from that of the row
	// kept.
	Conflicts int `json:"conflicts"`
	// Labels and Categories count the prompts. Rows without a category count under the
	// empty one.
	Labels     map[orbench.Label]int    `json:"labels"`
	Categories map[orbench.Category]int `json:"categories"`
	// Columns names the columns of prompts, categories and labels.
	Columns Columns `json:"columns"`
	// Makers is what is known of the models that made the prompts. For published datasets
	// it comes from the table, for a set of "orbench build" from the manifest beside it.
	// For any other file it is empty.
	Makers Makers `json:"making,omitempty"`
	Reading
	// ClusteredBy says what defines clusters of prompts: the cluster column, or "seed" if
	// the lineage of a built benchmark beside the file does. It is empty if prompts have
	// no Cluster.
	ClusteredBy string `json:"clustered_by,omitempty"`
	// PairedBy says what defines pairs of prompts: the pair column, "seed" if the lineage
	// of a built benchmark does, or the name of a published dataset with pairs. Datasets
	// with the same PairedBy also pair up with each other. It is empty if prompts have no
	// Pair.
	PairedBy string `json:"paired_by,omitempty"`
	// Answered is the hash of the recorded answers that the prompts carry, empty for none.
	Answered string `json:"answers_sha256,omitempty"`

	// alike counts prompts that differ from an earlier one in blanks or case alone, and escaped
	// those with entities of HTML.
	alike, escaped int
	// notes say which columns were taken, of which.
	notes  []string
	source source
	// kept are the prompts if they do not come from the source.
	kept iter.Seq2[orbench.Prompt, error]
	// stamp is the file's size and time of change when it was checked.
	stamp rows.Stamp
	// repeated has the row numbers of the duplicates, in order.
	repeated []int
	// drawn marks the prompts of a Sample by their number in the file, nil for all.
	drawn []bool
	// replays have the answers that prompts which were not kept carry.
	replays []*Replay
}

// Options control how a dataset is read. The zero value is the usual way.
type Options struct {
	// Prompt, Category, Label, Cluster and Pair name the columns of a file; empty means
	// that they are found by their usual names. Case does not matter. Built-in and
	// published datasets have columns of their own and ignore these.
	Prompt   string `json:"prompt_column,omitempty"`
	Category string `json:"category_column,omitempty"`
	Label    string `json:"label_column,omitempty"`
	// Default is the label of every row of a file without a label column. Empty means the
	// label in the manifest of a built benchmark beside the file, or safe without one. A
	// label column takes precedence.
	Default orbench.Label `json:"default_label,omitempty"`
	// LabelValues gives the meaning of the values in the label column if they are not
	// labels, such as "contrast_*=toxic,*=safe"; see parseLabelValues.
	LabelValues string `json:"label_values,omitempty"`
	// Sample is the number of prompts to draw at random with SampleSeed, stratified by
	// category and label; 0 means all.
	Sample     int    `json:"sample,omitempty"`
	SampleSeed uint64 `json:"sample_seed,omitempty"`
	Cluster    string `json:"cluster_column,omitempty"`
	Pair       string `json:"pair_column,omitempty"`
	// Response names the answer column. The prompts then end with the answers, for guards
	// that are measured on answers. Empty means that there are none. In a file of recorded
	// answers it is their column, and User that of who asked; both have usual names.
	Response string `json:"response_column,omitempty"`
	User     string `json:"user_column,omitempty"`
	// Prompts is a file that has the prompts of recorded answers, by Join: the column that both
	// files have. Empty means that the answers have theirs.
	Prompts string `json:"prompts,omitempty"`
	Join    string `json:"join,omitempty"`
	// Said names columns of verdicts on recorded answers, in lines.
	Said string `json:"-"`
	// Unlabeled passes over the columns of labels, categories and groups.
	Unlabeled bool `json:"unlabeled,omitempty"`
	// AssumeSafe treats the rows as safe if Default is empty, even if a column looks like
	// labels, which is otherwise a fault. It is for callers that need no labels or tell
	// LabelAssumed from a label, and for prompts that were already asked.
	AssumeSafe bool `json:"-"`
	// Answers lets conversations end with an answer by the assistant. The item is then
	// about that answer. Only guards can be asked about it.
	Answers bool `json:"-"`
	// Cache is the folder of pulled datasets; empty means that there is none.
	Cache string `json:"-"`
}

// UsualSampleSeed is the default of SampleSeed.
const UsualSampleSeed = 1

// Open finds a dataset and reads it once in full. A ref is a built-in name, a published
// name whose file Pull has fetched into opts.Cache, or a path that ends in .csv, .tsv,
// .jsonl, .ndjson or .parquet. A name takes precedence over a file of the same name; ./
// before it selects the file. ReplayPrefix before a path means the prompts of recorded
// answers, which may be another tool's log.
//
// The error is an *orbench.InputError if the user can correct it, the context's error, or
// an error of the file system.
func Open(ctx context.Context, ref string, opts Options) (*Dataset, error) {
	built, file, said := benchmarkOf(ref), filepath.Base(ref), opts.Default != ""
	if opts.Default == "" && built != nil {
		opts.Default, _ = orbench.ParseLabel(string(built.Manifest.Files[file].Label))
	}
	unlabeled := opts.Default == ""
	if unlabeled {
		opts.Default = orbench.Safe
	} else if label, ok := orbench.ParseLabel(string(opts.Default)); ok {
		opts.Default = label
	} else {
		return nil, &orbench.InputError{
			Setting: "label", Problem: fmt.Sprintf("unknown label %s", untrusted.Quote(string(opts.Default))),
			Hint: "use safe, toxic, controversial or undecided",
		}
	}
	src, err := resolve(ref, opts)
	if err != nil {
		return nil, err
	}
	if src.recorded != nil {
		if src.recorded.spool, err = newSpool(); err != nil {
			return nil, err
		}
		if ref = src.path; opts.Prompts != "" {
			if err := src.recorded.join(opts); err != nil {
				return nil, err
			}
		}
	}
	if built != nil && src.path == ref {
		set := benchmark.SetName(strings.TrimSuffix(file, filepath.Ext(file)))
		src.makers = makingOf(&built.Manifest, set)
		if opts.Cluster == "" || opts.Pair == "" {
			if src.origins, err = originsOf(ctx, built); err != nil {
				return nil, err
			}
		}
	}
	if src.path == ref && opts.Pair == "" {
		src.pairs = pairsOf(ref)
	}
	// Named datasets have known labels.
	unlabeled = unlabeled && src.path == ref
	src.watch = unlabeled && !opts.AssumeSafe && !opts.Unlabeled
	d, err := check(ctx, src)
	if err != nil {
		return nil, err
	}
	if src.recorded != nil {
		if err := src.recorded.spool.out.Flush(); err != nil {
			return nil, spoolFault(err)
		}
	}
	d.Unlabeled, d.PassedOver = opts.Unlabeled, d.Columns.passedOver
	d.LabelAssumed = unlabeled && d.Columns.Label == "" && !opts.Unlabeled
	if said && d.Columns.Label != "" {
		d.notes = append(d.notes, fmt.Sprintf("%s: the labels are those of the column %s; %s is for a file without such a column", d.Name, untrusted.Quote(d.Columns.Label), opts.Default))
	}
	if src.path != ref && opts.Prompt+opts.Category+opts.Label+opts.LabelValues+opts.Cluster+opts.Pair+opts.Response != "" {
		d.notes = append(d.notes, d.Name+": a dataset with a name has its own columns; those that are named are for files")
	}
	if src.wantSHA256 != "" && src.wantSHA256 != d.SHA256 {
		return nil, &orbench.InputError{
			File: src.path, Problem: "the file is not the one that was pulled: its hash differs",
			Hint: "fetch it again with: orbench dataset pull " + d.Name,
		}
	}
	if opts.Sample > 0 {
		err = d.draw(opts.Sample, opts.SampleSeed)
	}
	return d, err
}

// check reads a source in full.
func check(ctx context.Context, src source) (*Dataset, error) {
	d := &Dataset{Name: src.name, Source: src.path, Makers: src.makers, source: src}
	d.uncount()
	in, err := src.open()
	if err != nil {
		return nil, err
	}
	d.stamp, d.Columns, d.ClusteredBy = in.Stamp, in.columns, cmp.Or(in.columns.Cluster, in.columns.Pair)
	if d.ClusteredBy == "" && in.origins != nil {
		d.ClusteredBy = "seed"
	}
	d.PairedBy = in.pairedBy
	if src.recorded == nil {
		d.notes = slices.Concat(in.Notes, in.passed)
	}

	h := newHasher(hashVersion)
	// One byte is enough to tell labels apart, since their first letters differ.
	seen, folded, seed := map[uint64]byte{}, map[uint64]bool{}, maphash.MakeSeed()
	n := 0
	for p, err := range itemsOf(in, nil) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		n++
		key, letter := idBits(p.ID), p.Label[0]
		if first, ok := seen[key]; ok {
			d.Duplicates++
			d.repeated = append(d.repeated, n)
			if first != letter {
				d.Conflicts++
			}
			continue
		}
		seen[key] = letter
		d.count(p)
		h.add(p)
		if src.recorded != nil {
			if err := src.recorded.hold(p); err != nil {
				return nil, err
			}
		}
		text := p.Transcript()
		if entities.MatchString(text) {
			d.escaped++
		}
		of := maphash.String(seed, strings.ToLower(strings.Join(strings.Fields(text), " ")))
		if folded[of] {
			d.alike++
		}
		folded[of] = true
	}
	if d.Count == 0 {
		return nil, &orbench.InputError{File: src.path, Problem: "the dataset has no rows", Hint: "give a file with at least one prompt"}
	}
	if likely := in.watched.Likely(); likely != nil {
		return nil, unlabeledFault(src.path, likely)
	}
	if in.watched != nil && namedToxic(src.name) {
		return nil, &orbench.InputError{
			File: src.path, Problem: "its name says toxic, but without a column of labels its prompts would count as safe",
			Hint: "say with `label` whether all of them are toxic or safe",
		}
	}
	if src.recorded != nil {
		src.recorded.Notes = append(in.Notes, in.passed...)
		if d.Conflicts == 0 {
			d.Duplicates = 0 // these rows are further answers to a prompt
		}
	}
	d.SHA256 = h.sum()
	d.source.watch = false
	return d, nil
}

// Own gives the columns of the file that the prompts do not have and that are not taken, and of
// each prompt the ID that the file gives it, in a column with a usual name, before its cells of
// these columns; of equal prompts the first row's. There is nothing of the prompts of recorded
// answers.
func (d *Dataset) Own(taken []string) (columns []string, cells map[orbench.PromptID][]string, err error) {
	if d.Held() {
		return nil, nil, nil
	}
	s := d.source
	s.taken = taken
	in, err := d.open(s)
	if err != nil {
		return nil, nil, err
	}
	in.own = map[orbench.PromptID][]string{}
	for _, err := range itemsOf(in, nil) {
		if err != nil {
			return nil, nil, err
		}
	}
	return in.ownColumns, in.own, nil
}

// entities are those of HTML that stand in files which were not unescaped.
var entities = regexp.MustCompile(`&(?:amp|lt|gt|quot|nbsp|#x?[0-9A-Fa-f]{2,4});`)

// Notes say how the prompts were read, and what is odd about them, for the user to decide.
func (d *Dataset) Notes() (notes []string) {
	notes = slices.Clone(d.notes)
	if d.Duplicates > 0 {
		of := d.Count
		if d.Sample != nil {
			of = d.Sample.Of
		}
		notes = append(notes, fmt.Sprintf("%s: %d of %d rows repeat the text of an earlier row and are not counted again", d.Name, d.Duplicates, of+d.Duplicates))
	}
	if d.Conflicts > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of them have another label than the row that counts", d.Name, d.Conflicts))
	}
	if d.alike > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of %d prompts differ from an earlier one only in blanks or case, and each counts; delete them if they are the same", d.Name, d.alike, d.Count))
	}
	if d.escaped > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of %d prompts have HTML such as &amp;, which is sent as it is; unescape the file if the prompts had &", d.Name, d.escaped, d.Count))
	}
	return notes
}

// LabelsOf gives the labels of the prompts.
func (d *Dataset) LabelsOf() (map[orbench.PromptID]orbench.Label, error) {
	labels := map[orbench.PromptID]orbench.Label{}
	for p, err := range d.Prompts() {
		if err != nil {
			return nil, err
		}
		labels[p.ID] = p.Label
	}
	return labels, nil
}

// uncount resets the counts.
func (d *Dataset) uncount() {
	d.Count, d.Labels, d.Categories = 0, map[orbench.Label]int{}, map[orbench.Category]int{}
}

// count counts a prompt.
func (d *Dataset) count(p orbench.Prompt) {
	d.Count++
	d.Labels[p.Label]++
	d.Categories[p.Category]++
}

// Kept is a dataset with this description, whose prompts were kept in place of its
// source. prompts must begin with the first prompt and have as many as will be read.
func Kept(described Dataset, prompts iter.Seq2[orbench.Prompt, error]) *Dataset {
	described.kept = prompts
	return &described
}

// unlabeledFault is the fault of a file whose labels would be ignored.
func unlabeledFault(file string, likely *likely) error {
	how := "`label-column` " + untrusted.Shell(likely.Column)
	if likely.Values != "" {
		how += " `label-values` " + untrusted.Shell(likely.Values)
	}
	return &orbench.InputError{
		File: file, Line: 1,
		Problem: fmt.Sprintf("no column is known to hold labels, but %s may be one: %s", untrusted.Quote(likely.Column), likely.Why),
		Hint:    "take it with " + how + ", or say what all prompts are with `label` safe or toxic",
	}
}

// Size is the number of prompts within a limit; 0 means no limit.
func (d *Dataset) Size(limit int) int {
	if limit > 0 {
		return min(limit, d.Count)
	}
	return d.Count
}

// First reads the first limit prompts, all of them if limit is 0, as Prompts does. An error
// ends the sequence.
func (d *Dataset) First(limit int) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		left := d.Size(limit)
		for p, err := range d.Prompts() {
			if err == nil && left == 0 {
				return
			}
			if left--; !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Prompts streams the prompts in the order of the file, each text once. It may be used
// any number of times. The file is read again. If it has changed since Open, the sequence
// ends with an error: at once if its size or time of change differ, otherwise at the
// first bad row or after the last one.
func (d *Dataset) Prompts() iter.Seq2[orbench.Prompt, error] {
	if d.kept != nil {
		return d.answered(d.kept)
	}
	return d.answered(func(yield func(orbench.Prompt, error) bool) {
		if d.source.recorded != nil {
			for i := range d.source.recorded.held {
				if d.drawn != nil && !d.drawn[i] {
					continue
				}
				if p, err := d.source.recorded.prompt(i); !yield(p, err) || err != nil {
					return
				}
			}
			return
		}
		in, err := d.open(d.source)
		h := newHasher(hashVersion)
		repeated, n, different := d.repeated, 0, 0
		for p, err := range itemsOf(in, err) {
			if err != nil {
				yield(p, err)
				return
			}
			if n++; len(repeated) > 0 && repeated[0] == n {
				repeated = repeated[1:]
				continue
			}
			if different++; d.drawn != nil && (different > len(d.drawn) || !d.drawn[different-1]) {
				continue
			}
			h.add(p)
			if !yield(p, nil) {
				return
			}
		}
		if h.sum() != d.SHA256 {
			yield(orbench.Prompt{}, d.changed())
		}
	})
}

// open opens the file of a source again. An error says that it has changed since Open.
func (d *Dataset) open(s source) (*input, error) {
	in, err := s.open()
	if err == nil && in.Stamp != d.stamp {
		in.Close()
		return nil, d.changed()
	}
	return in, err
}

// Held reports whether the prompts are those of recorded answers, whose file is not read again.
func (d *Dataset) Held() bool { return d.source.recorded != nil }

func (d *Dataset) changed() error {
	return &orbench.InputError{
		File: d.Source, Problem: "the file changed after it was checked",
		Hint: "run the command again; answers already paid for are kept",
	}
}

// idBits is the number that a PromptID gives in hex, for a small set.
func idBits(id orbench.PromptID) uint64 {
	var b [8]byte
	if n, err := hex.Decode(b[:], []byte(id[1:])); n != len(b) || err != nil {
		panic("dataset: a prompt ID that is not p and 16 hex digits: " + string(id))
	}
	return binary.BigEndian.Uint64(b[:])
}

// hashVersion is the first input of the hash. It changes if the form below changes.
const hashVersion = "orbench dataset 1\n"

// hasher computes the hash of a dataset or of recorded answers: the SHA-256 of a version
// line and of everything added. Texts are preceded by their length in bytes; lengths and
// numbers are unsigned varints.
type hasher struct {
	h   hash.Hash
	buf []byte
}

func newHasher(version string) *hasher {
	h := &hasher{h: sha256.New()}
	h.h.Write([]byte(version))
	return h
}

// add adds a prompt: its ID, category, label, the number of its messages, and each
// message's role and content.
func (h *hasher) add(p orbench.Prompt) {
	b := h.buf[:0]
	b = appendText(b, string(p.ID))
	b = appendText(b, string(p.Category))
	b = appendText(b, string(p.Label))
	b = binary.AppendUvarint(b, uint64(len(p.Messages)))
	for _, m := range p.Messages {
		b = appendText(b, string(m.Role))
		b = appendText(b, m.Content)
	}
	h.h.Write(b)
	h.buf = b
}

// addAnswer adds a recorded answer: its prompt and its response, and how it ended if the
// model did not end it.
func (h *hasher) addAnswer(prompt string, a orbench.Recorded) {
	h.buf = appendText(appendText(h.buf[:0], prompt), a.Text)
	if a.Finish != "" && a.Finish != string(model.Stop) {
		h.buf = appendText(h.buf, a.Finish)
	}
	if a.Block != "" {
		h.buf = appendText(appendText(h.buf, a.Block), a.Detail)
	}
	h.h.Write(h.buf)
}

func (h *hasher) sum() string { return hex.EncodeToString(h.h.Sum(nil)) }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
