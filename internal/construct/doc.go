// Package construct makes an over-refusal benchmark from a configuration: toxic
// seeds, safe rewrites of them, votes of moderators, a second chance for what
// they called toxic, and from those the three sets, after the method of OR-Bench
// (Cui et al., ICML 2025, arXiv 2405.20947).
//
// The stages stream into each other, and each prompt's life is written as
// straight code that asks for one reply after another:
//
//	gather ─► seeds ─► rewrite ─► lint ─► near duplicates ─► votes ─► second chance ─► selectors
//	  ▲                                                        │
//	  └──────────────── confirmed toxic prompts ◄──────────────┘
//
// A build is a pure function of its configuration and of the replies: work runs
// side by side and its results are used in a fixed order, so that a build which
// was killed, and finds its replies in the store, ends with the same bytes as one
// that was not. What it made of every reply is in the lineage, a row for each
// rewrite, kept or dropped.
package construct
