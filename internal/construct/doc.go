// Package construct makes an over-refusal benchmark from a configuration. It makes toxic
// seeds, rewrites them into safe prompts, has moderators vote on the rewrites, gives
// those voted toxic a second chance, and chooses the three sets. The method is that of
// OR-Bench (Cui et al., ICML 2025, arXiv 2405.20947).
//
// The stages stream into each other. The code for one prompt is straight-line code that
// asks for one reply after another:
//
//	gather ─► seeds ─► rewrite ─► lint ─► near duplicates ─► votes ─► second chance ─► selectors
//	  ▲                                                        │
//	  └──────────────── confirmed toxic prompts ◄──────────────┘
//
// A search for what targets refuse mutates the fittest prompts in place of rewriting
// seeds, and asks the targets before the votes.
//
// A build is a pure function of its configuration and the replies. Work runs side by
// side, but its results are used in a fixed order. So a killed build that finds its
// replies in the store ends with the same bytes as an uninterrupted one. The lineage
// records the use of every reply, with a row for each rewrite, kept or dropped.
package construct
