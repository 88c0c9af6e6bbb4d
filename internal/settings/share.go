package settings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
)

// PointMeant asks whether a text with a comma means a number, before a hint.
func PointMeant(text, hint string) string {
	if whole, part, ok := strings.Cut(text, ","); ok && whole != "" && part != "" && strings.Trim(whole+part, "0123456789p%") == "" {
		return "did you mean " + whole + "." + part + "? " + hint
	}
	return hint
}

// ParseShare reads a share in a setting: 0.02, 2% or 2pp.
func ParseShare(setting, text string) (float64, error) {
	number, divisor := text, 1.0
	for _, unit := range []string{"pp", "%"} {
		if head, ok := strings.CutSuffix(text, unit); ok {
			number, divisor = strings.TrimSpace(head), 100
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, &orbench.InputError{Setting: setting, Problem: fmt.Sprintf("%q is not a share", text), Hint: PointMeant(text, "write it as 0.02, 2% or 2pp")}
	}
	return v / divisor, nil
}
