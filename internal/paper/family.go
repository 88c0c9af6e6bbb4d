package paper

// Family is a line of models that belong together.
type Family struct {
	// Name is how Model.Family names it.
	Name string
	// Title is how a legend names it.
	Title string
}

// Families gives the eight families of the published models. Gemma is put with Gemini and Llama 3.1 with Llama
// 3, as in the paper.
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
