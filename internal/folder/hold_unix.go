//go:build linux || darwin

package folder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks a draft as its writer does, and reports whether it is there and was free. The
// file is nil where the file system has no locks.
func hold(path string) (held *os.File, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, !errors.Is(err, unix.EWOULDBLOCK)
	}
	// Whoever held it before may have removed it or put it into its place.
	mine, err := f.Stat()
	there, gone := os.Lstat(path)
	if err != nil || gone != nil || !os.SameFile(mine, there) {
		_ = f.Close()
		return nil, false
	}
	return f, true
}
