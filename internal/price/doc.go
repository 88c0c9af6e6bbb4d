// Package price says what calls cost: a table of prices in US dollars per
// million tokens (prices.json, embedded, each with its date and source), which
// a user's file extends or overrides, and an estimate of tokens for plans.
//
// A model without an entry has no known price, which is not the same as no
// price: Table.Price reports false. What runs on the user's own machine, the
// simulation and recorded answers are free by entries that say so.
//
// Prices are list prices of plain calls. Discounts for batches and the extra
// charge for writing to a cache are not in them; where a provider charges by
// the time of day, the dearer price is listed.
package price
