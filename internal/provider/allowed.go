package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// AllowedPath is the file of the hosts that may have keys although only files name them;
// the user decides that. It is empty if the user has no folder for settings. It has one
// host a line, as Host gives it; blank lines and those that begin with # say nothing.
func AllowedPath() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "orbench", "allowed-hosts")
}

// AllowedHosts lists the hosts that a file keeps, none where it is not there. A line that
// is no host is an *orbench.InputError, since it would silently allow nothing.
func AllowedHosts(path string) (hosts []string, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return nil, nil
	}
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot read the hosts that may have keys", Hint: "correct or remove the file", Err: err}
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		host, err := ParseHost(line)
		if err != nil {
			return nil, &orbench.InputError{File: path, Line: i + 1, Problem: err.Error(), Hint: "write one such as gateway.example or gateway.example:8443"}
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// Allow adds hosts to those that the file keeps, each once.
func Allow(path string, more []string) error {
	return keepHosts(path, func(hosts []string) []string {
		for _, host := range more {
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
		return hosts
	})
}

// Forget takes hosts away from those that the file keeps.
func Forget(path string, fewer []string) error {
	return keepHosts(path, func(hosts []string) []string {
		return slices.DeleteFunc(hosts, func(host string) bool { return slices.Contains(fewer, host) })
	})
}

// keepHosts writes the file with its hosts changed in place of the old one.
func keepHosts(path string, change func(hosts []string) []string) error {
	hosts, err := AllowedHosts(path)
	if err != nil {
		return err
	}
	text := "# Hosts that orbench may send keys to although only files name them: one a line.\n"
	for _, host := range change(hosts) {
		text += host + "\n"
	}
	// Written beside it first, so that a full disk leaves what was there.
	beside := path + ".new"
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(beside, []byte(text), 0o600)
	}
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside) // it may not be there
		return fmt.Errorf("keep the hosts that may have keys: %w", err)
	}
	return nil
}
