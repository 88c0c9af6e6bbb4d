package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Description is what a server says of a model, as "name=value" parted by "; ", in the order in
// which it is asked. Values are cleaned, and long ones end in their hash.
type Description string

// The names of what descriptions have.
const (
	// Digest is Ollama's of the model's files.
	Digest = "digest"
	// Fingerprint is the system_fingerprint of a reply.
	Fingerprint = "system_fingerprint"
	// modelName is the model's in a reply.
	modelName = "model"
)

const (
	// patience bounds each question to a server, and mostReply the bytes of what it says.
	patience  = 2 * time.Second
	mostReply = 4 << 20
	// mostValue is how many bytes of a value are kept.
	mostValue = 160
)

// Said is what a server said of a model.
type Said struct {
	Description
	// Reached is false where it gave no reply at all, or may not be asked.
	Reached bool
	// Listed are the models that it has, where the model is none of them.
	Listed []string
}

// Describe asks the server at an endpoint what it says of a model.
func Describe(ctx context.Context, at provider.Endpoint, model string) (said Said) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	root := strings.TrimSuffix(at.BaseURL, "/v1")
	var models struct {
		Data []struct {
			ID     string `json:"id"`
			Root   string `json:"root"`
			Parent string `json:"parent"`
			Owner  string `json:"owned_by"`
			Meta   struct {
				Params json.Number `json:"n_params"`
				Size   json.Number `json:"size"`
				Type   string      `json:"ftype"`
			} `json:"meta"`
		} `json:"data"`
	}
	var props struct {
		Path     string `json:"model_path"`
		Build    string `json:"build_info"`
		Template string `json:"chat_template"`
	}
	var tags struct {
		Models []struct{ Name, Model, Digest string } `json:"models"`
	}
	var asking sync.WaitGroup
	questions := []struct {
		address string
		into    any
	}{{at.BaseURL + "/models", &models}, {root + "/props", &props}, {root + "/api/tags", &tags}}
	answered := make([]bool, len(questions))
	for i, q := range questions {
		asking.Go(func() { answered[i] = ask(ctx, at, q.address, q.into) })
	}
	asking.Wait()
	var d sayings
	for _, m := range models.Data {
		if m.ID == model || m.ID == model+":latest" || m.Owner == "llamacpp" {
			said.Listed = nil
			break
		}
		said.Listed = append(said.Listed, m.ID)
	}
	for _, m := range models.Data {
		// llama.cpp has one model, and answers for any name.
		if m.ID == model || len(models.Data) == 1 {
			d.add("id", m.ID)
			d.add("owned_by", m.Owner)
			d.add("root", m.Root)
			d.add("parent", m.Parent)
			d.add("n_params", m.Meta.Params.String())
			d.add("size", m.Meta.Size.String())
			d.add("ftype", m.Meta.Type)
			break
		}
	}
	d.add("model_path", props.Path)
	d.add("build_info", props.Build)
	if props.Template != "" {
		d.add("chat_template", "sha256 "+short(props.Template))
	}
	for _, m := range tags.Models {
		if m.Name == model || m.Model == model || m.Name == model+":latest" {
			d.add(Digest, m.Digest)
			break
		}
	}
	said.Description, said.Reached = Description(strings.Join(d, "; ")), slices.Contains(answered, true)
	return said
}

// ask reads what a path says into a value, and reports whether there was any reply. One that
// is not what was asked for leaves the value as it is, or as far as it could be read.
func ask(ctx context.Context, at provider.Endpoint, address string, into any) (reached bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false
	}
	switch {
	case at.Key == "":
	case at.Provider.AuthHeader != "":
		request.Header.Set(at.Provider.AuthHeader, at.Key)
	default:
		request.Header.Set("Authorization", "Bearer "+at.Key)
	}
	client := wire.Client(nil)
	defer client.CloseIdleConnections()
	reply, err := client.Do(request)
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, mostReply))
	if err == nil && reply.StatusCode == http.StatusOK && wire.CheckValues(body) == nil {
		_ = json.Unmarshal(body, into) // what is of another kind says nothing
	}
	return true
}

// sayings is a description in the making.
type sayings []string

func (d *sayings) add(name, value string) {
	value = strings.TrimSpace(strings.ReplaceAll(untrusted.Terminal(untrusted.OneLine(value)), ";", ","))
	if value == "" {
		return
	}
	if len(value) > mostValue {
		value = untrusted.Ellipsis(value, mostValue) + " " + short(value)
	}
	*d = append(*d, name+"="+value)
}

// short is the start of a text's hash.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// With is the description with what a reply says by a name, empty for nothing.
func (d Description) With(name, value string) Description {
	var one sayings
	if d != "" {
		one = append(one, string(d))
	}
	one.add(name, value)
	return Description(strings.Join(one, "; "))
}

// Named is the description with the name of the model in a reply, but for one that was withheld:
// what withholds replies may give a name of its own.
func (d Description) Named(r model.Response) Description {
	if r.Finish == model.Blocked {
		return d
	}
	return d.With(modelName, r.Model)
}

// Value is what the description has by a name, empty for nothing.
func (d Description) Value(name string) string {
	for part := range strings.SplitSeq(string(d), "; ") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			return value
		}
	}
	return ""
}

// Without is the description without what it has by a name.
func (d Description) Without(name string) Description {
	parts := strings.Split(string(d), "; ")
	return Description(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(part, name+"=") }), "; "))
}

// servers are who servers that run weights say owns a model, at /v1/models: vLLM
// (docs.vllm.ai), SGLang (docs.sglang.ai), llama.cpp (its tools/server/README.md), Ollama
// (docs.ollama.com) and LM Studio (lmstudio.ai/docs), read in November 2026.
var servers = []string{"vllm", "sglang", "llamacpp", "library", "organization_owner"}

// runsWeights reports whether the server says what only one that runs weights does: their files,
// their size, or its own name.
func (d Description) runsWeights() bool {
	has := func(name string) bool { return d.Value(name) != "" }
	return slices.ContainsFunc([]string{"root", "n_params", "size", "ftype", "model_path", Digest}, has) || slices.Contains(servers, d.Value("owned_by"))
}

// Difference says in what another description of the server differs, of what both of them say;
// empty for nothing.
func (d Description) Difference(now Description) string { return d.differs(now, "%s was %s and is %s") }

// Differs is Difference where it is not known which is the later one.
func (d Description) Differs(o Description) string { return d.differs(o, "%s is %s and %s") }

func (d Description) differs(o Description, as string) string {
	var changes []string
	for part := range strings.SplitSeq(string(d), "; ") {
		name, here, _ := strings.Cut(part, "=")
		if there := o.Value(name); here != "" && there != "" && there != here {
			changes = append(changes, fmt.Sprintf(as, name, here, there))
		}
	}
	return strings.Join(changes, ", ")
}
