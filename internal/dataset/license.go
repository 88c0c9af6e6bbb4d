package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// accept requires that a license which restricts use is accepted: now, or earlier if the
// cache remembers it.
func (e Entry) accept(opts PullOptions) error {
	if e.Restricts == "" {
		return nil
	}
	accepted, err := acceptedLicenses(opts.Cache)
	if err != nil {
		return err
	}
	if accepted[e.Name] == e.License {
		return nil
	}
	if !opts.AcceptLicense {
		return &orbench.InputError{
			Problem: fmt.Sprintf("the license of %s is %q: %s; see %s", e.Name, e.License, e.Restricts, e.URL()),
			Hint:    "if your use is allowed, accept it with: " + e.HowToGet(),
		}
	}
	accepted[e.Name] = e.License
	return replaceJSON(licensesFile(opts.Cache), accepted)
}

// licensesFile is the cache's file of accepted licenses. No dataset has this name.
func licensesFile(cache string) string { return filepath.Join(cache, "licenses.json") }

// acceptedLicenses gives the accepted licenses, by dataset.
func acceptedLicenses(cache string) (map[string]string, error) {
	accepted := map[string]string{}
	text, err := untrusted.ReadFile(licensesFile(cache), maxSidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return accepted, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &accepted)
	}
	if err != nil {
		return nil, fmt.Errorf("the accepted licenses in %s: %w", licensesFile(cache), err)
	}
	return accepted, nil
}
