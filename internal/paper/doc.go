// Package paper carries the figures that were published with OR-Bench (Cui et
// al., ICML 2025, arXiv 2405.20947), as reference data to plot and compare one's
// own runs with.
//
// The numbers are the paper's, embedded as CSV files under data; the model names
// are written alike in all of them, which the paper does not do. All rates are in
// per cent, as printed.
//
// A Study computes what can be computed from them again: correlations with
// intervals, the trade-off curve, family averages, the residual toxicity, which
// version of the datasets a row was measured on, and where the publication does
// not agree with itself.
//
// Two things to know before comparing. The published tables mix two versions of
// the datasets: 25 older models fit 1,534 hard and 681 toxic prompts, the 7
// newer ones the released 1,319 and 655 (Model says which). And the rates on the
// hard and the toxic set come from a GPT-4 judge, those on the 80K set from
// matching opening words, which counts fewer refusals.
package paper
