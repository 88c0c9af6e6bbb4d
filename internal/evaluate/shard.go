package evaluate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
)

// Shard is one of several parts of a run's prompts. Each part is asked by a
// process of its own. The zero value is all prompts.
type Shard struct {
	// Number is the number of the part, from 1 to Of.
	Number, Of int
}

// ShardResult is what eval prints about a shard.
type ShardResult struct {
	Run   string `json:"run"`
	Shard string `json:"shard"`
	// Prompts is the number of the shard's prompts, and Of that of the run.
	Prompts int `json:"prompts"`
	Of      int `json:"of"`
	// Calls were sent now, Remembered were stored before, and Lacking are still
	// to be made.
	Calls      int `json:"calls"`
	Remembered int `json:"remembered"`
	Missing    int `json:"lacking"`
}

// shardForm is the form in which a shard is written.
var shardForm = regexp.MustCompile(`^([0-9]{1,6})/([0-9]{1,6})$`)

// ParseShard reads a shard, such as "2/4"; the empty text means all prompts.
// Anything else is an *orbench.InputError.
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return Shard{}, nil
	}
	if m := shardForm.FindStringSubmatch(text); m != nil {
		s.Number, _ = strconv.Atoi(m[1])
		s.Of, _ = strconv.Atoi(m[2])
	}
	if s.Number < 1 || s.Number > s.Of {
		return s, &orbench.InputError{
			Setting: "shard", Problem: fmt.Sprintf("%.20q is not a part of a whole", text),
			Hint: "write PART/PARTS, such as 2/4 for the second of four",
		}
	}
	return s, nil
}

// String returns the shard in the form that ParseShard reads.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// deal deals prompts out like cards, one to each shard in turn. It returns a
// function that selects the shard's own from the next prompts. A prompt that
// several datasets have is dealt once, so no two shards ask the same.
func (s Shard) deal() func([]orbench.Prompt) []orbench.Prompt {
	if s.Of <= 1 {
		return func(prompts []orbench.Prompt) []orbench.Prompt { return prompts }
	}
	own := map[orbench.PromptID]bool{}
	return func(prompts []orbench.Prompt) []orbench.Prompt {
		return slices.DeleteFunc(prompts, func(p orbench.Prompt) bool {
			mine, dealt := own[p.ID]
			if !dealt {
				mine = len(own)%s.Of == s.Number-1
				own[p.ID] = mine
			}
			return !mine
		})
	}
}
