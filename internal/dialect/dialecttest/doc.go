// Package dialecttest is the one suite of cases that every dialect must pass: the
// same answers, blocks, faults and secrets, spoken by a real HTTP server on
// loopback in the dialect's own format.
//
// A dialect's test describes the format in a Dialect value and calls Run.
package dialecttest
