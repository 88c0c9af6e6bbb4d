package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/table"
)

// wantedOf lists the terms that a query wants of the rows of a study.
func wantedOf(q page.Query, o *opened, rows *index.Study) (facet.Terms, error) {
	wanted := facet.Terms(q.With())
	if len(q["verdict"]) > 0 || strings.HasSuffix(q.Get("sort"), "score") {
		for _, judge := range q["judge"] {
			if !slices.Contains(rows.Judges, judge) {
				return nil, &orbench.InputError{Setting: "judge", Problem: fmt.Sprintf("%s has no judge %q", o.Name, judge), Hint: "use one of " + strings.Join(rows.Judges, ", ")}
			}
		}
	}
	for i, word := range q["verdict"] {
		if !slices.Contains(facet.Verdicts(), word) {
			return nil, &orbench.InputError{Setting: "verdict", Problem: fmt.Sprintf("%q is no verdict", word), Hint: "use " + strings.Join(facet.Verdicts(), ", ")}
		}
		by := facet.Verdict(judgeOf(q, i, rows))
		wanted[by] = append(wanted[by], word)
	}
	return wanted, nil
}

// afterOf is after how many rows a page begins.
func afterOf(q page.Query) (int, error) {
	n, err := strconv.Atoi(cmp.Or(q.Get("after"), "0"))
	if err != nil || n < 0 {
		return 0, &orbench.InputError{Setting: "after", Problem: fmt.Sprintf("%q is no place where a page begins", q.Get("after")), Hint: "take the one that the page before gives"}
	}
	return n, nil
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
func (l looked) addFacets(all map[string]map[string]int, q page.Query) {
	l.facets["verdict"], l.facets["judge"] = l.facets[facet.Verdict(judgeOf(q, 0, l.rows))], map[string]int{}
	for _, j := range l.rows.Judges {
		l.facets["judge"][j] = l.rows.Answers()
	}
	for _, t := range page.FacetTitles {
		if all[t.Name] == nil {
			all[t.Name] = map[string]int{}
		}
		for value, n := range l.facets[t.Name] {
			if n > 0 {
				all[t.Name][value] += n
			}
		}
	}
}

// peopleOn lists what people say of a subject.
func peopleOn(words annotation.Words, s orbench.Subject) []page.Word {
	return table.RowsOf(words.On(s), func(a orbench.Annotation) page.Word {
		return page.Word{Person: a.By, Word: annotation.Word(a), How: string(a.How), Note: a.Note}
	})
}

// addLinks adds the links of a page that keep its filter.
func addLinks(p *page.Answers, q page.Query, studies []looked) {
	p.Link(func(q page.Query) string { return q.Address("/answers") })
	for _, name := range page.Parameters {
		field := name == "q" || name == "after" || slices.ContainsFunc(page.FacetTitles, func(f page.Facet) bool { return f.Name == name })
		said := name
		for _, f := range p.Facets {
			if f.Name == name {
				said = strings.ToLower(f.Title)
			}
		}
		for _, value := range q[name] {
			if !field {
				p.Hidden = append(p.Hidden, page.Hidden{Name: name, Value: value})
			}
			if !slices.Contains([]string{"study", "by", "sort", "after", "q"}, name) {
				p.Chosen = append(p.Chosen, page.Link{Text: said + ": " + value, Address: q.Without("after").Drop(name, value).Address("/answers")})
			}
		}
	}
	if len(studies) == 1 && len(q["study"]) > 0 {
		p.Title = studies[0].Name + ": answers – orbench"
	}
}
