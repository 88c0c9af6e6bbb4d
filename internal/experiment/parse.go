package experiment

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/untrusted"
)

// ParseSystem reads a system prompt: the name of a known one, the text of one's own,
// or @FILE for its content. An empty text is none.
func ParseSystem(value string) (System, error) {
	for _, s := range defense.SystemPrompts() {
		if s.Name == value {
			return System{Name: value}, nil
		}
	}
	text := value
	if path, ok := strings.CutPrefix(value, "@"); ok {
		b, err := untrusted.ReadFile(path, maxSystem)
		if err != nil {
			return System{Name: None}, &orbench.InputError{Setting: "system", Problem: "cannot read the file: " + err.Error(), Hint: "correct the path after the @"}
		}
		text = strings.TrimRight(string(b), "\r\n")
	}
	if text == "" {
		return System{Name: None}, nil
	}
	return System{Name: "own", Text: text}, nil
}

// ParseTemperature reads a temperature from 0 to 2; "default", which leaves it to
// the provider, is nil.
func ParseTemperature(s string) (*float64, error) {
	if s == "default" {
		return nil, nil
	}
	t, err := strconv.ParseFloat(s, 64)
	if err != nil || !(t >= 0 && t <= 2) {
		return nil, &orbench.InputError{
			Setting: "temperature", Problem: fmt.Sprintf("%q is no temperature", s),
			Hint: `give a number from 0 to 2, or "default" for the provider's own`,
		}
	}
	return &t, nil
}

// SplitList parts comma-separated targets or datasets. A value that is the path of a file is
// taken whole, commas and all.
func SplitList(values []string) []string {
	var out []string
	for _, v := range values {
		if _, err := os.Stat(strings.TrimPrefix(v, ReplayPrefix)); err == nil {
			out = append(out, v)
			continue
		}
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}
