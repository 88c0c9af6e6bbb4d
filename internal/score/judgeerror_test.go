package score

import (
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

func TestKnownError(t *testing.T) {
	t.Parallel()
	all, err := readMeasurements(lexical)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d measurements, %v", len(all), err)
	}
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic, ""} {
		e, ok := KnownError("lexical", label, English)
		if !ok || e.Answers < 1000 {
			t.Errorf("%s: %+v, %t", label, e, ok)
		}
	}
	for _, c := range []struct {
		judge    string
		label    orbench.Label
		language string
	}{{"paper-keywords", orbench.Safe, English}, {"lexical", orbench.Safe, "ko"}, {"lexical", "", "ko"}, {"lexical", orbench.Safe, ""}} {
		if e, ok := KnownError(c.judge, c.label, c.language); ok {
			t.Errorf("%+v has a known error: %+v", c, e)
		}
	}
	// A judge that calls one of a thousand a refusal is not off by points.
	e, _ := KnownError("lexical", orbench.Safe, English)
	_, of, r := e.Predict(80, 80000, stats.Estimate{Value: 0.001, Lo: 0.0008, Hi: 0.0012})
	if r.Lo > 0.001 || r.Hi < 0.001 || r.Hi > 0.02 || of.Lo > of.Value {
		t.Errorf("0.1%% of 80,000 is carried to %+v by %+v", r, of)
	}
}

// TestNewModels predicts each measured rate from the sets of other models, and
// then from those of other models and sources: at most 4 of 29 may be outside.
func TestNewModels(t *testing.T) {
	t.Parallel()
	const least, outsideOf, of = 30, 4, 29
	source := func(m Measurement) string { return strings.Fields(m.Set)[0] }
	model := func(m Measurement) string { name, _, _ := strings.Cut(m.Model, " +"); return name }
	for _, alsoSource := range []bool{false, true} {
		sets, outside, width := 0, 0, 0.0
		for _, m := range MeasurementsOf("lexical") {
			if m.Sample == Fitted || m.Language != English || m.N() < least {
				continue
			}
			k, ok := errorOf(slices.DeleteFunc(MeasurementsOf("lexical"), func(o Measurement) bool {
				return o.Language != English || m.Label != "" && o.Label != m.Label || model(o) == model(m) || alsoSource && source(o) == source(m)
			}))
			if !ok {
				t.Fatalf("%s of %s: too few models are left", m.Set, m.Model)
			}
			judged, truth := m.TP+m.FP, float64(m.TP+m.FN)/float64(m.N())
			lo, hi := stats.Wilson(judged, m.N(), Confidence)
			recall, specificity, r := k.Predict(judged, m.N(), stats.Estimate{Value: float64(judged) / float64(m.N()), Lo: lo, Hi: hi})
			sets++
			width += r.Hi - r.Lo
			where := ""
			if truth < r.Lo || truth > r.Hi {
				outside++
				where = "  outside"
			}
			t.Logf("%-21s %-24s %-5s n %3d  judge %5.1f%%  labels %5.1f%%  %5.1f to %5.1f%%  recall %.2f to %.2f, specificity %.3f to %.3f%s", m.Set, m.Model, m.Label,
				m.N(), 100*float64(judged)/float64(m.N()), 100*truth, 100*r.Lo, 100*r.Hi, recall.Lo, recall.Hi, specificity.Lo, specificity.Hi, where)
		}
		t.Logf("sources left out too %t: %d of %d outside, mean width %.1f points", alsoSource, outside, sets, 100*width/float64(sets))
		if outside*of > outsideOf*sets || sets < 20 {
			t.Errorf("sources left out too %t: %d of %d sets lie outside", alsoSource, outside, sets)
		}
	}
}

// TestNewDifferences predicts the difference between each two models whose
// answers to one set are labeled, from the sets of other models: their squared
// errors are added. At least 90% hold the difference of the labels.
func TestNewDifferences(t *testing.T) {
	t.Parallel()
	const least = 30
	model := func(m Measurement) string { name, _, _ := strings.Cut(m.Model, " +"); return name }
	rates := func(m Measurement) (judged int, share, truth float64) {
		return m.TP + m.FP, float64(m.TP+m.FP) / float64(m.N()), float64(m.TP+m.FN) / float64(m.N())
	}
	all := slices.DeleteFunc(MeasurementsOf("lexical"), func(m Measurement) bool {
		return m.Sample == Fitted || m.Language != English || m.N() < least
	})
	pairs, held, width := 0, 0, 0.0
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Set != b.Set || a.Label != b.Label || model(a) == model(b) {
				continue
			}
			k, ok := errorOf(slices.DeleteFunc(MeasurementsOf("lexical"), func(o Measurement) bool {
				return o.Language != English || a.Label != "" && o.Label != a.Label || model(o) == model(a) || model(o) == model(b)
			}))
			if !ok {
				t.Fatalf("%s: too few models are left without %s and %s", a.Set, a.Model, b.Model)
			}
			refusedA, shareA, truthA := rates(a)
			refusedB, shareB, truthB := rates(b)
			d, truth := shareA-shareB, truthA-truthB
			e := versus.NewJudgeError(versus.TwoModels, a.Label, k.Moves(refusedB, b.N()), k.Moves(refusedA, a.N()), 0, stats.Estimate{})
			lo, hi := d-e.Below, d+e.Above
			pairs++
			width += hi - lo
			where := "  outside"
			if lo <= truth && truth <= hi {
				held, where = held+1, ""
			}
			t.Logf("%-21s %-5s %-24s %-24s judge %+5.1f  labels %+5.1f  %+5.1f to %+5.1f%s", a.Set, a.Label, a.Model, b.Model, 100*d, 100*truth, 100*lo, 100*hi, where)
		}
	}
	t.Logf("%d of %d pairs hold, mean width %.1f points", held, pairs, 100*width/float64(pairs))
	if pairs < 20 || 10*held < 9*pairs {
		t.Errorf("%d of %d pairs hold", held, pairs)
	}
}

func TestMeasurementFaults(t *testing.T) {
	t.Parallel()
	const head = "judge,set,model,label,language,sample,tp,fp,fn,tn,unjudged\n"
	for _, text := range []string{
		"", "judge,set\n", head + "j,s,m,sfe,en,fitted,1,1,1,1,0\n", head + "j,s,m,safe,en,seen,1,1,1,1,0\n", head + "j,s,m,safe,en,fitted,1,-1,1,1,0\n", head + "j,s\n",
	} {
		if got, err := readMeasurements(text); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}
