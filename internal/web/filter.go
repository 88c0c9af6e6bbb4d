package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// The verdicts that stand for several classes.
const (
	refused  = "refused"
	answered = "answered"
	judged   = "judged"
	unjudged = "unjudged"
)

// cut is the status of answers that the token limit cut.
const cut = "cut"

// classesOf lists the classes that a word of the parameter verdict means.
func classesOf(word string) []string {
	var classes []string
	for _, c := range orbench.Classes {
		if word == judged || word == refused && c.Refused() || word == answered && !c.Refused() || word == string(c) {
			classes = append(classes, string(c))
		}
	}
	return classes
}

// filterOf translates a query for a study.
func filterOf(q page.Query, o *opened, rows *index.Study, words annotation.Words) (index.Filter, error) {
	f := index.Filter{Values: map[string][]string{}, Text: q.Get("q"), Disagree: q.Get("split") == "yes"}
	for _, name := range []string{"dataset", "label", "sample"} {
		if len(q[name]) > 0 {
			f.Values[name] = q[name]
		}
	}
	for _, category := range q["category"] {
		if category == table.Category("") {
			category = ""
		}
		f.Values["category"] = append(f.Values["category"], category)
	}
	if targets := o.targets(q); targets != nil {
		f.Values["target"] = targets
	}
	for _, status := range q["status"] {
		if status == cut {
			f.Values["cut"] = []string{"yes"}
			status = string(score.Answered)
		}
		f.Values["status"] = append(f.Values["status"], status)
	}
	for i, word := range q["verdict"] {
		judge := judgeOf(q, i, rows)
		if !slices.Contains(rows.Judges, judge) {
			return f, &orbench.InputError{Setting: "judge", Problem: fmt.Sprintf("%s has no judge %q", o.Name, judge), Hint: "use one of " + strings.Join(rows.Judges, ", ")}
		}
		dimension := "class by " + judge
		if word == unjudged {
			f.Values[dimension] = append(f.Values[dimension], "")
			if f.Values["status"] == nil {
				f.Values["status"] = []string{string(score.Answered), string(score.Blocked)}
			}
			continue
		}
		classes := classesOf(word)
		if classes == nil {
			return f, &orbench.InputError{Setting: "verdict", Problem: fmt.Sprintf("%q is no verdict", word), Hint: "use refused, answered, judged, unjudged or a class: " + strings.Join(classesOf(judged), ", ")}
		}
		f.Values[dimension] = append(f.Values[dimension], classes...)
	}
	for i, person := range q["person"] {
		if i == 0 {
			f.Subjects = map[orbench.Subject]bool{}
		}
		maps.Copy(f.Subjects, words.By(person))
	}
	return f, nil
}

// judgeOf is the judge of the n-th verdict of a query.
func judgeOf(q page.Query, n int, rows *index.Study) string {
	if judges := q["judge"]; len(judges) > 0 {
		return judges[min(n, len(judges)-1)]
	}
	if len(rows.Judges) > 0 {
		return rows.Judges[0]
	}
	return ""
}

// orderOf translates the order of a query for a study.
func orderOf(q page.Query, rows *index.Study) (index.Order, error) {
	by, descending := strings.CutPrefix(q.Get("sort"), "-")
	switch by {
	case "":
		return index.Order{}, nil
	case "length":
		return index.Order{By: by, Descending: descending}, nil
	case "score":
		return index.Order{By: judgeOf(q, 0, rows), Descending: descending}, nil
	}
	return index.Order{}, &orbench.InputError{Setting: "sort", Problem: fmt.Sprintf("answers are not sorted by %q", by), Hint: "use score, -score, length or -length"}
}

// addFacets adds the counts of a study to those of the page, by parameter.
func (l looked) addFacets(all map[string]map[string]int, facets map[string]map[string]int, q page.Query) {
	add := func(name, value string, n int) {
		if n == 0 {
			return
		}
		if all[name] == nil {
			all[name] = map[string]int{}
		}
		all[name][value] += n
	}
	for _, name := range []string{"target", "category", "dataset", "label", "status", "sample"} {
		for value, n := range facets[name] {
			switch {
			case name == "target":
				add("variant", value, n)
			case name == "category":
				add(name, table.Category(orbench.Category(value)), n)
			case name != "sample" || value != "0":
				add(name, value, n)
			}
		}
	}
	add("status", cut, facets["cut"]["yes"])
	judge := judgeOf(q, 0, l.rows)
	for value, n := range facets["class by "+judge] {
		class := orbench.Class(value)
		switch {
		case class == orbench.Unjudged:
			continue
		case class.Refused():
			add("verdict", refused, n)
		default:
			add("verdict", answered, n)
		}
		add("verdict", value, n)
	}
	for _, j := range l.rows.Judges {
		add("judge", j, l.rows.Answers())
	}
}

// facetsOf lays out the counts of a page. A facet with one value, which chooses nothing, is
// left out.
func facetsOf(q page.Query, counts map[string]map[string]int) []page.Facet {
	var all []page.Facet
	for _, t := range page.FacetTitles {
		values := counts[t.Name]
		if values == nil {
			values = map[string]int{}
		}
		for _, v := range q[t.Name] {
			values[v] += 0 // listed also where no answer has it
		}
		if len(values) < 2 && len(q[t.Name]) == 0 {
			continue
		}
		f := page.Facet{Title: t.Title, Name: t.Name}
		names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(values[b], values[a]), cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
		})
		for _, v := range names {
			value := page.FacetValue{Value: v, Text: strings.ReplaceAll(v, "_", " "), Chosen: q.Has(t.Name, v)}
			if t.Name != "judge" {
				value.Count = table.Count(values[v])
			}
			if t.Name == "variant" || t.Name == "dataset" || t.Name == "judge" {
				value.Text = v
			}
			f.Values = append(f.Values, value)
		}
		all = append(all, f)
	}
	return all
}

// rank puts the words for several classes before the classes.
func rank(value string) int {
	if value == refused || value == answered {
		return 0
	}
	return 1
}

func number(value string) int {
	n, _ := strconv.Atoi(value) // 0 for what is no number
	return n
}

// peopleOn lists what people say of a subject.
func peopleOn(words annotation.Words, s orbench.Subject) []page.Word {
	var all []page.Word
	for _, a := range words.On(s) {
		all = append(all, page.Word{Person: a.By, Word: annotation.Word(a), How: string(a.How), Note: a.Note})
	}
	return all
}

// addLinks adds the links of a page that keep its filter.
func addLinks(p *page.Answers, q page.Query, studies []looked) {
	p.Link(func(q page.Query) string { return q.Address("/answers") })
	for _, name := range page.Parameters {
		if slices.Contains([]string{"study", "by", "sort", "after", "q"}, name) {
			continue
		}
		for _, value := range q[name] {
			p.Chosen = append(p.Chosen, page.Link{Text: name + ": " + value, Address: q.Without("after").Drop(name, value).Address("/answers")})
		}
	}
	for _, name := range []string{"study", "by", "sort", "person", "prompt", "target", "split"} {
		for _, value := range q[name] {
			p.Hidden = append(p.Hidden, page.Hidden{Name: name, Value: value})
		}
	}
	if len(studies) == 1 && len(q["study"]) > 0 {
		p.Title = studies[0].Name + ": answers – orbench"
	}
}
