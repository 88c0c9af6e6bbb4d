package provenance

// Name names a setting.
type Name string

// The settings that other packages look up by name.
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
	// Of names the target, dataset, defense or judge that has the setting. It
	// is empty for a setting of the whole run.
	Of string `json:"of,omitempty"`
	// Value is written for people; long texts are cut and end with their hash.
	Value string `json:"value"`
	// Compared is true for a setting that is compared even between targets of
	// different names, because a difference in it may be mistaken for a
	// difference between models. Misleads is true for a setting that changes
	// figures by itself and that nobody compares on purpose without saying so.
	// Judging is true for a setting of a judge.
	Compared bool `json:"-"`
	Misleads bool `json:"-"`
	Judging  bool `json:"-"`
}

// None is the value of a setting that is absent.
const None = "none"

// NotRecorded is the value of a setting that recorded answers do not include.
const NotRecorded = "not recorded"
