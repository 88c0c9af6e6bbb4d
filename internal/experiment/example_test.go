package experiment_test

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench/internal/experiment"
)

func Example() {
	file, err := experiment.Parse("experiment.yaml", []byte(`
targets: [sim/balanced]
datasets: [starter]
variants:
  framings: [purpose]
  defenses: [icl]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	variants := file.Expand()
	for _, variant := range variants {
		fmt.Printf("%s [%s]\n", file.Targets[0].Called(), strings.Join(variant.Labels(variants[0]), ", "))
	}
	// Output:
	// sim/balanced []
	// sim/balanced [icl]
	// sim/balanced [purpose]
	// sim/balanced [purpose, icl]
}
