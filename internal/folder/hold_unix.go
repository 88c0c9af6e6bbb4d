//go:build linux || darwin

package folder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks a draft as its writer does. It reports whether the draft exists and was not
// locked. The file is nil if the file system has no locks.
func hold(path string) (held *os.File, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, !errors.Is(err, unix.EWOULDBLOCK)
	}
	// The previous holder may have removed the draft or moved it to its place.
	mine, err := f.Stat()
	there, gone := os.Lstat(path)
	if err != nil || gone != nil || !os.SameFile(mine, there) {
		_ = f.Close()
		return nil, false
	}
	return f, true
}
