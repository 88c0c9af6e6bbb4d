package settings_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
)

func TestRenameError(t *testing.T) {
	upper := func(setting string) string { return "<" + strings.ToUpper(setting) + ">" }
	for _, c := range []struct {
		name string
		err  orbench.InputError
		want string
	}{
		{"setting", orbench.InputError{Setting: "label", Problem: "unknown label `x`", Hint: "use safe"}, "<LABEL>: unknown label `x`; use safe"},
		{"hint", orbench.InputError{File: "a.csv", Line: 3, Problem: "no label", Hint: "name it with `label-column`, or `label`"}, "a.csv:3: no label; name it with <LABEL-COLUMN>, or <LABEL>"},
		{"file and setting", orbench.InputError{File: "a.csv", Setting: "by", Problem: "no"}, "a.csv: no"},
		{"neither", orbench.InputError{Problem: "no", Hint: "write `A B` or ``"}, "no; write `A B` or ``"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := c.err
			if got := settings.RenameError(&c.err, upper).Error(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.err != before {
				t.Error("the error itself was changed")
			}
		})
	}
}
