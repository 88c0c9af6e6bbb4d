package folder

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// Free gives dir or, if it exists, the first free one of dir-2, dir-3 and so on. It makes
// the parent folder.
func Free(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", &orbench.InputError{Setting: "out", Problem: "cannot make the folder: " + err.Error(), Hint: "name another"}
	}
	for n := 1; ; n++ {
		free := dir
		if n > 1 {
			free = fmt.Sprintf("%s-%d", dir, n)
		}
		if _, err := os.Lstat(free); os.IsNotExist(err) {
			return free, nil
		} else if err != nil {
			return "", &orbench.InputError{Setting: "out", Problem: err.Error(), Hint: "name another folder"}
		}
	}
}
