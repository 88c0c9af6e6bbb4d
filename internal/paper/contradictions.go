package paper

// Contradiction is a place where the publication contradicts itself.
type Contradiction struct {
	// Where names the tables, figures and sections.
	Where string `json:"where"`
	// Printed is what they say. Found is what follows when the figures are
	// computed again.
	Printed string `json:"printed"`
	Found   string `json:"found"`
}

// Contradictions lists where the publication contradicts itself.
func Contradictions() []Contradiction {
	_, all := read("contradictions", func(r []string) Contradiction { return Contradiction{r[0], r[1], r[2]} })
	return all
}
