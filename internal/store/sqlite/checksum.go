package sqlite

import "github.com/orbench/orbench/internal/store"

// errChanged is the damage of a row that is no longer what was written.
const errChanged = store.Damage("a row is not what was written")

// verify compares columns with the checksum that was stored of them: nil, which is
// unknown, holds, and anything but a number does not.
func verify(stored any, columns ...[]byte) error {
	if stored == nil || stored == store.Checksum(columns...) {
		return nil
	}
	return errChanged
}
