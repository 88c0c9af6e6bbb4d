package rows

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/untrusted"
)

// Time reads a time of a log: text as in RFC 3339, with a space, or with a date alone, or a number
// of seconds, milliseconds, microseconds or nanoseconds since 1970.
func Time(text string) (time.Time, bool) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, false
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		for _, second := range []float64{1, 1e3, 1e6, 1e9} {
			// From 1990 to 2100.
			if at := n / second; at > 631e6 && at < 4102e6 {
				return time.Unix(int64(at), 0).UTC(), true
			}
		}
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05 UTC", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// UserNames are the usual names of the column of who asked, the surer first.
func UserNames() []string { return partNames[partUser] }

// answerNames are the usual names of the column of what a model answered, the surer first: a
// column of answers alone may have those of people.
var answerNames = []string{
	"model_output", "model_response", "model_answer", "model_completion", "model_prediction", "llm_output", "llm_response", "llm_answer",
	"model_reply", "llm_reply", "ai_response", "ai_answer", "bot_response", "bot_answer", "assistant_response", "agent_response", "chatbot_response",
	"generated_answer", "generated_response", "actual_output", "actualOutput", "generated_text", "generated_output", "predicted_answer", "predicted_response", "response", "response_text", "completion", "prediction", "predict", "pred",
	"answer", "output", "output_text", "generation", "reply", "assistant", "responses", "outputs", "choices",
}

// AnswerNames are the usual names of the column of what a model answered, the surer first.
func AnswerNames() []string { return answerNames }

// LikeAnswer reports whether a column of the name may hold answers, of a model or of people.
func LikeAnswer(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	ends := func(word string) bool { return strings.HasSuffix(name, word) }
	return slices.ContainsFunc(answerNames, ends) || slices.ContainsFunc([]string{"answers", "pred", "gold", "reference", "target", "truth"}, ends)
}

// ofModel is in names of columns of what a model answered, and ofOther in those of what is about
// an answer.
var (
	ofModel = regexp.MustCompile(`(?i)respon[sd]|answer|output|completion|generat|predict|reply|continuation`)
	ofOther = regexp.MustCompile(`(?i)\.|gold|ref|target|truth|expect|correct|ideal|human|chosen|reject|label|judge|score|verdict|type|len|length|time|tok|count|class|status|_?ids?$|prompt|question|category|format|finish|reason|error|date|able|respondent|path|url|file|lang|method|source|metric|grade|quality|answered|flag|(?:^|_)(?:is|has|num|n)_`)
)

// OfModel reports whether the name of a column says that it has what a model answered, and not
// what is about that.
func OfModel(name string) bool { return ofModel.MatchString(name) && !ofOther.MatchString(name) }

// PassedOver says which columns that are like the one taken were not; empty for none. other are
// taken for something else.
func PassedOver(file, what, taken string, have []string, like func(name string) bool, other ...string) string {
	passed := slices.DeleteFunc(slices.Clone(have), func(name string) bool {
		return name == taken || strings.HasPrefix(name, taken+".") || slices.Contains(other, name) || !like(name)
	})
	if taken == "" || len(passed) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: the %s are those of the column %s, and not of %s", file, what, untrusted.Quote(taken), List(passed))
}
