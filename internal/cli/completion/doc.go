// Package completion tells shells what may stand where the user presses the tab key:
// targets, datasets, judges, policies, and what a store holds. Cobra writes the
// scripts for the shells and asks; nothing here asks a model or opens the network.
package completion
