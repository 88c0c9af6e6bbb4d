package stats

// Residual estimates the share of positives among what passes a filter. prevalence is the
// known share of positives in what comes in. The filter's rates are estimated from how
// many of some positives and of some negatives passed it. With t the share of positives
// that pass, s that of negatives and p the prevalence, it is
//
//	p t / (p t + (1-p) s)
//
// which depends on t and s only through t/s and grows with it. The interval is therefore
// that of Ratio, put through the same formula.
//
// It reports false if either group is empty or no negative passes.
func Residual(passedPositives, positives, passedNegatives, negatives int, prevalence, confidence float64) (Estimate, bool) {
	ratio, ok := Ratio(passedPositives, positives, passedNegatives, negatives, confidence)
	if !ok {
		return Estimate{}, false
	}
	of := func(ratio float64) float64 { return prevalence * ratio / (prevalence*ratio + 1 - prevalence) }
	return Estimate{Value: of(ratio.Value), Lo: of(ratio.Lo), Hi: of(ratio.Hi)}, true
}
