package price

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// Price is an entry of the table: what the tokens of a model cost, in US dollars
// per million.
type Price struct {
	Provider string `json:"provider"`
	// Model is the model's name without its version; "*" stands for every model
	// of the provider.
	Model  string  `json:"model"`
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// CachedInput is the price of input that the provider had cached; nil means
	// that it costs the same as other input.
	CachedInput *float64 `json:"cached_input,omitempty"`
	// Batch is the price of calls by batch as a share of this one, nil for what the
	// provider publishes; see Discount.
	Batch *float64 `json:"batch,omitempty"`
	// AsOf is the day on which the price was right, as 2006-01-02.
	AsOf string `json:"as_of"`
	// Source is the page on which the provider lists the price.
	Source string `json:"source,omitempty"`
	// Note says under what conditions the price holds, where there are any.
	Note string `json:"note,omitempty"`
}

// Cost is what a call with that usage costs, in US dollars.
func (p Price) Cost(u model.Usage) float64 {
	cached := min(max(u.Cached, 0), max(u.Input, 0))
	cachedPrice := p.Input
	if p.CachedInput != nil {
		cachedPrice = *p.CachedInput
	}
	return (float64(max(u.Input, 0)-cached)*p.Input + float64(cached)*cachedPrice + float64(max(u.Output, 0))*p.Output) / 1e6
}

// Table is a list of prices. It is never changed once made.
type Table []Price

//go:embed prices.json
var builtIn []byte

// Default is the built-in table.
func Default() Table { return readBuiltIn() }

var readBuiltIn = settings.BuiltIn[Table]("prices.json", builtIn)

// With returns the table with the entries read from r, a YAML or JSON list; an entry for
// the provider and model of an old one replaces it. The name stands for the file
// in errors, which are *orbench.InputError with the line.
func (t Table) With(r io.Reader, name string) (Table, error) {
	return settings.Merge(t, r, name, func(p Price) string { return p.Provider + "/" + p.Model }, Price.validate)
}

// dearest is the highest believable price, in US dollars per million tokens; a higher one
// is taken for a typing error.
const dearest = 100_000

// validate says what is wrong with an entry.
func (p Price) validate() error {
	if p.Provider == "" || p.Model == "" {
		return errors.New(`an entry needs a provider and a model; the model "*" stands for all of a provider's`)
	}
	prices := []float64{p.Input, p.Output}
	if p.CachedInput != nil {
		prices = append(prices, *p.CachedInput)
	}
	for _, x := range prices {
		if math.IsNaN(x) || x < 0 || x > dearest {
			return fmt.Errorf("%s/%s: the price %g is not from 0 to %d dollars per million tokens", p.Provider, p.Model, x, dearest)
		}
	}
	if p.Batch != nil {
		if err := checkFactor(*p.Batch); err != nil {
			return fmt.Errorf("%s/%s: batch: %w", p.Provider, p.Model, err)
		}
	}
	if _, err := time.Parse(time.DateOnly, p.AsOf); err != nil {
		return fmt.Errorf("%s/%s: as_of is %q; write the day as 2026-01-31", p.Provider, p.Model, p.AsOf)
	}
	return nil
}

// Price finds the price of a model: the entry with the longest name that is the
// model's, or the model's without a version at its end; else the provider's "*".
// It reports false where there is none.
//
// A version is "-latest", or "-", "@" or ":" before digits, at least three of
// them in a row: gpt-4o-2024-08-06 is a gpt-4o, claude-opus-4@20250514 a
// claude-opus-4. But gpt-4o-mini is no gpt-4o and claude-opus-4-5 no
// claude-opus-4, whose prices differ. Letter case does not matter.
func (t Table) Price(provider, name string) (best Price, found bool) {
	name = strings.ToLower(name)
	for _, p := range t {
		if p.Provider != provider {
			continue
		}
		switch {
		case p.Model == "*":
			if !found {
				best, found = p, true
			}
		case matches(name, p.Model) && len(p.Model) >= len(best.Model): // "*" is as short as a name can be
			best, found = p, true
		}
	}
	return best, found
}

// version is what may follow a model's name to say which version of it is meant.
var version = regexp.MustCompile(`^(-latest|[-@:][0-9]{3,}(-[0-9]+)*)?$`)
