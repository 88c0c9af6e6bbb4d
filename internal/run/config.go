package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// EvalConfig is a run as the store keeps it: enough to derive its figures again.
type EvalConfig struct {
	Targets  Targets         `json:"targets"`
	Datasets []study.Dataset `json:"datasets"`
	// Limit bounds the prompts of each dataset, from its start; 0 takes all.
	Limit  int    `json:"limit,omitempty"`
	Judges []Spec `json:"judges"`
	// Defenses are those that targets name.
	Defenses []Spec `json:"defenses,omitempty"`
	// AcceptModels is as in experiment.EvalConfig.
	AcceptModels []string `json:"accept_models,omitempty"`
	// Mark is the revision of the answers that servers which run weights give this run, and no
	// other counts: its name, with the time behind it once they were asked again. It is empty
	// of a run without a name, and of an older one.
	Mark string `json:"mark,omitempty"`
	// Reading is the date of the reading of its replies, empty for the first; see package reply.
	Reading string `json:"reading,omitempty"`
	// Blocks is as in experiment.Experiment.
	Blocks []string `json:"blocks,omitempty"`
	// Until makes the run end by itself; nil for a run that asks all prompts.
	Until *Until `json:"until,omitempty"`
	// Experiment is what the run was made of, by which it goes on and grows; nil of an older run.
	Experiment *experiment.Experiment `json:"experiment,omitempty"`
	// translated are the targets of an older run that were asked in translation, and
	// counting its judges that counted more classes as refusals. Both are gone. The store
	// keeps them among the others.
	translated Targets
	counting   []Spec
}

// withoutGone takes the targets and judges that are gone from the others.
func (c *EvalConfig) withoutGone() {
	shown := Targets{}
	for _, t := range c.Targets {
		if strings.HasPrefix(t.Guarded, "translate:") {
			c.translated = append(c.translated, t)
		} else {
			shown = append(shown, t)
		}
	}
	c.Targets = shown
	judges := []Spec{}
	for _, s := range c.Judges {
		if strings.Contains(s.Name, "counting:") {
			c.counting = append(c.counting, s)
		} else {
			judges = append(judges, s)
		}
	}
	c.Judges = judges
}

// whole is the config with all targets and judges that the store has.
func (c EvalConfig) whole() EvalConfig {
	c.Targets, c.Judges = slices.Concat(c.Targets, c.translated), slices.Concat(c.Judges, c.counting)
	return c
}

// Spec names a judge or a defense, with what its requests depend on.
type Spec struct {
	Name string `json:"spec"`
	// MaxTokens, Endpoints and Structured are as in judge.Options, the latter two by
	// provider; all are empty for a judge that asks no model.
	MaxTokens  int               `json:"max_tokens,omitempty"`
	Endpoints  map[string]string `json:"endpoints,omitempty"`
	Structured map[string]bool   `json:"structured,omitempty"`
	// Rubrics are the texts of a judge's rubrics; see judge.Rubrics.
	Rubrics map[string]string `json:"rubrics,omitempty"`
	// Version is the judge's when it was named; see judge.Version. It is empty of a
	// defense, and of a judge that an older program kept.
	Version string `json:"version,omitempty"`
	// Wording is as in judge.Options; 0 of a judge that an older program kept means 1.
	Wording int `json:"wording,omitempty"`
	// Revision is that of a judge's requests, made of the time at which its verdicts were asked
	// for anew; see judge.Options.
	Revision string `json:"revision,omitempty"`
}

// Same reports whether both ask the same questions of the same models.
func (s Spec) Same(other Spec) bool {
	return s.Name == other.Name && s.Wording == other.Wording && s.Revision == other.Revision && s.MaxTokens == other.MaxTokens && maps.Equal(s.Endpoints, other.Endpoints) && maps.Equal(s.Structured, other.Structured)
}

// Flags are those with which a command asks the judge at the same addresses, with the same limit.
func (s Spec) Flags() (flags []string) {
	for _, provider := range slices.Sorted(maps.Keys(s.Endpoints)) {
		if at, _, _ := strings.Cut(s.Endpoints[provider], "#"); at != "" {
			flags = append(flags, "`base-url` "+untrusted.Shell(provider+"="+at))
		}
	}
	if s.MaxTokens > 0 && s.MaxTokens != experiment.Default().JudgeMaxTokens {
		flags = append(flags, fmt.Sprintf("`set` judge_max_tokens=%d", s.MaxTokens))
	}
	return flags
}

// Addresses are those at which judges of some names ask, by provider.
func (c EvalConfig) Addresses(judges []string) map[string]string {
	all := map[string]string{}
	for _, s := range c.Judges {
		if !slices.Contains(judges, s.Name) {
			continue
		}
		for provider, endpoint := range s.Endpoints {
			if at, _, _ := strings.Cut(endpoint, "#"); at != "" {
				all[provider] = at
			}
		}
	}
	return all
}

