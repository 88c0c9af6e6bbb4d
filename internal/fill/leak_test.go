package fill

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// What waits for a disk here is many small commits; memory, where there is a place for
	// files in it, makes most of the tests' time go away.
	const memory = "/dev/shm"
	if os.Getenv("TMPDIR") == "" {
		if _, err := os.Stat(memory); err == nil {
			os.Setenv("TMPDIR", memory)
		}
	}
	goleak.VerifyTestMain(m)
}
