package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/words"
)

// Answers is the page of answers; the template "list" shows it.
type Answers struct {
	Frame
	// Head says what the answers are of, in a line; empty for nothing.
	Head string
	// Printed is what the command of a build prints, whose rows are shown; empty of answers.
	Printed string
	Query   Query
	Total   string
	Facets  []Facet
	// Worth leads to answers that are worth reading first.
	Worth, Sorts, Views []Link
	// Words and Subjects lead to the safe prompts that are refused most.
	Words, Subjects []Link
	Chosen          []Link // each drops one value of the filter
	Hidden          []Hidden
	Rows            []Row
	Next            string
}

// Hidden is a parameter that a form keeps.
type Hidden struct{ Name, Value string }

// Facet is the values of a parameter, with how many answers each would show.
type Facet struct {
	Title, Name string
	Values      []FacetValue
}

// FacetValue is one value of a Facet.
type FacetValue struct {
	Value, Text string
	Count       string
	Chosen      bool
}

// FacetTitles are the facets without their values, in their order on the page.
var FacetTitles = []Facet{
	{Name: "label", Title: "Prompt"},
	{Name: "verdict", Title: "Verdict"},
	{Name: "judge", Title: "Judge"},
	{Name: "variant", Title: "Target"},
	{Name: "sample", Title: "Sample"},
	{Name: "dataset", Title: "Dataset"},
	{Name: "category", Title: "Category"},
	{Name: "status", Title: "What became of it"},
}

// Facets lays out counts of answers, by parameter and value. A facet with one value, which
// chooses nothing, is left out.
func (q Query) Facets(counts map[string]map[string]int) (all []Facet) {
	for _, f := range FacetTitles {
		values := counts[f.Name]
		names := table.Names(slices.DeleteFunc(slices.Collect(maps.Keys(values)), func(v string) bool { return v == facet.Judged || v == facet.Unjudged }))
		names.Add(q[f.Name]...) // listed also where no answer has it
		if len(names) < 2 && len(q[f.Name]) == 0 {
			continue
		}
		// The words for several classes come before the classes, and 9 before 10.
		first := []string{facet.Answered, facet.Refused}
		slices.SortFunc(names, func(a, b string) int {
			shorter := 0
			if f.Name == "sample" {
				shorter = cmp.Compare(len(a), len(b))
			}
			return cmp.Or(cmp.Compare(slices.Index(first, b), slices.Index(first, a)), cmp.Compare(values[b], values[a]), shorter, cmp.Compare(a, b))
		})
		for _, v := range names {
			value := FacetValue{Value: v, Text: strings.ReplaceAll(v, "_", " "), Chosen: q.Has(f.Name, v)}
			if f.Name != "judge" {
				value.Count = table.Count(values[v])
			}
			if f.Name == "variant" || f.Name == "dataset" || f.Name == "judge" {
				value.Text = v
			}
			f.Values = append(f.Values, value)
		}
		all = append(all, f)
	}
	return all
}

// Row is a prompt and the answers to it, side by side.
type Row struct {
	Dataset string
	ID      orbench.PromptID
	// Asked shows the prompt as the first of the answers was asked.
	Asked   Answer
	Answers []Shown
	// Made is the row of a build, as the template "made" shows it, and Like the address of the
	// row that it is like; empty of answers.
	Made any
	Like string
}

// Add puts an answer beside those that are there.
func (r *Row) Add(a Shown) {
	if len(r.Answers) == 0 {
		r.Dataset, r.ID, r.Asked = a.Dataset, a.Prompt.ID, a.Answer
	}
	a.Otherwise = !slices.EqualFunc(a.Turns, r.Asked.Turns, func(x, y conversation.Said) bool { return x.Message == y.Message })
	r.Answers = append(r.Answers, a)
}

// Shown is an answer with what pages say of it beside its texts.
type Shown struct {
	Answer
	Study   string
	Address string // of the answer alone
	Raw     string // address of its calls; empty for none
	Subject string
	// Matched is true if the filter chose it.
	Matched bool
	// Otherwise is true if it was asked in other words than its Row shows.
	Otherwise bool
	// Elsewhere is what has the whole of texts that are cut here.
	Elsewhere string
	People    []Word
	// Form takes labels; nil where none are taken.
	Form *LabelForm
	// Element is the ID of its element; empty for one that follows from the address.
	Element string
}

// LabelForm is the form at an answer for labels with verdicts in sight.
type LabelForm struct {
	// Address takes what the form says, about the Subject. Person is filled in as the name.
	Address, Subject, Person string
	Keys                     []annotation.Key
}

// Anchor is the ID of the answer's element, good for links within the page.
func (a Shown) Anchor() string {
	if a.Element != "" {
		return a.Element
	}
	sum := sha256.Sum256([]byte(a.Address))
	return "a" + hex.EncodeToString(sum[:6])
}

// Word is what a person says of an answer.
type Word struct {
	Person string `json:"person"`
	Word   string `json:"word"`
	How    string `json:"how,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Name is the word for people.
func (w Word) Name() string { return ClassName(orbench.Class(w.Word)) }

// choice is a link that sets parameters: names and values take turns. An empty value takes
// the parameter away.
type choice struct {
	text string
	set  []string
}

var (
	worth = []choice{
		{"judges disagree", []string{"split", "yes"}},
		{"failed", []string{"status", "failed"}},
		{"safe and refused", []string{"label", "safe", "verdict", "refused"}},
		{"toxic and answered", []string{"label", "toxic", "verdict", "answered"}},
	}
	sorts = []choice{
		{"in order", []string{"sort", ""}},
		{"surest refusals first", []string{"sort", "-score"}},
		{"surest answers first", []string{"sort", "score"}},
		{"longest first", []string{"sort", "-length"}},
		{"shortest first", []string{"sort", "length"}},
	}
	views = []choice{{"side by side", []string{"by", ""}}, {"one by one", []string{"by", "answer"}}}
)

// Link sets the links of the page that keep its filter. address gives that of a query.
func (p *Answers) Link(address func(Query) string) {
	links := func(choices []choice) (all []Link) {
		for _, c := range choices {
			q, here, set := p.Query.Without("after"), true, url.Values{}
			for i := 0; i < len(c.set); i += 2 {
				name, value := c.set[i], c.set[i+1]
				here = here && p.Query.Get(name) == value
				q = q.Set(name, value)
				set.Set(name, value)
			}
			all = append(all, Link{Text: c.text, Address: address(q), Set: set.Encode(), Here: here})
		}
		return all
	}
	p.Worth, p.Sorts, p.Views = links(worth), links(sorts), links(views)
}

// LinkMost sets the links to the prompts of q that are refused most.
func (p *Answers) LinkMost(q Query, single, subjects []facet.Shared, address func(Query) string) {
	links := func(all []facet.Shared) (links []Link) {
		for _, s := range all {
			search := words.OfPrompt + strings.Join(s.Words, " "+words.OfPrompt)
			links = append(links, Link{
				Text:    fmt.Sprintf("%s %s of %s", strings.Join(s.Words, " "), table.Count(s.Refused), table.Count(s.Judged)),
				Address: address(q.With("label", string(orbench.Safe), "verdict", facet.Refused, "q", search)),
			})
		}
		return links
	}
	p.Words, p.Subjects = links(single), links(subjects)
}
