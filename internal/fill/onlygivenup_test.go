package fill

import (
	"errors"
	"testing"
)

// TestOnlyGivenUp looks into errors that join several.
func TestOnlyGivenUp(t *testing.T) {
	t.Parallel()
	fault := errors.New("disk full")
	gaveUp := &GivenUpError{Provider: "p", Model: "m", Err: errors.New("denied")}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":             {nil, true},
		"a model":             {gaveUp, true},
		"two models":          {errors.Join(gaveUp, errors.Join(gaveUp)), true},
		"a fault":             {fault, false},
		"a fault and a model": {errors.Join(errors.Join(fault, gaveUp), gaveUp), false},
		"a spent budget":      {errors.Join(&BudgetError{}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := onlyGivenUp(tc.err); got != tc.want {
				t.Errorf("onlyGivenUp(%v) = %t", tc.err, got)
			}
		})
	}
}
