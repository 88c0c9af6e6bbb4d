//go:build linux || darwin

package store

import (
	"errors"
	"syscall"
)

// ProcessGone reports whether a process at a place is known to be no more. Of one whose number
// another process has now nothing is known.
func ProcessGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
