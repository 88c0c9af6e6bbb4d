// Package chart draws plain data: scatter labels, bars, heat maps, radars, pies and
// axes in one theme, as SVG, PNG and PDF. It knows no evaluation.
//
// The same data gives the same bytes.
package chart
