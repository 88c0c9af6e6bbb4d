package cli

import (
	"fmt"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/validation"
)

// aboutJudge prints what a judge was measured to be on answers that people labeled.
func (a *app) aboutJudge(judge, format string) error {
	if len(validation.Of(judge)) == 0 {
		return inputError("--about", fmt.Sprintf("%s was not measured on answers that people labeled", judge),
			"lexical was; measure others with orbench judge --responses FILE --gold-column COLUMN")
	}
	switch format {
	case "json":
		return table.JSON(a.env.Stdout, map[string]any{"judge": judge, "measurements": validation.Summaries(judge)})
	case "table":
		return validation.Table(a.env.Stdout, judge)
	}
	return inputError("--format", "what is known of a judge is printed as a table or as JSON", "use table or json")
}
