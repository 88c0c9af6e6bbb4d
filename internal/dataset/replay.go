package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// ReplayPrefix starts the name of a target whose answers come from a file, and that of a
// dataset of the prompts in such a file.
const ReplayPrefix = "replay:"

// MaxValues is the most models of a file, and the most answers of one to a prompt. A column
// with more, such as one of row numbers, was named by mistake.
const MaxValues = 1000

// Replay has the recorded answers of one model of a file; all that it has if no column names
// models. The rows of a prompt are its samples, in their order. It is safe for concurrent
// use.
type Replay struct {
	// File is the path. Model is the answers' value in the model column, empty if there
	// is no such column.
	File, Model string
	// SHA256 is the hash of its prompts and answers in hex, in order; see hasher.
	SHA256 string
	// Count is the number of answers. Samples is the number of answers to the prompt with
	// the most.
	Count, Samples int

	// answers are where the answers to a prompt begin in the spool, by idBits.
	answers map[uint64][]int64
	// whole has the answers to conversations with system messages, which answers lacks.
	whole map[uint64][]int64
	spool *spool
	// sum is of prompts and answers, more of what else is known of these.
	sum, more *hasher
}

// Recording is a file of recorded answers: CSV, TSV, JSON Lines, JSON or Parquet, by its
// ending, or another tool's log, by its content; a folder of logs is read as one file. It was
// read once in full, is valid, and is held in a temporary file.
type Recording struct {
	// Prompts are those of its rows, each once.
	Prompts *Dataset
	// Replays has one for each value of the model column, in the order of their first rows.
	Replays []*Replay
	// Notes say what a reader must know of how it was read, in lines.
	Notes []string
	// Said counts the values of each column of Options.Said.
	Said map[string]map[string]int

	columns recordedColumns
	// joined are the prompts of another file, by the cell of the column join; nil for none.
	joined map[string]string
	// apart is true if an answer has a prompt of its own.
	apart bool
	// held are where the prompts begin in the spool. same counts the answers that are their
	// prompt.
	held  []int64
	spool *spool
	same  int
}

// OpenRecording opens a file of recorded answers, or only those of the model named after the
// path: FILE#MODEL. An empty answer is valid; a missing one (null) and an empty prompt in a
// prompt column are faults. In a file without prompts each answer has one of its own. The
// errors are those of Open.
func OpenRecording(ctx context.Context, path string, opts Options) (*Recording, error) {
	set, err := Open(ctx, ReplayPrefix+path, opts)
	if err != nil {
		return nil, err
	}
	r := set.source.recorded
	file, wanted, one := cutModel(path)
	if 2*r.same > r.count() && r.count() > 1 {
		return nil, &orbench.InputError{File: file, Problem: fmt.Sprintf("in %d of %d rows the answer is the prompt", r.same, r.count()), Hint: "name the column of the answers with `response-column`"}
	}
	r.Prompts = set
	if r.apart {
		r.Notes = append(r.Notes, file+": no column of prompts is known, so each answer counts as one to a prompt of its own; `prompt-column` names it, or `prompts_file` a file that has them by an id")
	}
	var answered []int
	for _, of := range r.Replays {
		of.SHA256 = of.sum.sum()
		answered = append(answered, len(of.answers)+len(of.whole))
	}
	if least := slices.Min(answered); least < set.Size(0) {
		r.Notes = append(r.Notes, fmt.Sprintf("%s has %d prompts, of which each of its %d models answers at least %d; the others of a model count as unanswered", file, set.Size(0), len(answered), least))
	}
	if !one {
		return r, nil
	}
	var names []string
	for _, of := range r.Replays {
		names = append(names, of.Model)
	}
	i := slices.Index(names, wanted)
	if i < 0 {
		return nil, &orbench.InputError{
			File: file, Problem: fmt.Sprintf("no answers of the model %q", wanted), Hint: "those in the column model are of " + rows.List(names),
		}
	}
	r.Replays = r.Replays[i : i+1]
	return r, nil
}

func (r *Recording) count() (n int) {
	for _, of := range r.Replays {
		n += of.Count
	}
	return n
}

