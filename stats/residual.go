package stats

// Residual estimates the share of positives among what passes a filter, where the
// given share of what comes in is positive, from how many of some positives and of
// some negatives passed it. With t the share of positives that pass, s that of
// negatives and p the prevalence it is
//
//	p t / (p t + (1-p) s)
//
// which grows with t/s alone. The interval is therefore that of Ratio, put through
// the same formula. The prevalence counts as known.
//
// It reports false when either group is empty or no negative passes.
func Residual(passedPositives, positives, passedNegatives, negatives int, prevalence, confidence float64) (Estimate, bool) {
	ratio, ok := Ratio(passedPositives, positives, passedNegatives, negatives, confidence)
	if !ok {
		return Estimate{}, false
	}
	of := func(ratio float64) float64 { return prevalence * ratio / (prevalence*ratio + 1 - prevalence) }
	return Estimate{Value: of(ratio.Value), Lo: of(ratio.Lo), Hi: of(ratio.Hi)}, true
}
