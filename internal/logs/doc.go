// Package logs says who refuses in the log of a product, and how often. A log has no
// labels: nobody said which of its messages are safe. [Read] counts each row as often as
// it came, by who said no, and clusters the intervals by user. It reads a log once, as a
// stream, keeps no text of it but those that repeat word for word, and asks no model.
package logs