// cutModel divides FILE#MODEL. A file name may contain a #, but not after its ending, or
// where the name up to it is a file's own.
func cutModel(path string) (file, wanted string, one bool) {
	for i := range path {
		if path[i] == '#' && (rows.Readable(path[:i]) || exists(path[:i])) {
			return path[:i], path[i+1:], true
		}
	}
	return path, "", false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// recordedColumns names the columns of recorded answers, as spelled in the file. An empty name
// means that there is no such column.
type recordedColumns struct {
	prompt, response, user, simulated, join string
	// said are columns of verdicts, and given their names as the user gives them.
	said, given []string
}

// find finds the columns. One that the user names for one purpose is not found for another
// by its usual name.
func (c *recordedColumns) find(file string, have []string, at func(string) bool, opts Options) (err error) {
	*c = recordedColumns{}
	if opts.Prompt != "" {
		if c.prompt, err = findPrompt(file, have, at, opts.Prompt); err != nil {
			return err
		}
	}
	rest := have
	if opts.Response == "" {
		said := strings.Split(strings.ToLower(opts.Said), "\n")
		rest = slices.DeleteFunc(rows.Without(have, c.prompt), func(name string) bool { return slices.Contains(said, strings.ToLower(strings.TrimSpace(name))) })
	}
	if c.response, err = findColumn(file, rest, at, opts.Response, rows.AnswerNames(), "response-column"); err != nil {
		if at == nil || !strings.ContainsAny(opts.Response, ".[") {
			return err
		}
		c.response = opts.Response // a later row may have it
	}
	if i := slices.IndexFunc(conversations, func(name string) bool { return at != nil && at(name+"[-1]") }); i >= 0 && c.response+opts.Prompts+opts.Prompt == "" {
		c.prompt = conversations[i]
	}
	if only := slices.DeleteFunc(slices.Clone(rest), func(name string) bool { return !rows.OfModel(name) }); c.response == "" && (c.prompt == "" || opts.Prompt != "") && len(only) == 1 {
		c.response = only[0]
	}
	if opts.Prompts != "" {
		if c.join, err = findColumn(file, have, at, opts.Join, joinNames, "join"); err == nil && c.join == "" {
			err = noColumn(file, have, "prompt_id", "name the column that both files have with `join`")
		}
		if err != nil {
			return err
		}
	} else if opts.Prompt == "" && c.prompt == "" {
		if c.prompt, err = findPrompt(file, rows.Without(have, c.response), at, ""); err != nil {
			return err
		}
	}
	if c.prompt != "" && c.prompt == c.response {
		return &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("the column %s is named for the prompts and for the answers", untrusted.Quote(c.response)), Hint: "name another with `response-column`"}
	}
	if c.prompt == "" && slices.Contains(promptNames, strings.ToLower(c.response)) && slices.ContainsFunc(have, rows.LikeAnswer) {
		return &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("the column %s has the prompts", untrusted.Quote(c.response)), Hint: "name the column of the answers with `response-column`"}
	}
	for name := range strings.FieldsFuncSeq(opts.Said, func(r rune) bool { return r == '\n' }) {
		found, err := findColumn(file, have, at, name, nil, "judge")
		if err != nil {
			return err
		}
		c.said, c.given = append(c.said, found), append(c.given, name)
	}
	if c.simulated, err = findColumn(file, have, at, "", []string{"simulated"}, ""); err == nil {
		c.user, err = findColumn(file, have, at, opts.User, rows.UserNames(), "user_column")
	}
	return err
}

// conversations are columns of conversations that may end with the answer.
var conversations = []string{rows.MessagesColumn, "conversations", "conversation"}

// joinNames are the usual names of the column by which answers are joined to prompts.
var joinNames = []string{"prompt_id", "id"}

// join reads the prompts of another file by their ids.
func (r *Recording) join(opts Options) error {
	r.joined = map[string]string{}
	in, err := rows.Open(opts.Prompts, func(file string, have []string, at func(string) bool) (rows.Layout, error) {
		prompt, err := findPrompt(file, have, at, opts.Prompt)
		if err == nil && prompt == "" {
			err = noColumn(file, have, "prompt", "name it with `prompt-column`")
		}
		id, missing := findColumn(file, have, at, opts.Join, joinNames, "join")
		return rows.Layout{Prompt: prompt, PassBlank: true, Fields: []rows.Field{{Name: id, Scalar: true, Required: true}}}, cmp.Or(err, missing)
	})
	if err != nil {
		return err
	}
	defer in.Close()
	for row, err := range in.All {
		if err != nil {
			return err
		}
		if r.joined[row.Cells[0]] = strings.Clone(row.Text); strings.TrimSpace(row.Text) == "" {
			return row.Fault(in.Name, "empty prompt", "fill it in or delete the row")
		}
	}
	return nil
}

