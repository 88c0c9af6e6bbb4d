package logs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/untrusted"
)

// Sitting is what a person looks at exchanges at.
type Sitting struct {
	In  io.Reader
	Out io.Writer
	// Size returns the columns and lines of the terminal. It is called only if In is a
	// terminal.
	Size func() (columns, lines int)
	// Keep stores the looks. It is called after each one.
	Keep func() error
}

// Ask shows the looks that are open one by one, without their strata, and asks two questions
// of each. It ends at the end of the input or at q. A single key answers on a terminal, else
// a letter and Enter: y for yes, n for no, c for cannot tell, b for back to the look before.
func Ask(looks []Look, at Sitting) error {
	restore, terminal, err := annotation.OpenScreen(at.In, at.Out)
	if err != nil {
		return err
	}
	defer restore()
	s := session{Sitting: at, in: bufio.NewReader(at.In), terminal: terminal, looks: looks}
	var done []int // the looks of this sitting, as they were given
	for i := 0; i < len(looks); i++ {
		if !looks[i].Open() {
			continue
		}
		switch key, err := s.look(&looks[i]); {
		case err != nil || key == quit:
			return err
		case key == back:
			if len(done) > 0 {
				// The look before is open again, and this one too.
				i, done = done[len(done)-1], done[:len(done)-1]
				looks[i].Refused, looks[i].Answerable = "", ""
			}
			i--
		default:
			done = append(done, i)
		}
		if err := at.Keep(); err != nil {
			return err
		}
	}
	return nil
}

// The keys that are no answers.
const (
	quit = 'q'
	back = 'b'
	more = ' '
)

// interrupt and endOfInput are what Control-C and Control-D send in raw mode.
const interrupt, endOfInput = 3, 4

// session is one person looking.
type session struct {
	Sitting
	in       *bufio.Reader
	terminal bool
	looks    []Look
}

// Question is one that is asked about each look.
type Question struct {
	// Name is that of its column in the sheet, and Text what a person reads.
	Name, Text string
	// Of is where a look has its answer.
	Of func(*Look) *Word
}

// Questions are asked in this order.
var Questions = []Question{
	{"refused", "Was it refused?", func(l *Look) *Word { return &l.Refused }},
	{"should_answer", "Should it have been answered?", func(l *Look) *Word { return &l.Answerable }},
}

// look asks both questions of a look and returns the last key. A look that was left at the
// first or the second stays open.
func (s *session) look(l *Look) (key rune, err error) {
	if !s.terminal {
		fmt.Fprintf(s.Out, "\n── %d left ──\nMessage:\n%s\n\nReply:\n%s\n\n", Left(s.looks), shown(l.Asked().Transcript()), shown(l.Reply))
	}
	for _, q := range Questions {
		if key, err = s.answer(q.Text, l); err != nil || key == quit || key == back {
			l.Refused, l.Answerable = "", ""
			return key, err
		}
		*q.Of(l) = wordsOf[string(key)]
	}
	return key, nil
}

// answer asks one question until a key answers it, leads back or quits. The end of the input
// quits.
func (s *session) answer(question string, l *Look) (key rune, err error) {
	began := time.Now()
	screen := annotation.Screen{Head: fmt.Sprintf("%d left", Left(s.looks)), Prompt: l.Asked().Transcript(), Answer: l.Reply}
	screen.Legend = question + "  y yes  n no  c cannot tell  b back  q quit  space more"
	for {
		if s.terminal {
			screen.Width, screen.Height = s.Size()
			screen.Show(s.Out)
		} else {
			fmt.Fprint(s.Out, question+" (y n c, b back, q quit) ")
		}
		switch key, err = s.key(); {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.Out)
			return quit, nil
		case err != nil:
			return 0, fmt.Errorf("read a key: %w", err)
		}
		switch {
		case key == quit || key == back:
			return key, nil
		case s.terminal && key == more:
			screen.Page++
		case s.terminal && time.Since(began) < annotation.TooSoon && l.Refused == "":
			screen.Message = "A key typed before this was on the screen does not count for it."
		case strings.ContainsRune("ync", key):
			return key, nil
		case s.terminal:
			screen.Message = "Type y, n, c, b or q."
		default:
			fmt.Fprintln(s.Out, "Type y, n, c, b or q, then Enter.")
		}
	}
}

// key reads a key of a terminal, or else a line, which is 0 if it has not one letter.
func (s *session) key() (rune, error) {
	if s.terminal {
		key, _, err := s.in.ReadRune()
		if key == interrupt || key == endOfInput {
			key = quit
		}
		return key, err
	}
	line, err := s.in.ReadString('\n')
	if line = strings.ToLower(strings.TrimSpace(line)); len(line) == 1 {
		return rune(line[0]), nil
	}
	if line != "" {
		err = nil
	}
	return 0, err
}

// mostText is how many bytes of a text are shown where there is no terminal.
const mostText = 4000

// shown is a text for the output.
func shown(text string) string {
	rest := ""
	if len(text) > mostText {
		rest = fmt.Sprintf("\n… %d more bytes are in the sheet", len(text)-mostText)
		text = strings.ToValidUTF8(text[:mostText], "")
	}
	if strings.TrimSpace(text) == "" {
		return "(no text)"
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = untrusted.Terminal(line)
	}
	return strings.Join(lines, "\n") + rest
}
