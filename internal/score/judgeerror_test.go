package score

import (
	"math"
	"testing"

	"github.com/orbench/orbench"
)

func TestKnownError(t *testing.T) {
	t.Parallel()
	all, err := readMeasurements(lexical)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d measurements, %v", len(all), err)
	}
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		e, ok := KnownError("lexical", label)
		if !ok || e.Low > 0 || e.High < 0 || e.Sets < 3 {
			t.Errorf("%s: %+v, %t", label, e, ok)
		}
		for _, m := range MeasurementsOf("lexical") {
			if m.Label == label && m.Sample != Fitted && m.N() >= leastAnswers {
				if s := m.Shift().Value; s < e.Low || s > e.High {
					t.Errorf("%s of %s: a shift of %v is outside %+v", m.Set, m.Model, s, e)
				}
			}
		}
	}
	if _, ok := KnownError("paper-keywords", orbench.Safe); ok {
		t.Error("a judge that was not measured has a known error")
	}
	got := JudgeError{Low: -0.02, High: 0.1}.Widen(0.05, 0.2)
	if math.Abs(got.Lo) > 1e-12 || math.Abs(got.Hi-0.22) > 1e-12 {
		t.Errorf("widened to %+v, want 0 to 0.22", got)
	}
}

func TestShift(t *testing.T) {
	t.Parallel()
	m := Measurement{}
	m.TP, m.FP, m.FN, m.TN = 50, 12, 2, 36
	if s := m.Shift(); math.Abs(s.Value-0.1) > 1e-12 || s.Lo >= 0.1 || s.Hi <= 0.1 {
		t.Errorf("10 of 100 too many: %+v", s)
	}
}

func TestMeasurementFaults(t *testing.T) {
	t.Parallel()
	const head = "judge,set,model,label,sample,tp,fp,fn,tn\n"
	for _, text := range []string{
		"", "judge,set\n", head + "j,s,m,sfe,fitted,1,1,1,1\n", head + "j,s,m,safe,seen,1,1,1,1\n", head + "j,s,m,safe,fitted,1,-1,1,1\n", head + "j,s\n",
	} {
		if got, err := readMeasurements(text); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}
