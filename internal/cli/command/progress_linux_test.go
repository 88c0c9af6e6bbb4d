package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBar keeps a bar at the bottom of a terminal of 60 columns, with what is said above it, and
// leaves its last state there.
func TestBar(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	defer terminal.Close()
	control := int(terminal.Fd())
	if err := unix.IoctlSetPointerInt(control, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(control, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(control, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var seen strings.Builder
		_, _ = io.Copy(&seen, terminal) // it ends with an error once the other side is closed
		read <- seen.String()
	}()
	env := &Env{Stderr: screen, Getenv: func(string) string { return "" }}
	drawn := make(chan struct{}, 1)
	s := env.newStatus(func() []part {
		select {
		case drawn <- struct{}{}:
		default:
		}
		return []part{{0, "3 of 6"}, {1, strings.Repeat("x", 60)}}
	}, func() (int, int) { return 3, 6 })
	go s.Run()
	<-drawn
	<-drawn
	env.Infof("said meanwhile \x1b[2J")
	s.Close()
	screen.Close()
	seen := <-read
	said, after, _ := strings.Cut(seen, `said meanwhile \u001b[2J`+"\r\n")
	for _, text := range []string{said, after} {
		if !strings.Contains(text, "███··  3 of 6\r\n") {
			t.Errorf("there is no bar in %q", seen)
		}
	}
	if strings.Contains(seen, "xxx") {
		t.Errorf("a line is wider than the terminal: %q", seen)
	}
}
