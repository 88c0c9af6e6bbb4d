// Package server asks a server of the user's own what it says of itself: which model it has
// under a name, from which file or digest. A provider's public API is not asked.
//
// What it says is one line of text that stands beside each response. It is part of no hash. A
// server that does not answer a path is silent about it, and two descriptions differ only in
// what both of them say.
package server
