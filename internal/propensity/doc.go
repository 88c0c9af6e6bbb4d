// Package propensity says how often prompts that are asked several times are refused: the
// mean over prompts of the share of answers that refuse, how many prompts are never,
// sometimes and always refused, and what one verdict at temperature 0 hides. It counts
// prompts and lays the figures out, in tables, a plot, and a line for each prompt.
package propensity
