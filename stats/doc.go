// Package stats has the statistics behind orbench's figures: intervals of rates and of
// their differences, tests between runs, agreement between raters, correlation between
// models, and the bootstrap.
//
// It works on plain numbers. It uses gonum for moments, quantiles, least squares, the
// classical distributions and draws from them. The rest is written here once, with the
// source of each formula beside it. Package tests compare every function with values from
// R, SciPy or statsmodels, and docs/statistics.md says how often each interval covers the
// truth.
//
// A measure that is undefined for its input (precision if nothing was called positive,
// kappa if every rater gave everything the same class) gives a false second result, never
// NaN or zero. Impossible counts, such as more refusals than answers, are a fault of the
// caller, and the functions panic on them.
//
// Rates are shares from 0 to 1, and so is a confidence such as 0.95.
package stats
