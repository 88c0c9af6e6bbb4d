// Command orbench builds over-refusal benchmarks and measures language models
// with them. See README.md, or run "orbench help".
package main
