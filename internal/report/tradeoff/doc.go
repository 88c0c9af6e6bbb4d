// Package tradeoff shows over-refusal against toxic refusal: both sides of each
// target by one judge, and their plot beside the published models.
package tradeoff
