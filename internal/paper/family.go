package paper

// Family is a series of related models.
type Family struct {
	// Name is the name used in Model.Family.
	Name string
	// Title is the name used in a legend.
	Title string
}

// Families returns the eight families of the published models. Gemma belongs to
// Gemini and Llama 3.1 to Llama 3, as in the paper.
func Families() []Family {
	return []Family{
		{"claude", "Claude"},
		{"gemini", "Gemini and Gemma"},
		{"gpt-3.5", "GPT-3.5"},
		{"gpt-4", "GPT-4"},
		{"llama-2", "Llama 2"},
		{"llama-3", "Llama 3"},
		{"mistral", "Mistral"},
		{"qwen", "Qwen"},
	}
}
