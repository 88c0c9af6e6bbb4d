// Package web serves the pages of a store: its studies, every answer of a run, the
// differences between runs, and the queue for people who label.
//
// A page reads the store and its index; what it writes is people's labels. Every page has
// an address that opens the same for a colleague with the same store, and the same address
// with .json gives its data.
//
// # Untrusted
//
// What models, datasets and people say is text. Templates escape it, a
// Content-Security-Policy lets a page run only the scripts of package page, and a page
// loads nothing from elsewhere. A request must name the server's own host, so that no
// other site reaches it by a name of its own, and a request that writes must come from a
// page of the server. Beyond the loopback interface a token is needed.
//
// # Runs that are large
//
// The first look at a run derives its rows, which takes seconds to minutes for millions of
// answers. A page then says how far that is, and a request for JSON waits. Rows are kept in
// the index until a call that they lack arrives.
package web
