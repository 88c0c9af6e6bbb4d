package paper

// Version is a version of the hard and the toxic prompts. The published tables
// mix two versions without saying so.
type Version string

// The versions. The files available for download are Released.
const (
	Older    Version = "older"
	Released Version = "released"
)

// The sizes of the datasets.
const (
	HardOlder     = 1534
	HardReleased  = 1319
	ToxicOlder    = 681
	ToxicReleased = 655
)
