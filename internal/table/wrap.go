package table

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// listed matches the first words of a list's line up to where its text begins.
var listed = regexp.MustCompile(`^\s*(?:\S+(?: \S+)*? {2,})?`)

// Wrap fills paragraphs anew to lines of at most width columns. A line that begins
// with a blank is one of a list or an example: it keeps its place, and what of it is
// too long, or goes on in a line that begins where its text does, stands below that.
func Wrap(text string, width int) string {
	var out, words []string
	lead, indent := "", ""
	flush := func() {
		if len(words) > 0 {
			out = append(out, fillLines(words, width, lead, indent)...)
		}
		words, lead, indent = nil, "", ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		blank := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if line == "" || blank != indent {
			flush()
		}
		switch {
		case line == "":
			out = append(out, "")
			continue
		case blank != "" && len(words) == 0:
			lead = listed.FindString(line)
			indent = strings.Repeat(" ", len(lead))
			line = line[len(lead):]
		}
		words = append(words, strings.Fields(line)...)
		if indent != "" && lead == blank {
			flush() // an example, not a list
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// fillLines puts words into lines of at most width columns, the first of which begins with
// lead and the others with indent. A word that is longer has a line of its own.
func fillLines(words []string, width int, lead, indent string) []string {
	var lines []string
	line := lead
	empty := true
	for _, w := range words {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width {
			lines = append(lines, line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += w
		empty = false
	}
	return append(lines, line)
}

// continued is what a shell reads as a command's going on in the next line.
const continued = " \\"

// piece matches a part of a command line that stays in one line: what comes before
// the first flag, a flag with its value, or where the output goes.
var piece = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^'"\s]|\s+(?:'[^']*'|"[^"]*"|[^\s'">|-]|-[^-]))+`)

// remarked matches a command line with a remark, which two blanks set apart.
var remarked = regexp.MustCompile(`^( +(?:'[^']*'|[^' ]+| (?:[^' ]+|'[^']*'))+)  +(.+)$`)

// WrapCommands breaks command lines where a flag begins, so that they can still be
// pasted into a shell. The remark that a longer one ends with gets a line of its own.
func WrapCommands(text string, width int) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if utf8.RuneCountInString(line) <= width {
			out = append(out, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		remark := ""
		if m := remarked.FindStringSubmatch(line); m != nil {
			line, remark = m[1], "\n"+indent+"    "+m[2]
		}
		parts := piece.FindAllString(strings.TrimSpace(line), -1)
		for i, p := range parts {
			parts[i] = strings.TrimSpace(p)
		}
		lines := fillLines(parts, width-len(continued), indent, indent+"    ")
		out = append(out, strings.Join(lines, continued+"\n")+remark)
	}
	return strings.Join(out, "\n")
}
