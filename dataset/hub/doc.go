// Package hub fetches files from repositories on the Hugging Face hub and on GitHub, and
// checks them against what these hosts say about them.
package hub
