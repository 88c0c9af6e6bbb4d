// Package stats holds the statistics behind orbench's figures: intervals of
// rates and of their differences, tests between runs, agreement between raters,
// correlation between models, and the bootstrap.
//
// It works on plain numbers. What gonum has (moments, quantiles, least squares,
// the classical distributions and draws from them) comes from there; what it
// lacks is written here once, with the source of each formula beside it. Package
// tests compare every function with values that R, SciPy or statsmodels gave, and
// docs/statistics.md says how often each interval covers the truth.
//
// A measure that is undefined for its input (precision when nothing was called
// positive, kappa when every rater gave everything the same class) is reported as
// such by a false second result: never as NaN, and never as zero. Counts that
// cannot be, such as more refusals than answers, are a fault of the caller, and
// the functions panic on them.
//
// Rates are shares from 0 to 1, and so is a confidence such as 0.95.
package stats
