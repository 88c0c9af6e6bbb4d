package cli

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// helpWidth is how many columns a line of help has at most.
const helpWidth = 80

// rows matches the first words of a list's line up to where its text begins.
var rows = regexp.MustCompile(`^\s*(?:\S+(?: \S+)*? {2,})?`)

// wrap fills paragraphs anew to lines of at most width columns. A line that begins
// with a blank is one of a list or an example: it keeps its place, and what of it is
// too long, or goes on in a line that begins where its text does, stands below that.
func wrap(text string, width int) string {
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
			lead = rows.FindString(line)
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

// part matches a part of a command line that stays in one line: what comes before
// the first flag, a flag with its value, or where the output goes.
var part = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^'"\s]|\s+(?:'[^']*'|"[^"]*"|[^\s'">|-]|-[^-]))+`)

// wrapCommands breaks the command lines of examples where a flag begins, so that
// they can still be pasted into a shell.
func wrapCommands(text string, width int) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if utf8.RuneCountInString(line) <= width {
			out = append(out, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		parts := part.FindAllString(strings.TrimSpace(line), -1)
		for i, p := range parts {
			parts[i] = strings.TrimSpace(p)
		}
		lines := fillLines(parts, width-len(continued), indent, indent+"    ")
		out = append(out, strings.Join(lines, continued+"\n"))
	}
	return strings.Join(out, "\n")
}
