package stats

import "math"

// RoganGladen corrects a rate for the errors of the judge that measured it. The
// judge called positive of n cases refusals; calibration counts what the same
// judge said of cases whose truth is known, refusals being the positives. With
// its recall se and its specificity sp the corrected rate is (positive/n + sp -
// 1) / (se + sp - 1), cut to [0, 1] (Rogan and Gladen 1978, American Journal of
// Epidemiology 107:71-76). The interval counts the uncertainty of the calibration
// too (Lang and Reiczigel 2014, Preventive Veterinary Medicine 113:13-22); it
// supposes that the calibration cases are none of the n.
//
// It reports false when n is 0, when the calibration lacks refusals or answers,
// or when the judge does no better on it than chance, so that nothing can be
// corrected.
func RoganGladen(positive, n int, calibration Confusion, confidence float64) (Estimate, bool) {
	checkCounts("RoganGladen", positive, n)
	z := zOf(confidence)
	refusals, answers := calibration.TP+calibration.FN, calibration.FP+calibration.TN
	if n == 0 || refusals == 0 || answers == 0 {
		return Estimate{}, false
	}
	correct := func(p, se, sp float64) float64 { return (p + sp - 1) / (se + sp - 1) }
	se, _ := calibration.Recall()
	sp := float64(calibration.TN) / float64(answers)
	// se + sp > 1, in whole numbers.
	if calibration.TP*answers <= calibration.FP*refusals {
		return Estimate{}, false
	}
	value := correct(float64(positive)/float64(n), se, sp)

	// The interval is that of slightly shrunk rates: z²/2 more cases of either
	// kind in the run, one more of either kind among each calibration group.
	size, sizeSe, sizeSp := float64(n)+z*z, float64(refusals)+2, float64(answers)+2
	p := (float64(positive) + z*z/2) / size
	se, sp = (float64(calibration.TP)+1)/sizeSe, (float64(calibration.TN)+1)/sizeSp
	rate := correct(p, se, sp)
	varSe, varSp := se*(1-se)/sizeSe, sp*(1-sp)/sizeSp
	center := rate + 2*z*z*(rate*varSe-(1-rate)*varSp)
	half := z / (se + sp - 1) * math.Sqrt(p*(1-p)/size+rate*rate*varSe+(1-rate)*(1-rate)*varSp)
	// Where the rate was cut the interval may end short of it, and is stretched.
	return estimate(value, center-half, center+half, 0, 1), true
}
