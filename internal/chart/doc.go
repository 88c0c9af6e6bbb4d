// Package chart draws plain data: scatter labels, heat maps, strips and axes in
// one theme, as SVG and PNG. It knows nothing about evaluation.
//
// The same data gives the same bytes.
package chart
