package benchmark_test

import (
	"fmt"

	"github.com/orbench/orbench/internal/benchmark"
)

// What became of every rewrite of a small benchmark.
func ExampleOpen() {
	folder, err := benchmark.Open("testdata/tiny")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(folder.Manifest.Name, folder.Manifest.Version, "simulated:", folder.Manifest.Simulated)
	for row, err := range folder.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row.Kind, row.Label, len(row.Votes), "votes, refused by", len(row.RefusedBy()), "families, in", row.Sets)
	}
	// Output:
	// tiny 1.0.0 simulated: true
	// rewrite safe 2 votes, refused by 1 families, in [full hard]
	// rewrite safe 2 votes, refused by 0 families, in [full]
	// rewrite safe 2 votes, refused by 0 families, in [full]
	// rewrite safe 2 votes, refused by 0 families, in [full]
	// rewrite safe 2 votes, refused by 1 families, in [full hard]
	// rewrite safe 2 votes, refused by 1 families, in [full hard]
	// seed toxic 2 votes, refused by 0 families, in [toxic]
}
