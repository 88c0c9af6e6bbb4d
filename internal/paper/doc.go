// Package paper contains the figures published with OR-Bench (Cui et al., ICML
// 2025, arXiv 2405.20947), as reference data for plots, and shows them as tables
// and as a plot. The main type is Study.
//
// The numbers are the paper's, embedded as CSV files under data. Model names
// are spelled the same in all of them, unlike in the paper. All rates are in
// per cent, as printed.
//
// A Study computes what follows from them: correlations with intervals, the
// trade-off curve, family averages, the residual toxicity, the version of the
// datasets on which each row was measured, and where the publication
// contradicts itself.
//
// Know two things before comparing. The published tables mix two versions of
// the datasets: 25 older models fit 1,534 hard and 681 toxic prompts; the 7
// newer ones fit the released 1,319 and 655 (Model says which). The rates on
// the hard and the toxic set come from a GPT-4 judge; those on the 80K set come
// from matching opening words, which counts fewer refusals.
package paper
