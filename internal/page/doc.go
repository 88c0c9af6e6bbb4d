// Package page has what all of orbench's pages have in common: the frame around them with
// its style and scripts, the way an answer looks, and the addresses of answers (Query).
//
// Reports are pages that are files; a server gives the same pages over a store. All texts
// from models, datasets and people are escaped by html/template, and pages run no script
// but orbench's own.
//
// The script htmx.min.js is htmx 4.0.1 (Zero-Clause BSD), as published.
package page
