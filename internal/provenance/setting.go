package provenance

// Name names a setting.
type Name string

// The settings that others look for by name.
const (
	DatasetHash  = Name("dataset hash")
	JudgeVersion = Name("judge version")
	Targets      = Name("targets")
	Datasets     = Name("datasets")
	Judges       = Name("judges")
)

// Setting is one choice that a run was made with.
type Setting struct {
	// Name is `model`, `address`, `system prompt`, `temperature`, `max tokens`, `seed`,
	// `samples`, `framing`, `turns`, `defense`, `guard`, `dataset hash`, `dataset label`,
	// `dataset sample`, `defense max tokens`, `defense address`, `judge max tokens`, `judge
	// address`, `judge output`, `judge version`, `limit`, `until`, `targets`, `datasets` or
	// `judges`.
	Name Name `json:"setting"`
	// Of names the target, dataset, defense or judge that has the setting, and is empty
	// for one of the whole run.
	Of string `json:"of,omitempty"`
	// Value is as people read it; long texts are cut and end with their hash.
	Value string `json:"value"`
	// Compared is true of what is compared between targets of different names too, as a
	// difference of it may be taken for one of the models, Misleads of what moves figures by
	// itself and nobody compares on purpose without saying so, and Judging of what a judge
	// has.
	Compared bool `json:"-"`
	Misleads bool `json:"-"`
	Judging  bool `json:"-"`
}

// None is the value of what is not there.
const None = "none"

// NotRecorded is the value of what recorded answers do not tell.
const NotRecorded = "not recorded"
