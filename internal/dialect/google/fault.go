package google

import (
	"cmp"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// fault is what the API says went wrong, with details (google.rpc.ErrorInfo and
// RetryInfo, https://cloud.google.com/apis/design/errors).
type fault struct {
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []detail `json:"details"`
}

type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
}

// faultOf reads the body of a reply with a status other than 2xx: an object, or a
// gateway's list of one, with an error; of anything else the message is the body. A
// field of an unexpected type is left out.
func faultOf(body []byte) fault {
	type wrapped struct {
		Error fault `json:"error"`
	}
	var one wrapped
	var list []wrapped
	_ = json.Unmarshal(body, &one)
	if _ = json.Unmarshal(body, &list); len(list) > 0 {
		one = list[0]
	}
	one.Error.Message = cmp.Or(one.Error.Message, string(body))
	return one.Error
}

// kind refines what the status says, and finds the wait that is asked for.
func (f fault) kind(kind model.Kind) (model.Kind, time.Duration) {
	var wait time.Duration
	if f.Status == "FAILED_PRECONDITION" && kind == model.Invalid {
		kind = model.Denied // no billing, or not offered in the user's country
	}
	if wire.Limited(f.Message) {
		kind = model.Limited
	}
	for _, d := range f.Details {
		if wire.Limited("", d.Reason) {
			kind = model.Limited
		}
		if d.Reason == "API_KEY_INVALID" {
			kind = model.Denied // comes with status 400
		}
		if asked, err := time.ParseDuration(d.RetryDelay); err == nil {
			wait = min(max(wait, asked, 0), 24*time.Hour)
		}
	}
	return kind, wait
}
