package logs

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// Ask shows the looks that are open one by one, without their strata, and asks two questions
// of each. It calls keep after each answer, and ends at the end of in or at q. One letter and
// Enter answer: y for yes, n for no, c for cannot tell, b for back to the look before.
func Ask(in io.Reader, out io.Writer, looks []Look, keep func() error) error {
	lines := bufio.NewScanner(in)
	done := []int{}
	for i := 0; i < len(looks); i++ {
		if !looks[i].Open() {
			continue
		}
		fmt.Fprintf(out, "\n── %d left ──\nMessage:\n%s\n\nReply:\n%s\n\n", left(looks), shown(looks[i].Message), shown(looks[i].Reply))
		back := false
		for _, q := range []struct {
			text string
			into *Word
		}{
			{"Was it refused? (y n c, b back, q quit) ", &looks[i].Refused},
			{"Should it have been answered? (y n c, b back, q quit) ", &looks[i].Answerable},
		} {
			for word := Word(""); word == "" && !back; {
				fmt.Fprint(out, q.text)
				if !lines.Scan() {
					looks[i].Refused, looks[i].Answerable = "", ""
					fmt.Fprintln(out)
					return lines.Err()
				}
				switch said := strings.ToLower(strings.TrimSpace(lines.Text())); said {
				case "q":
					looks[i].Refused, looks[i].Answerable = "", ""
					return nil
				case "b":
					back = true
				case "y", "n", "c":
					word = wordsOf[said]
					*q.into = word
				default:
					fmt.Fprintln(out, "Type y, n, c, b or q, then Enter.")
				}
			}
		}
		switch {
		case !back:
			done = append(done, i)
		case len(done) > 0:
			// The look before is open again, and this one too.
			before := done[len(done)-1]
			done = done[:len(done)-1]
			looks[i].Refused, looks[i].Answerable = "", ""
			looks[before].Refused, looks[before].Answerable = "", ""
			i = before - 1
		default:
			looks[i].Refused, looks[i].Answerable = "", ""
			i--
		}
		if err := keep(); err != nil {
			return err
		}
	}
	return nil
}

// mostText is how many bytes of a text are shown.
const mostText = 4000

// shown is a text for a screen.
func shown(text string) string {
	more := ""
	if len(text) > mostText {
		more = fmt.Sprintf("\n… %d more bytes are in the sheet", len(text)-mostText)
		text = strings.ToValidUTF8(text[:mostText], "")
	}
	if strings.TrimSpace(text) == "" {
		return "(no text)"
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = untrusted.Terminal(line)
	}
	return strings.Join(lines, "\n") + more
}
