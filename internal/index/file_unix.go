//go:build unix

package index

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a folder, or a file of one name, is the user's and nobody else can write
// to it.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0 && (info.IsDir() || s.Nlink == 1)
}
