package provenance

// Name names a setting.
type Name string

// The settings of a target.
const (
	Model        Name = "model"
	Address      Name = "address"
	SystemPrompt Name = "system prompt"
	Temperature  Name = "temperature"
	MaxTokens    Name = "max tokens"
	Seed         Name = "seed"
	Samples      Name = "samples"
	Framing      Name = "framing"
	Turns        Name = "turns"
	Defense      Name = "defense"
	Guard        Name = "guard"
)

// The settings of a dataset, of a defense, of a judge, and of a whole run.
const (
	DatasetHash  Name = "dataset hash"
	DatasetLabel Name = "dataset label"
	// DatasetSample is the draw that left some of the prompts.
	DatasetSample Name = "dataset sample"

	DefenseMaxTokens Name = "defense max tokens"
	DefenseAddress   Name = "defense address"

	JudgeMaxTokens  Name = "judge max tokens"
	JudgeAddress    Name = "judge address"
	JudgeStructured Name = "judge output"
	JudgeVersion    Name = "judge version"

	Limit Name = "limit"
	// Until is how narrow the rates had to be for the run to end by itself.
	Until    Name = "until"
	Targets  Name = "targets"
	Datasets Name = "datasets"
	Judges   Name = "judges"
)

// Setting is one choice that a run was made with.
type Setting struct {
	Name Name `json:"setting"`
	// Of names the target, dataset, defense or judge that has the setting, and is empty
	// for one of the whole run.
	Of string `json:"of,omitempty"`
	// Value is as people read it; long texts are cut and end with their hash.
	Value string `json:"value"`
}

// None is the value of what is not there.
const None = "none"

// NotRecorded is the value of what recorded answers do not tell.
const NotRecorded = "not recorded"

// ofTarget are the settings that are compared between targets of different names
// too, as a difference of those may be taken for one of the models.
var ofTarget = map[Name]bool{
	Address: true, SystemPrompt: true, Temperature: true, MaxTokens: true, Seed: true, Samples: true,
	Framing: true, Turns: true, Defense: true, Guard: true,
}

// misleading are the settings that move figures by themselves and that nobody
// compares on purpose without saying so.
var misleading = map[Name]bool{
	MaxTokens: true, Temperature: true, DatasetHash: true, DefenseMaxTokens: true,
	JudgeMaxTokens: true, JudgeStructured: true, JudgeVersion: true,
}