// specOf records the models that a judge or a defense asks.
func specOf(name string, maxTokens int, models []model.Ref, clients *client.Set) Spec {
	s := Spec{Name: name, MaxTokens: maxTokens, Endpoints: map[string]string{}, Structured: map[string]bool{}}
	for _, m := range models {
		s.Endpoints[m.Provider] = m.Endpoint
		s.Structured[m.Provider] = clients.Client(m.Provider, m.Endpoint).Structured
	}
	return s
}

// SpecsOf records judges with the settings that they were made with.
func SpecsOf(judges []judge.Judge, maxTokens int, clients *client.Set) (specs []Spec) {
	for _, j := range judges {
		s := Spec{Name: j.Name()}
		if asking, ok := j.(judge.ModelJudge); ok {
			s = specOf(s.Name, maxTokens, asking.Models(), clients)
			s.Wording = judge.Wording
		}
		s.Rubrics, s.Version = judge.Rubrics(j), judge.Version(j)
		specs = append(specs, s)
	}
	return specs
}

func (s Spec) endpoint(provider string) string { return s.Endpoints[provider] }
func (s Spec) rubric(named string) ([]byte, error) {
	text, ok := s.Rubrics[named]
	if !ok {
		return nil, fmt.Errorf("the run does not hold the rubric %s of its judge %s", named, s.Name)
	}
	return []byte(text), nil
}

// Judge makes the judge.
func (s Spec) Judge() (judge.Judge, error) {
	return judge.Parse(s.Name, judge.Options{MaxTokens: s.MaxTokens, Endpoint: s.endpoint, Structured: s.structured, Rubric: s.rubric, Wording: max(1, s.Wording), Revision: s.Revision})
}

// follow has the judges ask by the latest revision that a kept run has of them: verdicts asked for
// anew are those of the judge as it is now.
func (r *Run) follow(kept []Stored) (err error) {
	for i, s := range r.Config.Judges {
		for _, other := range kept {
			for _, was := range other.Config.Judges {
				now := s
				if now.Revision = was.Revision; was.Revision > s.Revision && now.Same(was) {
					s = now
				}
			}
		}
		err = errors.Join(err, s.replace(&r.Judges[i], &r.Config.Judges[i]))
	}
	return err
}

// Revise has judges, made so, ask by the wordings and revisions that a study keeps of them. Unless
// anew is empty, all ask by the newest wording and that revision, or by a later one than the study's
// that they have already.
func Revise(judges []judge.Judge, specs, kept []Spec, anew string) (err error) {
	for i, s := range specs {
		var was Spec
		k := slices.IndexFunc(kept, func(o Spec) bool { return o.Name == s.Name })
		if k >= 0 {
			was = kept[k]
		}
		if anew == "" && k >= 0 {
			s.Wording, s.Revision = was.Wording, was.Revision
		} else if anew != "" && len(s.Endpoints) > 0 && s.Revision <= was.Revision {
			s.Revision = anew
		}
		err = errors.Join(err, s.replace(&judges[i], &specs[i]))
	}
	return err
}

// replace puts the judge of a spec in the place of one that asks otherwise.
func (s Spec) replace(j *judge.Judge, was *Spec) (err error) {
	if !s.Same(*was) {
		*was = s
		*j, err = s.Judge()
	}
	return err
}

func (s Spec) structured(provider string) bool { return s.Structured[provider] }

// open makes the run that the config describes, judged by its own judges, without its
// datasets.
func (c EvalConfig) open() (*evaluate.Run, error) {
	r := &evaluate.Run{Targets: slices.Clone(c.Targets), Limit: c.Limit, Accepted: c.AcceptModels, Recorded: true, Reading: c.reading()}
	for i, t := range r.Targets {
		for _, s := range c.Defenses {
			if s.Name != t.Guarded {
				continue
			}
			var err error
			r.Targets[i].Defense, err = defense.Parse(s.Name, judge.Options{MaxTokens: s.MaxTokens, Endpoint: s.endpoint, Structured: s.structured})
			if err != nil {
				return nil, err
			}
		}
	}
	if err := c.Until.open(r); err != nil {
		return nil, err
	}
	for _, s := range c.Judges {
		j, err := s.Judge()
		if err != nil {
			return nil, err
		}
		r.Judges = append(r.Judges, j)
	}
	return r, nil
}

// reading is how replies are read.
func (c EvalConfig) reading() reply.Reading {
	return reply.Reading{Date: cmp.Or(c.Reading, reply.First), Blocks: c.Blocks}
}

// Reread has the replies of the run read by the present reading.
func (r *Run) Reread() error {
	r.Config.Reading = reply.Present
	r.Reading = r.Config.reading()
	return r.resolve()
}

// asked is the configuration without the judges, how replies are read, and the names that are accepted: judging a
// run again is no other run. Nor is one that goes on by the interval that it was asked by.
func (c EvalConfig) asked() EvalConfig {
	c.Judges, c.AcceptModels, c.Mark, c.Experiment, c.Reading, c.Blocks = nil, nil, "", nil, "", nil
	if c.Until != nil {
		until := *c.Until
		until.Interval, c.Until = "", &until
	}
	return c
}
