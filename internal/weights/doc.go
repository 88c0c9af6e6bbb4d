// Package weights tells whether a server of the user's own still has the weights that made the
// answers which a store remembers. A request is the same by its address and the name of its
// model, so new weights behind both would be taken for the old ones, and their answers never
// be asked.
//
// What the server says of itself decides where it can; see client.Describe. Where that has no
// digest of the weights, some remembered prompts are asked twice more, and Decide compares the
// answers: with the same weights the stored one is no odder than either of the new ones.
//
// The check cannot see a light fine-tune, which answers most prompts as before.
package weights