// asked is what a row answers: what is in it, the prompt that it is joined to, or one of its own.
func (r *Recording) asked(file string, row rows.Row, join string) ([]orbench.Message, error) {
	if e := row.Exchange; r.joined == nil && (r.columns.prompt != "" || e.Prompt != "") {
		return e.Asked, nil
	}
	text, ok := r.joined[join]
	switch {
	case r.joined == nil:
		text, r.apart = fmt.Sprintf("(no prompt: answer %d)", row.Number), true
	case !ok:
		return nil, row.Fault(file, fmt.Sprintf("no prompt has the %s %.60q", r.columns.join, join), "name the file that has it, or another column with `join`")
	}
	return []orbench.Message{{Role: orbench.User, Content: text}}, nil
}

// exchange are the columns of what was asked and answered, as far as they are known.
func (c recordedColumns) exchange(opts Options) *rows.ExchangeColumns {
	e := &rows.ExchangeColumns{Recorded: true, Joined: c.join != ""}
	if c.prompt != "" {
		e.Prompt = []string{c.prompt, rows.MessagesColumn}
	}
	if c.response != "" {
		e.Reply = []string{c.response}
	}
	if opts.User != "" {
		e.User = c.user
	}
	return e
}

// fields are the columns beside that of the prompts, in the order in which add reads them.
func (c recordedColumns) fields() []rows.Field {
	fields := []rows.Field{
		{Name: c.simulated, Scalar: true},
		{Name: c.join, Scalar: true, Required: c.join != ""},
	}
	for _, name := range c.said {
		fields = append(fields, rows.Field{Name: name, Scalar: true, Whole: true})
	}
	return fields
}

// add takes in the answer of a row, whose cells are those of fields, to a prompt.
func (r *Recording) add(file string, row rows.Row, cells []string, p orbench.Prompt) error {
	e := row.Exchange
	a := orbench.Recorded{
		Text: e.Reply, Line: row.Line, User: UserHash(e.User),
		Finish: string(e.Finish), Input: e.Usage.Input, Output: e.Usage.Output,
	}
	if problem, hint := AnswerFault(a.Text, r.columns.response); problem != "" {
		return row.Fault(file, problem, hint)
	}
	if e.Block != nil {
		a.Block, a.Detail = string(e.Block.Kind), e.Block.Detail
	}
	for i, name := range r.columns.given {
		said, _ := reply.Unwrap(strings.TrimSpace(cells[2+i]))
		said = strings.Clone(strings.TrimSpace(said))
		if problem, hint := checkName(said, "verdict", r.columns.said[i], "judge"); problem != "" {
			return row.Fault(file, problem, hint)
		}
		if i == 0 {
			a.Said = map[string]string{}
		}
		a.Said[name] = said
		if r.Said[name] == nil {
			r.Said[name] = map[string]int{}
		}
		if r.Said[name][said]++; len(r.Said[name]) > MaxValues {
			return row.Fault(file, fmt.Sprintf("column %q has more than %d different values", r.columns.said[i], MaxValues), "name another with `judge`")
		}
	}
	if at, ok := rows.Time(e.Time); ok {
		a.Time = at.Unix()
	}
	name, marked := strings.CutSuffix(strings.TrimSpace(e.Model), model.SimulatedMark)
	name, a.Simulated = strings.TrimSpace(name), marked || strings.TrimSpace(cells[0]) == "true"
	i := slices.IndexFunc(r.Replays, func(of *Replay) bool { return of.Model == name })
	if i < 0 {
		if problem, hint := checkName(name, "model", rows.ModelColumn, "response-column"); problem != "" {
			return row.Fault(file, problem, hint)
		}
		i, name = len(r.Replays), strings.Clone(name)
		r.Replays = append(r.Replays, &Replay{
			File: file, Model: name, answers: map[uint64][]int64{}, whole: map[uint64][]int64{}, spool: r.spool,
			sum: newHasher(recordingHashVersion), more: newHasher(recordingHashVersion),
		})
	}
	if err := r.Replays[i].add(p, a); err != nil {
		return err
	}
	if len(r.Replays) > MaxValues || r.Replays[i].Samples > MaxValues {
		return row.Fault(file, fmt.Sprintf("more than %d models, or answers of one model to one prompt", MaxValues),
			"each value of the column model is a target, and each row of a prompt is a sample: rename the column, or leave rows out")
	}
	if p.Text() == a.Text {
		r.same++
	}
	return nil
}

