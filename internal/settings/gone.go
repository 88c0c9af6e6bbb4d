package settings

// gone says of settings that are no longer there what to do in place of them.
var gone = map[string]string{
	"allow_host":     "let the host have keys once for all: orbench config allow-host HOST",
	"languages":      "name a dataset in another language as it is",
	"most_unjudged":  "a rate is given where at most a tenth of the answers is unjudged",
	"organization":   "set ORBENCH_ORGANIZATION",
	"prices":         "write providers=FILE, which takes files of prices too",
	"probes":         "leave it out: no forged verdicts are planted in runs",
	"relationship":   "it is first_party where ORBENCH_ORGANIZATION makes the model, else third_party",
	"repository":     "correct the id in the files that are written",
	"translator":     "name a dataset in another language as it is",
	"unlabeled":      "leave it out; orbench judge passes over the labels of a file of responses",
	"until_interval": "write it behind the width, as in until=2pp,sequence",
	"user_column":    "call the column user_id in the file",
}

// Gone says what to do in place of a setting that is no longer there, empty for any other name.
func Gone(name string) string { return gone[name] }
