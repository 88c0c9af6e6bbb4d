package page

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"github.com/orbench/orbench"
)

// Answers is the page of answers; the template "list" shows it.
type Answers struct {
	Frame
	// Head says what the answers are of, in a line; empty for nothing.
	Head   string
	Query  Query
	Total  string
	Facets []Facet
	// Worth leads to answers that are worth reading first.
	Worth, Sorts, Views []Link
	Chosen              []Link // each drops one value of the filter
	Hidden              []Hidden
	Rows                []Row
	Next                string
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

// FacetTitle is the title of a parameter's facet.
type FacetTitle struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// FacetTitles are those of the facets, in their order on the page.
var FacetTitles = []FacetTitle{
	{"label", "Prompt"},
	{"verdict", "Verdict"},
	{"judge", "Judge"},
	{"variant", "Target"},
	{"sample", "Sample"},
	{"dataset", "Dataset"},
	{"category", "Category"},
	{"status", "What became of it"},
}

// Row is a prompt and the answers to it, side by side.
type Row struct {
	Dataset string
	ID      orbench.PromptID
	// Asked shows the prompt as the first of the answers was asked.
	Asked   Answer
	Answers []Shown
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
	Keys                     []LabelKey
}

// LabelKey is a key, the label that it gives, the label's name in short, what it means, and
// what it replies to the question that is asked: empty for a finer class.
type LabelKey struct{ Key, Word, Short, Means, Reply string }

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
