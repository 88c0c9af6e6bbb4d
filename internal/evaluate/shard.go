package evaluate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
)

// Shard is one of several parts of a run's prompts, each of which a process of its own
// asks. The zero value is all of them.
type Shard struct {
	// Number is that of the part, from 1 to Of.
	Number, Of int
}

// ShardResult is what eval prints of a shard.
type ShardResult struct {
	Run   string `json:"run"`
	Shard string `json:"shard"`
	// Prompts are those of the shard, of as many of the run.
	Prompts int `json:"prompts"`
	Of      int `json:"of"`
	// Calls were sent now, Remembered before, and Lacking are still to be made.
	Calls      int `json:"calls"`
	Remembered int `json:"remembered"`
	Missing    int `json:"lacking"`
}

// shardForm is how a shard is written.
var shardForm = regexp.MustCompile(`^([0-9]{1,6})/([0-9]{1,6})$`)

// ParseShard reads a shard, such as "2/4"; the empty text is all prompts. Anything else
// is an *orbench.InputError.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	var s Shard
	if m := shardForm.FindStringSubmatch(text); m != nil {
		s.Number, _ = strconv.Atoi(m[1])
		s.Of, _ = strconv.Atoi(m[2])
	}
	if s.Number < 1 || s.Number > s.Of {
		return s, &orbench.InputError{
			Setting: "shard", Problem: fmt.Sprintf("%.20q is no part of a whole", text),
			Hint: "write PART/PARTS, such as 2/4 for the second of four",
		}
	}
	return s, nil
}

// String is the shard as ParseShard reads it.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// deal starts dealing prompts out like cards, one to each shard in turn, and gives what
// takes the shard's own out of the next ones. A prompt that several datasets have is
// dealt once, so that no two shards ask the same.
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
