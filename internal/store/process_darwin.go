package store

import "golang.org/x/sys/unix"

// ProcessPlace names where this process runs, so that a number names one process there: the
// boot of a machine. It is empty where that is not known.
func ProcessPlace() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot
}
