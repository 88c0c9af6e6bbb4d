package paper

import "github.com/orbench/orbench/stats"

// Moderator is one rater of the 100 prompts on which the moderation was checked
// (tables 1 and 12): three workers, an expert, and the ensemble of models. The
// truth is the majority of these five, so each rater helped to decide it. Safe
// is the positive class.
type Moderator struct {
	Name string `json:"rater"`
	stats.Confusion
}

// Moderators returns the five raters.
func Moderators() []Moderator {
	_, all := read("moderators", func(r []string) Moderator {
		return Moderator{r[0], stats.Confusion{TP: whole(r[1]), FN: whole(r[2]), TN: whole(r[3]), FP: whole(r[4])}}
	})
	return all
}

// FamilyAverage is the mean and the standard deviation of the refusal of hard
// prompts over a family's models, in per cent, both as printed and as computed
// again from Models. The deviation is that of the models themselves (divided by
// n), not an estimate from a sample. The families are those of the paper's
// averages. They are finer than those of its plots and leave out Claude 2.1 and
// Claude 3.5.
type FamilyAverage struct {
	Name        string   `json:"family"`
	Models      []string `json:"models"`
	PrintedMean float64  `json:"printed_mean_pct"`
	PrintedStd  float64  `json:"printed_std_pct"`
	Mean        float64  `json:"mean_pct"`
	Std         float64  `json:"std_pct"`
}
