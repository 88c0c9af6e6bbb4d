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

// accept makes sure that a license which restricts use was accepted: now, or
// before, as the cache remembers.
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

// licensesFile is where the cache remembers accepted licenses. No dataset has this
// name.
func licensesFile(cache string) string { return filepath.Join(cache, "licenses.json") }

// acceptedLicenses gives the licenses that were accepted, by dataset.
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
