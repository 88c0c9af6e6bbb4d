package store

import (
	"os"
	"strings"
)

// ProcessPlace names where this process runs, so that a number names one process there: the
// boot of a machine and a namespace of processes, of which each container has its own. It
// is empty where that is not known.
func ProcessPlace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + namespace
}