// hold keeps a prompt.
func (r *Recording) hold(p orbench.Prompt) error {
	texts := []string{string(p.ID), string(p.Category), string(p.Label), p.Cluster, p.Pair}
	for _, m := range p.Messages {
		texts = append(texts, string(m.Role), m.Content)
	}
	at, err := r.spool.put(texts...)
	r.held = append(r.held, at)
	return err
}

// prompt gives the prompt at a place, from 0.
func (r *Recording) prompt(i int) (p orbench.Prompt, err error) {
	texts, err := r.spool.get(r.held[i])
	if err != nil {
		return p, err
	}
	p = orbench.Prompt{ID: orbench.PromptID(texts[0]), Category: orbench.Category(texts[1]), Label: orbench.Label(texts[2]), Cluster: texts[3], Pair: texts[4]}
	for said := range slices.Chunk(texts[5:], 2) {
		p.Messages = append(p.Messages, orbench.Message{Role: orbench.Role(said[0]), Content: said[1]})
	}
	return p, nil
}

// AnswerFault says what is wrong with the text of an answer, and what to do; "" for nothing.
func AnswerFault(text, column string) (problem, hint string) {
	if len(text) > MaxCell {
		return fmt.Sprintf("the answer has %d bytes; the most is %d", len(text), MaxCell), "cut or delete it, or look for a quotation mark that is left open"
	}
	return checkText(text, column)
}

// PromptFault is AnswerFault for what was asked.
func PromptFault(messages []orbench.Message, column string) (problem, hint string) {
	if problem, hint = checkMessages(messages, column); problem == "" {
		problem, hint = checkAsked(messages)
	}
	return problem, hint
}

// recordingHashVersion is the first input of the hash. It changes if the form changes.
const recordingHashVersion = "orbench recording 1\n"

func (r *Replay) add(p orbench.Prompt, a orbench.Recorded) error {
	r.Count++
	r.sum.addAnswer(p.Text(), a)
	r.more.h.Write(fmt.Appendf(nil, "%d %q %d %t %q\n", a.Line, a.User, a.Time, a.Simulated, a.Said))
	text, about := a.Text, []byte(nil)
	a.Text = ""
	if !reflect.DeepEqual(a, orbench.Recorded{Line: a.Line}) {
		var err error
		if about, err = json.Marshal(a); err != nil {
			return err
		}
	}
	at, err := r.spool.put(text, strconv.Itoa(a.Line), string(about))
	id := idBits(conversationID(p))
	r.answers[id] = append(r.answers[id], at)
	r.Samples = max(r.Samples, len(r.answers[id]))
	if own := idBits(p.ID); id != own {
		r.whole[own] = append(r.whole[own], at)
	}
	return err
}

// endpoint stands before the hash of the answers in the address of a replay.
const endpoint = "sha256:"

// byOf is orbench.Recorded.By of the answers at an address.
func byOf(at string) string {
	at = strings.TrimPrefix(at, endpoint)
	return at[:min(16, len(at))]
}

// conversationID is the ID of a conversation without its system messages, since files of
// recorded answers mostly omit them.
func conversationID(p orbench.Prompt) orbench.PromptID {
	if p.Messages[0].Role != orbench.System {
		return p.ID
	}
	return orbench.PromptIDOf(slices.DeleteFunc(slices.Clone(p.Messages), func(m orbench.Message) bool { return m.Role == orbench.System }))
}

// Ref is the model in the form that requests use.
func (r *Replay) Ref() model.Ref {
	return model.Ref{Provider: model.Replay, Endpoint: endpoint + r.SHA256, Model: r.name()}
}

// name is the path and, if there is one, the name of the model whose answers it gives.
func (r *Replay) name() string {
	if r.Model == "" {
		return r.File
	}
	return r.File + "#" + r.Model
}

// to gives where the recorded answers to a prompt begin. If there are none, it gives those to
// the conversation without its system messages, or else to the last user message alone, since
// the file may have no other part of a conversation.
func (r *Replay) to(p orbench.Prompt) []int64 {
	if found, ok := r.whole[idBits(p.ID)]; ok {
		return found
	}
	if found, ok := r.answers[idBits(conversationID(p))]; ok || len(p.Messages) == 1 {
		return found
	}
	return r.answers[idBits(orbench.NewPrompt(p.Text(), "", "").ID)]
}

