// Package run is a measurement as people name it: targets in their variants,
// datasets and judges, opened so that it can be filled and derived, and kept in a
// store by name.
//
// New opens what an experiment names, with clients that can be asked. Find and
// Stored.Open open what a store keeps, which needs no key: what was asked is
// remembered. Whoever shows figures so opens a store, opens a run, derives and
// draws. Nothing here knows of flags, and nothing prints.
package run
