package study

import "github.com/orbench/orbench/model"

// Model is a model of a study by the name that the user gave it.
type Model struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
}

// ModelOf names a model.
func ModelOf(name string, ref model.Ref) Model {
	return Model{name, ref.Provider, ref.Endpoint, ref.Model}
}

// Ref is the model as it is asked.
func (m Model) Ref() model.Ref {
	return model.Ref{Provider: m.Provider, Endpoint: m.Endpoint, Model: m.Model}
}