// attach has a prompt carry the recorded answers to it.
func (r *Replay) attach(p *orbench.Prompt) error {
	for _, at := range r.to(*p) {
		var a orbench.Recorded
		texts, err := r.spool.get(at)
		if err == nil && texts[2] != "" {
			err = json.Unmarshal([]byte(texts[2]), &a)
		}
		if err != nil {
			return err
		}
		a.Line, _ = strconv.Atoi(texts[1])
		a.By, a.Text = byOf(r.SHA256), texts[0]
		p.Answers = append(p.Answers, a)
	}
	return nil
}

// Attach has the prompts of the dataset carry the answers of replays.
func (d *Dataset) Attach(replays []*Replay) {
	d.replays = replays
	h := newHasher(recordingHashVersion)
	for _, r := range replays {
		h.h.Write([]byte(r.SHA256 + r.more.sum()))
	}
	d.Answered = h.sum()
}

// answered streams prompts with the answers of the replays.
func (d *Dataset) answered(prompts iter.Seq2[orbench.Prompt, error]) iter.Seq2[orbench.Prompt, error] {
	if len(d.replays) == 0 {
		return prompts
	}
	return func(yield func(orbench.Prompt, error) bool) {
		for p, err := range prompts {
			p.Answers = nil
			for _, r := range d.replays {
				if err == nil {
					err = r.attach(&p)
				}
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// ReplayTo is the answer of a replay with an address to a prompt that carries its answers: a
// sample, from 0. One whose end is not known counts as one that ended by itself, and has no
// Usage, by which it is told from one that is known to have ended so.
func ReplayTo(p orbench.Prompt, at string, sample int) (response model.Response, ok bool) {
	by := byOf(at)
	for _, a := range p.Answers {
		if a.By != by {
			continue
		}
		if sample--; sample >= 0 {
			continue
		}
		return ResponseOf(a), true
	}
	return response, false
}

// ResponseOf is a recorded answer as its model gave it, without the thinking that the first
// reading knows.
func ResponseOf(a orbench.Recorded) (response model.Response) {
	response.Text, response.Thinking = reply.Kept(a.Text)
	response.Finish = model.Finish(cmp.Or(a.Finish, string(model.Stop)))
	if a.Finish != "" {
		response.Usage = model.Usage{Input: a.Input, Output: a.Output}
	}
	response.Said = a.Said
	if a.Block != "" {
		response.Block = &model.Block{Kind: model.BlockKind(a.Block), Detail: a.Detail}
	}
	if a.Simulated {
		response.Model = model.Replay + " " + model.SimulatedMark
	}
	return response
}

// Repeats says in one line how many rows answer the same prompt. It is empty if none do.
func (r *Replay) Repeats() string {
	if r.Samples < 2 {
		return ""
	}
	note := fmt.Sprintf("%s: %d rows answer %d prompts, and count as samples of them, up to %d each", r.name(), r.Count, len(r.answers), r.Samples)
	if r.Count < r.Samples*len(r.answers) {
		note += "; the samples that a prompt lacks count as unanswered"
	}
	return note
}

// Gap says in one line, before anything is asked, how many prompts of a dataset the file
// does not answer, and names the first. It is empty if the file answers all. Only the
// first limit prompts count; 0 means all. A file that answers less than a tenth is an
// *orbench.InputError.
func (r *Replay) Gap(set *Dataset, limit int) (string, error) {
	missing, first := 0, orbench.Prompt{}
	for p, err := range set.First(limit) {
		if err != nil {
			return "", err
		}
		if len(r.to(p)) > 0 {
			continue
		}
		if missing++; missing == 1 {
			first = p
		}
	}
	if missing == 0 {
		return "", nil
	}
	gap := fmt.Sprintf("has no answer to %d of the %d prompts of %s, the first of them %s (%.60q)", missing, set.Size(limit), set.Name, first.ID, first.Text())
	if 10*missing < 9*set.Size(limit) {
		return r.name() + ": " + gap + "; these prompts count as unanswered", nil
	}
	return "", &orbench.InputError{File: r.name(), Problem: gap, Hint: "evaluate a dataset that the file answers, or name its column of prompts with `prompt-column`"}
}

// SaysWho gives the name of the column in which a file of recorded answers says who asked,
// empty for none. The errors are those of OpenRecording.
func SaysWho(path string, opts Options) (column string, err error) {
	src, err := resolve(ReplayPrefix+path, opts)
	if err != nil {
		return "", err
	}
	in, err := src.open()
	if err != nil {
		return "", err
	}
	return src.recorded.columns.user, in.Close()
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
