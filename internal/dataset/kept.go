package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// KeptRecording is a Recording whose answers were kept, each in the form of Answer.Kept.
func KeptRecording(path string, about Recorded, answers iter.Seq2[orbench.Prompt, error]) *Recording {
	return &Recording{Path: path, Recorded: about, kept: answers}
}

// ToKeep streams the answers as a store keeps them; see Answer.Kept.
func (r *Recording) ToKeep() iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		for a, err := range r.Answers() {
			if !yield(a.Kept(), err) || err != nil {
				return
			}
		}
	}
}

// Kept is the answer in the form of a prompt, since a store keeps prompts: the prompt
// with the answer at its end. The prompt's category holds the group, its pair the
// people's label, and its cluster the line, with marks for who asked, when, and the like.
func (a Answer) Kept() orbench.Prompt {
	var messages []orbench.Message
	if a.Messages != nil || a.Prompt != "" {
		messages = slices.Clone(a.Asked().Messages)
	}
	messages = append(messages, orbench.Message{Role: orbench.Assistant, Content: a.Response})
	place := strconv.Itoa(a.Line)
	if a.User != "" {
		place += userPlace + a.User
	}
	if !a.Time.IsZero() {
		place += timePlace + strconv.FormatInt(a.Time.Unix(), 10)
	}
	if a.Chance > 0 {
		place += chancePlace + strconv.FormatFloat(a.Chance, 'g', -1, 64)
	}
	if a.Finish != "" {
		place += finishPlace + string(a.Finish)
	}
	if a.Block != nil {
		place += blockPlace + string(a.Block.Kind) + " " + a.Block.Detail
	}
	if a.Simulated {
		place += simulatedPlace
	}
	return orbench.Prompt{
		ID: orbench.PromptIDOf(messages), Messages: messages, Label: orbench.Undecided,
		Pair: a.Gold, Cluster: place,
	}
}

// simulatedPlace marks the place of a simulated answer. userPlace stands before UserHash of
// who asked, timePlace before the Unix time, chancePlace before the chance with which an
// answer was drawn, finishPlace before how it ended, blockPlace before the kind and the word
// of a block. They come in this order.
const (
	userPlace      = " user "
	timePlace      = " at "
	simulatedPlace = " simulated"
	chancePlace    = " chance "
	finishPlace    = " finish "
	blockPlace     = " block "
)

// AnswerOf is the answer whose Kept is the given prompt, with its number.
func AnswerOf(p orbench.Prompt, number int) (Answer, error) {
	place, simulated := strings.CutSuffix(p.Cluster, simulatedPlace)
	place, withheld, blocked := strings.Cut(place, blockPlace)
	place, finish, _ := strings.Cut(place, finishPlace)
	place, drawn, _ := strings.Cut(place, chancePlace)
	place, asked, timed := strings.Cut(place, timePlace)
	place, user, _ := strings.Cut(place, userPlace)
	chance := 0.0
	line, err := strconv.Atoi(place)
	var at time.Time
	if err == nil && timed {
		var seconds int64
		seconds, err = strconv.ParseInt(asked, 10, 64)
		at = time.Unix(seconds, 0).UTC()
	}
	if err == nil && drawn != "" {
		chance, err = strconv.ParseFloat(drawn, 64)
	}
	last := len(p.Messages) - 1
	if err != nil || last < 0 || p.Messages[last].Role != orbench.Assistant {
		return Answer{}, fmt.Errorf("the stored record of answer %d cannot be read as one", number)
	}
	a := Answer{Line: line, Number: number, Response: p.Messages[last].Content, Gold: p.Pair, Chance: chance, Simulated: simulated, Finish: model.Finish(finish), User: user, Time: at}
	if blocked {
		kind, detail, _ := strings.Cut(withheld, " ")
		a.Block = &model.Block{Kind: model.BlockKind(kind), Detail: detail}
	}
	prompt := orbench.Prompt{Messages: p.Messages[:last]}
	if a.Prompt = prompt.Text(); last > 1 || last == 1 && prompt.Messages[0].Role != orbench.User {
		a.Messages = prompt.Messages
	}
	return a, nil
}

// keptAnswers streams the answers that were kept.
func (r *Recording) keptAnswers(yield func(Answer, error) bool) {
	number := 0
	for p, err := range r.kept {
		var a Answer
		if number++; err == nil {
			a, err = AnswerOf(p, number)
		}
		if !yield(a, err) || err != nil {
			return
		}
	}
}

// SaysWho gives the name of the column in which a file of recorded answers says who asked,
// empty for none. The errors are those of OpenRecording.
func SaysWho(path string, opts RecordingOptions) (column string, err error) {
	path, _, _ = cutModel(path)
	in, err := (&Recording{Path: path, opts: opts}).open()
	if err != nil {
		return "", err
	}
	return in.columns.User, in.Close()
}

// UserHash is what a store keeps of a user's name: the first 16 hex digits of its SHA-256,
// so that what a user said is found by the name and the name is not in the store. Whoever
// can guess the name can tell that it is the user's. It is empty for no name.
func UserHash(name string) string {
	if name = strings.TrimSpace(name); name == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("orbench user\n" + name))
	return hex.EncodeToString(sum[:8])
}

// Without describes what is left of kept answers after some of them were forgotten. left has
// the others, in the form of Answer.Kept. Kept stays as it was.
func (r Recorded) Without(left iter.Seq2[orbench.Prompt, error]) (Recorded, error) {
	before, sum := r.Count, newHasher(recordingHashVersion)
	r.Count, r.GoldValues = 0, map[string]int{}
	for a, err := range KeptRecording("", r, left).Answers() {
		if err != nil {
			return r, err
		}
		r.add(a, sum)
	}
	r.SHA256, r.Forgotten = sum.sum(), r.Forgotten+before-r.Count
	return r, nil
}
