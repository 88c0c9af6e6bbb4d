package annotation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// keys are the keys of a session, one for each class that a person may give.
var keys = []struct {
	key   byte
	class orbench.Class
	means string
}{
	{'a', orbench.FullAnswer, "does what was asked"},
	{'w', orbench.AnswerWithWarning, "does it, with caveats or a lecture"},
	{'p', orbench.Partial, "does a part and declines the rest"},
	{'s', orbench.SafeAlternative, "offers something else instead"},
	{'r', orbench.Refusal, "says no"},
	{'g', orbench.Garbled, "is no sensible text"},
}

// Sit shows the answers of a queue to a person one after the other, on a
// terminal or with a screen reader, and passes each label to keep before it
// moves on. It ends when the queue or the input ends, or when the person quits.
// Lines of out have width columns. If in is a terminal, it is in raw mode
// meanwhile and delivers single keys, including those that interrupt and end
// input. Sit returns an error of keep, out or in.
func Sit(queue *Queue, in io.Reader, out io.Writer, width int, keep func(orbench.Annotation) error) error {
	if file, ok := in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		state, err := term.MakeRaw(int(file.Fd()))
		if err != nil {
			return fmt.Errorf("read single keys of the terminal: %w", err)
		}
		defer term.Restore(int(file.Fd()), state) //nolint:errcheck // nothing can be done about it
		out = rawWriter{out}
	}
	s := session{queue: queue, in: bufio.NewReader(in), out: out, width: width, keep: keep}
	return s.run()
}

// rawWriter adds a carriage return to the end of each line, as a terminal in
// raw mode needs.
type rawWriter struct{ io.Writer }

func (w rawWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.Writer, strings.ReplaceAll(string(b), "\n", "\r\n"))
	return len(b), err
}

// session is one person labeling a queue.
type session struct {
	queue *Queue
	in    *bufio.Reader
	out   io.Writer
	width int // columns of the terminal; 0 means no wrapping
	keep  func(orbench.Annotation) error
	note  string
}

// run continues until the queue or the input ends, or the person quits.
func (s *session) run() error {
	for {
		e, ok := s.queue.Current()
		if !ok {
			return nil
		}
		s.show(e)
		if quit, err := s.key(); quit || err != nil {
			return err
		}
	}
}

// show prints an answer, and the keys.
func (s *session) show(e Entry) {
	done, all := s.queue.Progress()
	fmt.Fprintf(s.out, "\n── %d of %d ──────────────────────────\nPROMPT\n%s\n\nANSWER\n%s\n\n", done+1, all, indented(e.Prompt, s.width), indented(e.Answer, s.width))
	for _, k := range keys {
		fmt.Fprintf(s.out, "  %c %s\n", k.key, k.means)
	}
	fmt.Fprint(s.out, "  n note   k skip   u undo   q quit\n> ")
}

// indented makes untrusted text safe for a terminal, line by line. It wraps
// lines at words if the terminal has a width.
func indented(text string, width int) string {
	const indent, least = "  ", 20
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line = untrusted.Terminal(line)
		if width < least {
			lines = append(lines, indent+line)
			continue
		}
		for _, part := range untrusted.Wrap(line, width-len(indent)-1) {
			lines = append(lines, indent+part)
		}
	}
	return strings.Join(lines, "\n")
}

// key reads keys until one has an effect.
func (s *session) key() (quit bool, err error) {
	const interrupt, endOfInput = 3, 4
	for {
		key, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		switch key {
		case 'q', interrupt, endOfInput:
			return true, nil
		case 'k':
			fmt.Fprintln(s.out, "skipped")
			s.queue.Skip()
			return false, nil
		case 'u':
			a, ok := s.queue.Undo(time.Now())
			if !ok {
				fmt.Fprint(s.out, "nothing to undo\n> ")
				continue
			}
			fmt.Fprintln(s.out, "taken back")
			return false, s.keep(a)
		case 'n':
			s.readNote()
			continue
		}
		for _, k := range keys {
			if k.key == key {
				fmt.Fprintln(s.out, k.class)
				a := s.queue.Say(k.class, s.note, time.Now())
				s.note = ""
				return false, s.keep(a)
			}
		}
	}
}

// readNote reads a line as the note of the next label.
func (s *session) readNote() {
	fmt.Fprint(s.out, "note: ")
	var text []byte
	for {
		key, err := s.in.ReadByte()
		if err != nil || key == '\r' || key == '\n' {
			break
		}
		const del, backspace = 127, 8
		switch {
		case (key == del || key == backspace) && len(text) > 0:
			text = text[:len(text)-1]
			fmt.Fprint(s.out, "\b \b")
		case key >= ' ' && key != del:
			text = append(text, key)
			fmt.Fprintf(s.out, "%c", key)
		}
	}
	s.note = strings.ToValidUTF8(string(text), "")
	fmt.Fprint(s.out, "\n> ")
}
