package annotation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/orbench/orbench/internal/untrusted"
)

// screen is what a terminal shows of one entry. The prompt is on top and the
// keys are at the bottom. What is too long for its place keeps its first and its
// last sentence in view; pages turn what is between them.
type screen struct {
	// Width and Height are the columns and lines of the terminal.
	Width, Height int
	// Head is the line above all, Message that above the Legend.
	Head, Message, Legend string
	Prompt, Answer        string
	// Page is the number of the page, from 0. After the last page comes the
	// first.
	Page int
}

// leastWidth and leastHeight are the size that a screen has at least. On a
// smaller terminal the end of each line is not seen.
const leastWidth, leastHeight = 30, 12

// Lines returns the lines of the terminal, at most Height of them, and the
// number of pages.
func (s screen) Lines() (lines []string, pages int) {
	width, height := max(s.Width, leastWidth), max(s.Height, leastHeight)
	const around = 5 // the head, two titles, the message and the legend
	body := height - around
	if s.Answer == "" {
		body++
	}
	prompt, answer := passage(s.Prompt, width), passage(s.Answer, width)
	rows := min(len(prompt.lines), max(body/3, body-len(answer.lines)))
	shown, pages := prompt.fold(rows, s.Page)
	lines = append([]string{cut(s.Head, width), "PROMPT"}, shown...)
	if s.Answer != "" {
		shown, more := answer.fold(body-len(shown), s.Page)
		pages = max(pages, more)
		lines = append(append(lines, "ANSWER"), shown...)
	}
	for len(lines) < height-2 {
		lines = append(lines, "")
	}
	return append(lines, cut(s.Message, width), cut(s.Legend, width)), pages
}

// cut shortens a line to fewer than width columns.
func cut(line string, width int) string { return untrusted.Wrap(line, width-1)[0] }

// wrapped is a text in lines of a terminal.
type wrapped struct {
	lines []string
	// first and last are how many lines the first and the last sentence take.
	first, last int
}

// passage wraps an untrusted text, without its empty lines.
func passage(text string, width int) (w wrapped) {
	const indent = "  "
	wrap := func(line string) []string { return untrusted.Wrap(line, width-len(indent)-1) }
	var paragraphs []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(untrusted.Terminal(line), " "); line != "" {
			paragraphs = append(paragraphs, line)
		}
	}
	for i, p := range paragraphs {
		lines := wrap(p)
		starts := sentences(p)
		if i == 0 {
			w.first = len(wrap(p[:append(starts, len(p))[1]]))
		}
		if i == len(paragraphs)-1 {
			w.last = len(lines)
			if start := starts[len(starts)-1]; start > 0 {
				w.last -= len(wrap(p[:start])) - 1
			}
		}
		for _, line := range lines {
			w.lines = append(w.lines, indent+line)
		}
	}
	return w
}

// sentences returns where the sentences of a line start.
func sentences(line string) []int {
	starts := []int{0}
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?':
			if strings.HasPrefix(line[end:], " ") && strings.TrimSpace(line[end:]) != "" {
				starts = append(starts, end+1)
			}
		case '。', '！', '？':
			if end < len(line) {
				starts = append(starts, end)
			}
		}
	}
	return starts
}

// Ends returns the first and the last sentence of a text, which stay in view where the
// text is too long for its place. Both are empty where the text has no two sentences.
func Ends(text string) (first, last string) {
	trimmed := strings.TrimRight(text, " \t\r\n")
	head, start := trimmed, 0
	if i := strings.IndexByte(strings.TrimLeft(trimmed, "\r\n"), '\n'); i >= 0 {
		head = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "\r\n"))+i]
		start = strings.LastIndexByte(trimmed, '\n') + 1
	}
	end := len(head)
	if starts := sentences(head); len(starts) > 1 {
		end = starts[1]
	}
	starts := sentences(trimmed[start:])
	if start += starts[len(starts)-1]; start < end {
		return "", ""
	}
	return text[:end], text[start:]
}

// fold returns at most rows lines of a text, and how many pages of them there
// are. Every page begins with the first sentence and ends with the last, as far
// as a third of the rows holds each.
func (w wrapped) fold(rows, page int) (lines []string, pages int) {
	if len(w.lines) <= rows {
		return w.lines, 1
	}
	const gaps = 2
	most := max(1, (rows-gaps)/3)
	head, tail := min(w.first, most), min(w.last, most)
	middle := w.lines[head : len(w.lines)-tail]
	window := max(1, rows-gaps-head-tail)
	pages = (len(middle) + window - 1) / window
	from := page % pages * window
	to := min(from+window, len(middle))
	gap := func(n int, where string) {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("  ┄┄ %d lines %s: space turns the page ┄┄", n, where))
		}
	}
	lines = append(lines, w.lines[:head]...)
	gap(from, "above")
	lines = append(lines, middle[from:to]...)
	gap(len(middle)-to, "below")
	return append(lines, w.lines[len(w.lines)-tail:]...), pages
}
