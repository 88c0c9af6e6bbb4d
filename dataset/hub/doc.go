// Package hub fetches files from repositories on the Hugging Face hub and on GitHub, and
// checks them against the checksums of these hosts.
package hub
