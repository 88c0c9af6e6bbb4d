package folder

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps the names of two directories, in one step if the file system can.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return exchangeInSteps(a, b)
	}
	return err
}
