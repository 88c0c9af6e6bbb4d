package training

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
)

// FormatVersion is the Manifest.Format of the folders that this package writes.
const FormatVersion = "orbench training 1"

// The files of a folder, besides a JSON Lines and a Parquet file for each split.
const (
	ManifestFile = "manifest.json"
	OriginsFile  = "origins.jsonl"
	CardFile     = "README.md"
	// FactoryFile describes the files to LLaMA-Factory. Only some formats have it.
	FactoryFile = "dataset_info.json"
)

// Manifest describes how a training set was made. It is the file manifest.json.
type Manifest struct {
	// Format is FormatVersion.
	Format string `json:"format"`
	// Kind is the format of the rows. Plain is true if they hold texts in place of
	// messages.
	Kind  Format `json:"kind"`
	Plain bool   `json:"plain,omitempty"`
	// Simulated is true if an answer, a verdict or a prompt comes from a simulated model.
	Simulated bool `json:"simulated"`
	// Unclear are the names under which answers came that may be chosen or rejected, where they may
	// be another model's.
	Unclear []score.ServedBy `json:"served_unclear,omitempty"`
	// Run is the run that it was made from, empty for a set of prompts alone. Command is
	// the command that wrote it.
	Run     string `json:"run,omitempty"`
	Command string `json:"command"`
	// Target is the target to be trained, empty if none was named. ChosenFrom are the
	// targets whose answers may be chosen; empty means all of Targets.
	Target     string   `json:"target,omitempty"`
	ChosenFrom []string `json:"chosen_from,omitempty"`
	Targets    []string `json:"targets,omitempty"`
	// Judges graded the answers. Each comes with its known error.
	Judges   []Judge  `json:"judges,omitempty"`
	Datasets []Source `json:"datasets"`
	// PerPrompt is the most rows for a prompt, and for each label of KTO.
	PerPrompt int `json:"per_prompt"`
	// ToxicShare is the wanted share of toxic prompts, nil if all were used.
	ToxicShare *float64 `json:"toxic_share,omitempty"`
	// Harmful is true if answers that comply with toxic prompts are written.
	Harmful bool `json:"harmful_answers"`
	// Splits are the shares of train, validation and test.
	Splits      [3]float64  `json:"splits"`
	Seed        uint64      `json:"seed"`
	Evaluations Evaluations `json:"evaluations"`
	// before counts the prompts before ToxicShare left some out. avoided is true if all rows of
	// KTO are answers to avoid.
	before  map[orbench.Label]int
	avoided bool
	Prompts Ledger `json:"prompts"`
	Answers Ledger `json:"answers"`
	Parts   []Part `json:"parts"`
	// Files has the hashes of all other files, by name.
	Files map[string]File `json:"files"`
}

// Judge is a judge and its known error.
type Judge struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// Source is a dataset of prompts in the set.
type Source struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	SHA256  string `json:"sha256"`
	Prompts int    `json:"prompts"`
	// ClusteredBy says what defines clusters of the prompts. If it is empty, each prompt
	// is its own cluster.
	ClusteredBy string `json:"clustered_by,omitempty"`
}

// Part is the prompts of one label in one split.
type Part struct {
	Split   string        `json:"split"`
	Label   orbench.Label `json:"label"`
	Prompts int           `json:"prompts"`
	Rows    int           `json:"rows"`
}

// File is a file of the folder.
type File struct {
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows,omitempty"`
}

// Origin records where a row came from. origins.jsonl has a line for each.
type Origin struct {
	Split string `json:"split"`
	// Row is the number of the row in its split, from 1.
	Row      int              `json:"row"`
	ID       orbench.PromptID `json:"id"`
	Label    orbench.Label    `json:"label"`
	Category orbench.Category `json:"category,omitempty"`
	// Cluster is the prompt's cluster, or its own ID if it shares nothing.
	Cluster  string  `json:"cluster"`
	Dataset  string  `json:"dataset"`
	Chosen   *Answer `json:"chosen,omitempty"`
	Rejected *Answer `json:"rejected,omitempty"`
}

func sourceOf(set *dataset.Dataset) Source {
	return Source{set.Name, set.Source, set.SHA256, set.Count, set.ClusteredBy}
}

// describe records the settings of the run. language is that of its answers.
func (c *Collection) describe(r *run.Run, language string) {
	m := &c.manifest
	m.Run = r.Name
	for _, t := range r.Targets {
		m.Targets = append(m.Targets, t.Name)
	}
	for _, set := range r.Datasets {
		m.Datasets = append(m.Datasets, sourceOf(set))
	}
	for _, j := range r.Judges {
		m.Judges = append(m.Judges, Judge{j.Name(), score.DescribeJudge(j.Name(), []orbench.Label{orbench.Safe, orbench.Toxic}, language)})
	}
}

// Empty reports whether the set has no rows.
func (m *Manifest) Empty() bool {
	return !slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Rows > 0 })
}

// count sums up the parts that meet a condition.
func (m *Manifest) count(of func(Part) bool) (prompts, rows int) {
	for _, p := range m.Parts {
		if of(p) {
			prompts += p.Prompts
			rows += p.Rows
		}
	}
	return prompts, rows
}
