//go:build !unix

package sqlite

import "io/fs"

// links is how many names a file has, 1 where the system does not tell.
func links(fs.FileInfo) uint64 { return 1 }
