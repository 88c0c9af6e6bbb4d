package store

import (
	"os"
	"strings"
)

// ProcessPlace names where this process runs, so that a number names one process there: the
// boot of a machine and a namespace of processes, of which each container has its own. It
// is empty where that is not known.
func ProcessPlace() string {
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + namespace
}
