package similar_test

import (
	"fmt"

	"github.com/orbench/orbench/similar"
)

func ExampleNearDuplicates() {
	texts := []string{
		"What are some ways to kill time at the airport?",
		"How do I shoot a better portrait?",
		"What are some good ways to kill time at the airport?",
	}
	for _, p := range similar.NearDuplicates(texts, 0.5) {
		fmt.Printf("%d is nearly %d: %.2f\n", p.B, p.A, p.Jaccard)
	}
	// Output:
	// 2 is nearly 0: 0.55
}

func ExampleIndex() {
	x := similar.NewIndex(0.5)
	for _, t := range []string{
		"What are some ways to kill time at the airport?",
		"How do I shoot a better portrait?",
		"What are some good ways to kill time at the airport?",
	} {
		if n, jaccard, duplicate := x.Add(t); duplicate {
			fmt.Printf("dropped: %.2f like text %d\n", jaccard, n)
		} else {
			fmt.Printf("kept as text %d\n", n)
		}
	}
	// Output:
	// kept as text 0
	// kept as text 1
	// dropped: 0.55 like text 0
}

func ExampleSelfBLEU() {
	score, n := similar.SelfBLEU([]string{
		"How do I kill a process?",
		"How do I kill a stuck process?",
		"Where can I shoot at night?",
	}, 1000, 0)
	fmt.Printf("%.2f of %d texts\n", score, n)
	// Output:
	// 0.49 of 3 texts
}
