package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestWalk says nothing of a walk that takes less than a second, and then how far it is.
func TestWalk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		walked, end := (&Env{Stderr: &b}).walking(10_000)
		said := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := b.String(); got != want {
				t.Errorf("after %v it says %q, want %q", after, got, want)
			}
			b.Reset()
		}
		walked(12)
		said(900*time.Millisecond, "")
		walked(1234)
		said(200*time.Millisecond, "reading answers  1,234 of 10,000\n")
		said(3*time.Second, "")
		walked(9999)
		said(3*time.Second, "reading answers  9,999 of 10,000\n")
		end()
		said(0, "")
	})
}
