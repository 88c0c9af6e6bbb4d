// Package jsonappend writes JSON by appending to a slice, with the same bytes as
// encoding/json, for what is hashed or kept millions of times: requests and prompts.
package jsonappend
