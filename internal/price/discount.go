package price

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/orbench/orbench/internal/settings"
)

// Discount is the price of a model's calls by batch, relative to its list price.
type Discount struct {
	Provider string `json:"provider"`
	// Model is as in Price.
	Model string `json:"model"`
	// Factor is the price by batch as a share of the list price, of input, cached input
	// and output alike.
	Factor float64 `json:"factor"`
	// AsOf, Source and Note are as in Price.
	AsOf   string `json:"as_of"`
	Source string `json:"source,omitempty"`
	Note   string `json:"note,omitempty"`
}

//go:embed discounts.json
var builtInDiscounts []byte

var discounts = settings.BuiltIn[[]Discount]("discounts.json", builtInDiscounts)

// checkFactor refuses what is no share of a list price.
func checkFactor(x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("the factor %g is not from 0 to 1", x)
	}
	return nil
}

// Discount finds what calls of a model by batch cost: what the entry of its price says, or
// else the provider's published factor. It reports false if neither is known, which is not
// the same as no discount.
func (t Table) Discount(provider, name string) (Discount, bool) {
	p, priced := t.Price(provider, name)
	own := Discount{Provider: provider, Model: p.Model, Factor: 1, AsOf: p.AsOf, Source: p.Source, Note: p.Note}
	if priced && p.Batch != nil {
		own.Factor = *p.Batch
		return own, true
	}
	best, found := Discount{}, false
	for _, d := range discounts() {
		if d.Provider == provider && matches(name, d.Model) && (!found || best.Model == "*") {
			best, found = d, true
		}
	}
	if !found && priced && p.Input == 0 && p.Output == 0 {
		return own, true // a share of nothing is nothing
	}
	return best, found
}

// Batch is the price of a model's calls by batch. It reports false where the price or the
// discount is unknown.
func (t Table) Batch(provider, name string) (Price, bool) {
	p, priced := t.Price(provider, name)
	d, known := t.Discount(provider, name)
	p.Input *= d.Factor
	p.Output *= d.Factor
	if p.CachedInput != nil {
		p.CachedInput = new(*p.CachedInput * d.Factor)
	}
	return p, priced && known
}

// matches reports whether a name is that of an entry, or of a version of it.
func matches(name, entry string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(name), strings.ToLower(entry))
	return entry == "*" || ok && version.MatchString(rest)
}
