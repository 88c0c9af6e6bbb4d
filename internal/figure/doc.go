// Package figure is what a report shows: one type of row for every number, with what it is
// of, what it counts and what is missing, its range and what that rests on. A registry says
// what each measure is, so that tables, files and plots ask for figures and do not know how
// they are computed.
//
//	for f := range figure.Of(result.Figures, figure.Change) {
//		fmt.Println(f.Target, f.Other, f.Value, f.Range)
//	}
//
// A figure has one range, which is shown first everywhere: for a new model, with the judge's
// error, or by people's labels. Sampling is the interval by verdicts alone. A figure whose
// judge nobody checked has no range.
package figure
