// Package inorder does work side by side and hands the results on in the order
// of the items, so that what runs at once still gives the same bytes.
package inorder
