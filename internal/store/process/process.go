//go:build linux || darwin

package process

import (
	"errors"
	"syscall"
)

// Gone reports whether a process at a place is known to be no more. Of one whose number
// another process has now nothing is known.
func Gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
