package consent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provider"
)

// Path is where the hosts are kept, empty where the user has no place for settings.
func Path() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "orbench", "allowed-hosts")
}

// Hosts lists the hosts that a file keeps, none where it is not there. A line that is no
// host is an *orbench.InputError: it would allow nothing, unseen.
func Hosts(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return nil, nil
	}
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot read the hosts that may have keys", Hint: "mend or remove the file", Err: err}
	}
	var hosts []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		host, err := provider.ParseHost(line)
		if err != nil {
			return nil, &orbench.InputError{File: path, Line: n, Problem: err.Error(), Hint: "write one such as gateway.example or gateway.example:8443"}
		}
		hosts = append(hosts, host)
	}
	return hosts, lines.Err()
}

// head begins the file.
const head = "# Hosts that orbench may send keys to although only files name them: one a line.\n"

// Allow adds hosts to those that the file keeps, each once.
func Allow(path string, more []string) error {
	hosts, err := Hosts(path)
	if err != nil {
		return err
	}
	for _, host := range more {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return save(path, hosts)
}

// Forget takes hosts away from those that the file keeps.
func Forget(path string, fewer []string) error {
	hosts, err := Hosts(path)
	if err != nil {
		return err
	}
	return save(path, slices.DeleteFunc(hosts, func(host string) bool { return slices.Contains(fewer, host) }))
}

// save writes the file in place of the old one.
func save(path string, hosts []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the hosts that may have keys: %w", err)
	}
	text := head
	for _, host := range hosts {
		text += host + "\n"
	}
	// Written beside it first, so that a full disk leaves what was there.
	beside := path + ".new"
	err := os.WriteFile(beside, []byte(text), 0o600)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		return fmt.Errorf("keep the hosts that may have keys: %w", errors.Join(err, os.Remove(beside)))
	}
	return nil
}
