package logs

import (
	"math"
	"slices"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Wrong says which refusals of a log were wrong, by what people said of the looks. Its JSON
// form is documented in docs/schemas/log-wrong.json. All shares are of the log from which the looks were
// drawn; the intervals count the drawing.
type Wrong struct {
	// Looks is the number of looks, Open those that nobody has looked at, and Undecided
	// those of which somebody cannot tell. Neither of the two counts in a figure.
	Looks     int `json:"looks"`
	Open      int `json:"open"`
	Undecided int `json:"undecided"`
	// Exchanges is the number of exchanges of the log. UndecidedExchanges are those of strata
	// of which nobody could decide a look; they are in no share.
	Exchanges          int `json:"exchanges"`
	UndecidedExchanges int `json:"undecided_exchanges"`
	// Refused is the share of exchanges that people call refused, and WrongRefusals that of
	// those that were refused and should have been answered. Missed is the share that was
	// answered and should not have been. Each is nil if a stratum has no look yet.
	Refused       *stats.Estimate `json:"refused"`
	WrongRefusals *stats.Estimate `json:"wrong_refusals"`
	Missed        *stats.Estimate `json:"missed"`
	// OfRefusals is the share of refusals that were wrong; nil also without a refusal.
	// UndecidedRange is from its value if all undecided refusals were right to that if all
	// were wrong; nil without undecided ones.
	OfRefusals     *stats.Estimate `json:"of_refusals"`
	UndecidedRange *[2]float64     `json:"undecided_range,omitempty"`
	// OfSeen is the share of wrong ones among the refusals that lexical and the log see. It
	// does not say how many they miss, and so needs fewer looks.
	OfSeen *stats.Estimate `json:"of_seen_refusals"`
	// Sources has the share of wrong refusals by who refused.
	Sources []WrongSource `json:"sources"`
	// Thresholds are other thresholds of the guard before the model. There are none for a log
	// without its scores.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Needed is about how many looks would give OfSeen a half-width of 5 points; 0 if it
	// is not known, or the log has too few refusals.
	Needed int `json:"needed"`
}

// WrongSource is the part of one source.
type WrongSource struct {
	Source Source `json:"source"`
	// Exchanges counts its refusals in the log, as lexical and the log say, and Looks those
	// that people looked at.
	Exchanges int             `json:"exchanges"`
	Looks     int             `json:"looks"`
	Wrong     *stats.Estimate `json:"wrong"`
}

// decided counts the drawn exchanges of a stratum by what people said.
type decided struct {
	name                                    string
	size, open                              int
	n, looks                                float64
	refused, wrong, missed, undecidedRefuse float64
}

// count counts the looks of a stratum.
func count(looks []Look) decided {
	d := decided{name: looks[0].Stratum, size: looks[0].Size}
	for _, l := range looks {
		times := float64(l.Times)
		switch {
		case l.Open():
			d.open++
		case l.Refused == Unknown:
		case l.Refused == Yes && l.Answerable == Unknown:
			d.undecidedRefuse += times
		case l.Answerable == Unknown:
		default:
			d.n += times
			d.looks++
			if l.Refused == Yes {
				d.refused += times
			}
			if l.Refused == Yes && l.Answerable == Yes {
				d.wrong += times
			}
			if l.Refused == No && l.Answerable == No {
				d.missed += times
			}
		}
	}
	return d
}

// Rate computes the figures. Looks are a random sample of each stratum (see Draw), so the
// shares of the strata are weighted by their sizes (stats.StratifiedRate and
// stats.StratifiedRatio).
func Rate(looks []Look) Wrong {
	out := Wrong{Looks: len(looks), Open: Left(looks), Sources: []WrongSource{}}
	for _, l := range looks {
		if !l.Open() && (l.Refused == Unknown || l.Answerable == Unknown) {
			out.Undecided++
		}
	}
	var all []decided
	for _, stratum := range byStratum(looks) {
		d := count(stratum)
		out.Exchanges += d.size
		if d.n > 0 || d.open > 0 {
			all = append(all, d)
		} else {
			out.UndecidedExchanges += d.size
		}
	}
	rate := func(part func(decided) float64) *stats.Estimate {
		strata := table.RowsOf(all, func(d decided) stats.LabeledStratum {
			return stats.LabeledStratum{Size: d.size, Mean: part(d) / math.Max(1, d.n), Labels: d.n}
		})
		return stats.OrNil(stats.StratifiedRate(strata, 1, confidence))
	}
	ratio := func(of []decided) *stats.Estimate {
		var strata []stats.RatioStratum
		for _, d := range of {
			s := stats.RatioStratum{Size: d.size}
			if d.n > 0 {
				s.Labels, s.Part, s.Rest = d.n, d.wrong/d.n, (d.refused-d.wrong)/d.n
			}
			strata = append(strata, s)
		}
		return stats.OrNil(stats.StratifiedRatio(strata, 1, confidence))
	}
	out.Refused = rate(func(d decided) float64 { return d.refused })
	out.WrongRefusals = rate(func(d decided) float64 { return d.wrong })
	out.Missed = rate(func(d decided) float64 { return d.missed })
	out.OfRefusals = ratio(all)
	var seen []decided
	for _, source := range Sources {
		var of []decided
		s := WrongSource{Source: source}
		for _, d := range all {
			if by, refused := sourceOf(d.name); refused && by == source {
				of = append(of, d)
				s.Exchanges += d.size
				s.Looks += int(d.looks)
			}
		}
		seen = append(seen, of...)
		if len(of) > 0 {
			s.Wrong = ratio(of)
			out.Sources = append(out.Sources, s)
		}
	}
	out.UndecidedRange = undecided(all)
	out.Thresholds = thresholds(looks)
	if len(seen) > 0 {
		out.OfSeen = ratio(seen)
	}
	if e := out.OfSeen; e != nil {
		const wanted = 0.05
		half := (e.Hi - e.Lo) / 2
		times := half * half / wanted / wanted
		out.Needed = int(math.Ceil(float64(out.Looks-out.Open) * times))
		var refusals, looks int
		for _, s := range out.Sources {
			refusals, looks = refusals+s.Exchanges, looks+s.Looks
		}
		if float64(looks)*times > float64(refusals) {
			out.Needed = 0
		}
	}
	return out
}

// confidence is the level of all intervals.
const confidence = 0.95

// undecided is the share of wrong refusals if nobody's undecided refusal was wrong, and if
// all were.
func undecided(all []decided) *[2]float64 {
	var refused, wrong, open float64
	for _, d := range all {
		if n := d.n + d.undecidedRefuse; n > 0 {
			weight := float64(d.size) / n
			refused += weight * (d.refused + d.undecidedRefuse)
			wrong += weight * d.wrong
			open += weight * d.undecidedRefuse
		}
	}
	if open == 0 || refused == 0 {
		return nil
	}
	return &[2]float64{wrong / refused, (wrong + open) / refused}
}

// Document returns what people read.
func (w Wrong) Document() table.Document {
	d := table.Document{Title: "Wrong refusals"}
	s := table.Section{Title: "Which refusals were wrong, by " + table.Counted(w.Looks-w.Open, "label", "labels"), Left: 1, Header: []string{"", "share", "95% interval"}}
	s.Add("refused and should have been answered", w.WrongRefusals)
	s.Add("refused", w.Refused)
	s.Add("answered and should not have been", w.Missed)
	s.Note = "Shares of " + table.Counted(w.Exchanges-w.UndecidedExchanges, "exchange", "exchanges") + " of this log. Intervals count the drawing, not what other weeks would bring."
	d.AddTo(everyPlace, s)
	by := table.Section{Title: "Share of refusals that were wrong", Left: 1, Header: []string{"who refused", "refusals", "labeled", "wrong", "95% interval"}}
	refusals, looks := 0, 0
	for _, source := range w.Sources {
		refusals, looks = refusals+source.Exchanges, looks+source.Looks
	}
	by.Add("seen by lexical or the log", refusals, looks, w.OfSeen)
	for _, source := range w.Sources {
		by.Add("  "+source.Source.String(), source.Exchanges, source.Looks, source.Wrong)
	}
	by.Add("all, with those that these miss", "", w.Looks-w.Open, w.OfRefusals)
	by.Note = "Refusals are counted by lexical and the log. Refusals that they miss are found by labels of exchanges that lexical takes for answered; few labels leave room for many."
	d.AddTo(everyPlace, by)
	if len(w.Thresholds) > 0 {
		d.AddTo(everyPlace, w.thresholds())
	}
	if w.Open > 0 {
		d.AddTo(everyPlace, table.Warning(table.Counted(w.Open, "exchange has", "exchanges have")+" no label yet; the figures are of the others."))
	}
	if w.OfRefusals == nil && w.Open > 0 {
		d.AddTo(everyPlace, table.Warning("Some kind of exchange has no label yet, so figures are missing."))
	}
	if w.Undecided > 0 {
		text := table.Counted(w.Undecided, "exchange", "exchanges") + " nobody could decide."
		if r := w.UndecidedRange; r != nil {
			text += " With these the share wrong is from " + table.Percent(r[0]) + " (all right) to " + table.Percent(r[1]) + " (all wrong)."
		}
		if n := w.UndecidedExchanges; n > 0 {
			text += " " + table.Counted(n, "exchange is", "exchanges are") + " in no figure: of their kind no label was decided."
		}
		d.AddTo(everyPlace, table.Warning(text))
	}
	if more := w.Needed - (w.Looks - w.Open); more > 0 {
		d.AddTo(everyPlace, table.Line("About "+table.Labels(w.Needed)+", would tell the share of wrong ones among the seen refusals to within 5 points."))
	}
	return d
}

// Data returns the figures in their documented form.
func (w Wrong) Data() any { return w }

// wrongLine is a line of CSV.
type wrongLine struct {
	Figure, Source   string
	Exchanges, Looks int
	Share            *stats.Estimate
	// At is a threshold; nil for other figures.
	At *float64
}

// Rows returns a row for each figure.
func (w Wrong) Rows() any {
	looks := w.Looks - w.Open
	all := []wrongLine{
		{"wrong_refusals", "", w.Exchanges, looks, w.WrongRefusals, nil},
		{"refused", "", w.Exchanges, looks, w.Refused, nil},
		{"missed", "", w.Exchanges, looks, w.Missed, nil},
		{"of_refusals", "", w.Exchanges, looks, w.OfRefusals, nil},
		{"of_seen_refusals", "", w.Exchanges, looks, w.OfSeen, nil},
	}
	for _, s := range w.Sources {
		all = append(all, wrongLine{"of_refusals", string(s.Source), s.Exchanges, s.Looks, s.Wrong, nil})
	}
	for _, t := range w.Thresholds {
		all = append(
			all,
			wrongLine{Figure: "change_of_wrong_flags", Exchanges: w.Exchanges, Looks: t.Looks, Share: &t.WrongFlags, At: &t.At},
			wrongLine{Figure: "change_of_misses", Exchanges: w.Exchanges, Looks: t.Looks, Share: &t.Misses, At: &t.At},
		)
	}
	return slices.Clip(all)
}
