package fill

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/orbench/orbench/model"
)

// Stats counts what Live has done so far.
type Stats struct {
	// Requests counts attempts sent; Answered the responses among them that
	// are remembered, of which Blocked were withheld by the provider.
	Requests, Answered, Blocked int
	// Failed counts calls given up, Retries the attempts after the first, Rejected those
	// that the provider turned away as too many, which are neither.
	Failed, Retries, Rejected int
	// Retried is why the last of the Retries was needed.
	Retried string `json:",omitempty"`
	// Reasons are why calls failed, the most frequent first.
	Reasons []Reason
	// UnderWay counts the attempts that are waited for now, or whose response is being
	// remembered.
	UnderWay int
	// Present counts the requests known beforehand, and those of Ask, that were
	// remembered before. What is found to be lacking is not remembered; if it is by the
	// time that it would be sent, this process has had it sent.
	Present int
	// Elsewhere counts the calls that another process has made while this one ran, and
	// Waiting those that it is making now and this one waits for.
	Elsewhere, Waiting int
	// Batched counts the calls that are out in a batch, and were not made for that.
	Batched int
	// Width is the present bound of concurrent calls over all lanes.
	Width int
	Usage model.Usage
	// USD is the price of the new responses whose model has one.
	USD float64
	// Charged counts the failed attempts that the provider may have charged for, and
	// FailedUSD is the most that those of models with a price can have cost, FailedTokens
	// the most that all of them can have used.
	Charged      int
	FailedUSD    float64
	FailedTokens int
	// Unpriced lists "provider/model" of responses, and of failed attempts that may have
	// been charged, without a price, sorted.
	Unpriced []string
	// Held are the models that are waited for, by their names.
	Held []Held
	// Limited has the words of each provider that limited the account, by its name. It is
	// asked no more.
	Limited map[string]string `json:",omitempty"`
}

// Found counts the responses that are there now.
func (s *Stats) Found() int { return s.Answered + s.Present + s.Elsewhere }

// Add adds the counts of another fill, and those of its models that are Unpriced. Held stays
// as it is.
func (s *Stats) Add(o Stats) {
	s.Requests += o.Requests
	s.Answered += o.Answered
	s.Blocked += o.Blocked
	s.Failed += o.Failed
	s.Retries, s.Retried = s.Retries+o.Retries, cmp.Or(o.Retried, s.Retried)
	s.Rejected += o.Rejected
	for _, r := range o.Reasons {
		s.Reasons = counted(slices.Clone(s.Reasons), r)
	}
	s.UnderWay += o.UnderWay
	s.Present += o.Present
	s.Elsewhere += o.Elsewhere
	s.Waiting += o.Waiting
	s.Batched += o.Batched
	s.Width += o.Width
	s.Usage.Add(o.Usage)
	s.USD += o.USD
	s.Charged += o.Charged
	s.FailedUSD += o.FailedUSD
	s.FailedTokens += o.FailedTokens
	s.Unpriced = slices.Concat(s.Unpriced, o.Unpriced)
	slices.Sort(s.Unpriced)
	s.Unpriced = slices.Compact(s.Unpriced)
	if len(o.Limited) > 0 {
		all := maps.Clone(o.Limited)
		maps.Copy(all, s.Limited)
		s.Limited = all
	}
}

// Held is a model that rejects calls as too many, or says that it would.
type Held struct {
	Model model.Ref
	// It has rejected all calls For so long, and is asked again In so long.
	For, In time.Duration
}

// Missing counts the calls that are still to be made: those that failed, and those that a
// batch makes.
func (s Stats) Missing() int { return s.Failed + s.Batched }
