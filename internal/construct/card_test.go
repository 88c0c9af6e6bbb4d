package construct

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/price"
)

// TestLicenseStaysInItsLine reads the front matter of cards back, as the hub does.
func TestLicenseStaysInItsLine(t *testing.T) {
	t.Parallel()
	for _, license := range []string{"cc-by-4.0", "CC BY: 4.0 #1", "mit\ntags: [mine]\n---\n", `"`, "[a, b]", "null"} {
		var card strings.Builder
		if err := writeCard(&card, benchmark.Manifest{Name: "mine", Config: benchmark.BuildConfig{License: license}}, nil, price.Default()); err != nil {
			t.Fatal(err)
		}
		parts := strings.SplitN(card.String(), "---\n", 3)
		if len(parts) != 3 {
			t.Fatalf("no front matter in %q", card.String())
		}
		var front struct {
			License string
			Tags    []string
		}
		if err := yaml.Unmarshal([]byte(parts[1]), &front); err != nil {
			t.Fatalf("%q: %v", license, err)
		}
		if front.License != license && license != "null" || len(front.Tags) != 3 {
			t.Errorf("license %q and tags %v of %q", front.License, front.Tags, license)
		}
	}
}
