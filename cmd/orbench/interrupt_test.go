package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// An interrupt is noticed while a file is read that does not end, and a second one
// ends the program though it waits for a file that gives nothing.
func TestInterruptedWhileReading(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args    []string
		rows    bool
		signals int
	}{
		"a dataset that does not end":       {[]string{"dataset", "stats"}, true, 1},
		"training data that does not end":   {[]string{"export", "--check"}, true, 1},
		"a dataset that gives nothing":      {[]string{"dataset", "stats"}, false, 2},
		"an experiment that gives nothing":  {[]string{"eval", "--config"}, false, 2},
		"a build's file that gives nothing": {[]string{"build", "--out", "none", "--config"}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "train.csv")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			at := pipe
			if tc.args[0] == "export" {
				at = dir
			}
			c, stdout, stderr := orbench(append(tc.args, at)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				_ = c.Wait()
				close(ended)
			}()
			defer c.Process.Kill()
			opened := make(chan *os.File, 1)
			go func() {
				// Waits for the command to open its end.
				f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
				if err == nil {
					opened <- f
				}
			}()
			var file *os.File
			select {
			case file = <-opened:
				defer file.Close()
			case <-ended:
				t.Fatalf("it ended by itself: %s%s", stdout, stderr)
			}
			if tc.rows {
				fmt.Fprintln(file, "prompt")
				go func() {
					for n := 0; ; n++ {
						if _, err := fmt.Fprintf(file, "How deep is lake %d?\n", n); err != nil {
							return
						}
					}
				}()
			}
			// Two signals that follow each other too soon are one.
			for n := 0; n < tc.signals; n++ {
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				if n+1 < tc.signals {
					time.Sleep(200 * time.Millisecond)
				}
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Fatal("it goes on")
			}
			if code := c.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}
