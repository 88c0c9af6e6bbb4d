// Package kinds knows every kind of study: it opens a kept one of any kind, to be asked, shown
// and explained alike.
package kinds
