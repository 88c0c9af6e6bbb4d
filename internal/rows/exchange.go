package rows

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Exchange is a message of a user in the log of a product, with the reply to it.
type Exchange struct {
	// Prompt is the user's last message. Reply is the text that came back; it may be empty.
	Prompt, Reply string
	// Context is what was said before Prompt, with the system prompt.
	Context []orbench.Message
	// Finish and Block are as in model.Response; Finish is empty where the log does not say.
	Finish model.Finish
	Block  *model.Block
	// Lacks says why the row is no exchange of texts, such as LacksTool; empty if it is one. A
	// guard that stopped it is another reason for which it may have no reply.
	Lacks string
	// User identifies the user or, without one, the session. The others are as in the log.
	User, Time, Model, Template string
	// Offered is true if the request offers tools.
	Offered bool
	// Steps counts the messages with tool calls between Prompt and Reply. Called is true if
	// the last message calls a tool, so that Reply is no end. Failed is true if the last
	// result of a tool is an error.
	Steps          int
	Called, Failed bool
	// Before and After are what a guard said of the message and of the reply.
	Before, After string
	// Score is what the guard gave the message; empty for none.
	Score string
	// Name is the name of a person in the row; empty for none.
	Name string
	// Usage are the tokens, where another tool's log has them.
	Usage model.Usage
	// Asked are Context and Prompt, with what an answer is to begin with; only for a recorded
	// answer. unsent names what else was asked, and foreign is true for a reply of unknown form.
	Asked   []orbench.Message
	unsent  string
	foreign bool
}

// The reasons for which a row of a log is no exchange of texts.
const (
	LacksBoth   = "no message and no reply"
	LacksPrompt = "no message of a user"
	LacksRole   = "roles that are not known; say whose they are with the setting roles, such as guest=user,helper=assistant"
	LacksTool   = "a tool call instead of a reply"
	LacksAnswer = "an error instead of a reply"
	LacksReply  = "no answer in the reply"
	LacksText   = "a message or reply that is not text"
)

// ExchangeColumns names the columns of a log. Paths such as metadata.tenant and
// messages[-1].content name nested values. Of several names the first counts that has a value
// in the row. No name means that the column is found by its usual names.
type ExchangeColumns struct {
	Prompt, Reply                                                  []string
	User, Time, Model, Template, Before, After, Score, Name, Error string
	// Roles say whose the words of a role of one's own are: user, assistant or system.
	Roles map[string]string
	// Recorded is true for recorded answers. A text of theirs that is JSON may be what was said.
	// Where the columns of Prompt and Reply are known, only the first of the usual names counts
	// for who, when and how it ended, and every row must have a reply. Joined is true if what was
	// asked is not in the file.
	Recorded, Joined bool
}

// The parts of an exchange, in the order of partNames.
const (
	partPrompt = iota
	partReply
	partUser
	partTime
	partModel
	partTemplate
	partBefore
	partAfter
	partScore
	partName
	partError
	partFinish
	partGuards
	partSystem
	// Of a log in which each row is a message, or a part of one.
	partRole
	partConversation
	partMessageID
	partChunk
	parts
)

// partNames are the usual names of each part, the surer first. Those with dots are where
// the products named in docs/logs.md put it. A user comes before a session. A trace is
// neither: it is often a single call.
var partNames = [parts][]string{
	partPrompt: {
		"gen_ai.input.messages", "attributes.gen_ai.input.messages", "request", "request_body", "full_request", "body", "messages", "contents", "prompt", "input", "user_message", "user_prompt", "user prompt", "prompt_text", "behavior",
		"question", "query", "message", "instruction", "text", "inputs", "user_input", "conversation", "conversations", "turns", "dialogue", "transcript", "gen_ai.prompt", "attributes.gen_ai.prompt",
		"llm.input_messages", "attributes.llm.input_messages", "input.value", "attributes.input.value",
		"ai.prompt.messages", "ai.prompt", // https://ai-sdk.dev/docs/ai-sdk-core/telemetry
		"$ai_input",                // https://posthog.com/docs/llm-analytics/installation/manual-capture
		"chat_messages", "mapping", // what Claude and ChatGPT export
		"RequestMessages", // https://learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewayllmlog
		"backendRequestBody", "ai.proxy.payload.request", "traceloop.entity.input", "events",
		"requestBody", "payload.text", "human", "q", "forbidden_prompt", "jailbreak_prompt", "adversarial_prompt", "attack_prompt", "adversarial", "userPrompt", "origin_prompt", "inputs.query", "inputs.question", "queryText", "queryResult.queryText", "queryResult.text", // https://cloud.google.com/dialogflow/es/docs/reference/rest/v2/QueryResult
	},
	partReply: slices.Concat([]string{"gen_ai.output.messages", "attributes.gen_ai.output.messages", "response_body", "full_response"}, answerNames, []string{
		"assistant_message", "assistant_response", "bot_message", "bot_response", "bot_reply", "chunks", "gen_ai.completion", "attributes.gen_ai.completion",
		"llm.output_messages", "attributes.llm.output_messages", "output.value", "attributes.output.value", "content",
		"ai.response.text", "$ai_output_choices", "ResponseMessages", "backendResponseBody", "ai.proxy.payload.response", "traceloop.entity.output",
		"responseBody", "inputs.response", "outputs.response", "ai", "a", "fulfillmentText", "queryResult.fulfillmentText", "queryResult.responseMessages",
	}),
	partUser: {
		"user_id", "user", "userId", "end_user", "user.id", "enduser.id", "attributes.user.id", "attributes.enduser.id", "customer_id", "customer",
		"metadata.user_id", "metadata.userId",
		"session_id", "session", "sessionId", "conversation_id", "conversation", "thread_id", "chat_id", "gen_ai.conversation.id",
		"attributes.gen_ai.conversation.id", "session.id", "attributes.session.id", "metadata.session_id",
	},
	partTime: {
		"timestamp", "time", "ts", "startTime", "start_time", "created_at", "createdAt", "@timestamp", "datetime", "date", "created", "create_time", "startTimeUnixNano",
	},
	partModel: {
		"model", "gen_ai.response.model", "gen_ai.request.model", "attributes.gen_ai.response.model", "attributes.gen_ai.request.model",
		"model_name", "provided_model_name", "default_model_slug", "llm.model_name", "attributes.llm.model_name",
	},
	partTemplate: {"template", "reply_template", "template_id", "canned", "metadata.template"},
	partBefore:   {"guard_before", "input_guard", "guard", "guard_verdict", "input_flagged", "flagged", "blocked", "moderation.flagged", "metadata.guard"},
	partAfter:    {"guard_after", "output_guard", "output_flagged"},
	partScore:    {"guard_score", "metadata.guard_score", "moderation.score"},
	partName:     {}, // only the user knows
	partFinish: {
		"finish_reason", "stop_reason", "finishReason", "stopReason", "gen_ai.response.finish_reasons", "attributes.gen_ai.response.finish_reasons", "ai.response.finishReason",
	},
	partError:  {"error", "error_str", "error_information.error_message", "metadata.error_information.error_message", "statusMessage", "exception", "error.type", "attributes.error.type"},
	partGuards: {"guardrail_information", "metadata.guardrail_information"},
	partSystem: {"system_prompt", "system", "gen_ai.system_instructions", "attributes.gen_ai.system_instructions"},
	partRole:   {"role", "sender", "sender_type", "author", "author_role", "author.role", "speaker", "direction", "from"},
	partConversation: {
		"conversation_id", "conversationId", "conversation", "session_id", "sessionId", "session", "thread_id", "threadId", "thread_ts", "chat_id", "chatId", "dialog_id", "dialogue_id",
	},
	partMessageID: {"message_id", "messageId", "response_id"},
	partChunk:     {"delta", "chunk"},
}

// Log is the opened log of a product.
type Log struct {
	*File
	// parts are the parts of the cells of a row.
	parts []int
	have  []string
	// replies is true if there is a column of replies.
	replies bool
	columns ExchangeColumns
	// passed says which columns of replies were passed over.
	passed string
	// messages is true if each row is a message, or a part of one.
	messages bool
	// flat is true if the columns of what recorded answers are read from are known, and apart if
	// that of the replies is.
	flat, apart bool
	// missing are columns that a setting names and no row had so far, by their part.
	missing map[int][]string
}

// lookedAt is how many rows may lack a column that a setting names.
const lookedAt = 1000

// OpenLog opens the log of a product: CSV, TSV, JSON Lines, JSON or Parquet, also compressed
// by gzip or Zstandard, spans of OpenTelemetry, or another tool's log. "-" reads stdin. The
// messages and replies may have the forms of the APIs of OpenAI and Anthropic, and those in
// which LiteLLM and Langfuse keep them. A row that is no exchange of texts has Lacks. A file
// of another form, and one without a message or reply in its first row that is whole, is an
// *orbench.InputError; [Log.Unfound] makes the latter.
func OpenLog(path string, stdin io.Reader, columns ExchangeColumns) (*Log, error) {
	l := &Log{columns: columns, missing: map[int][]string{}}
	choose := l.choose
	var err error
	switch info, statErr := os.Stat(path); {
	case path == "-":
		l.File = &File{Name: "standard input"}
		l.File.next, err = l.File.begin(input{Reader: stdin}, trafficFile, choose)
	case statErr == nil && info.IsDir():
		l.File, err = openFolder(path, choose)
	default:
		l.File, err = openFile(path, trafficFile, choose)
	}
	if err != nil {
		return nil, err
	}
	if l.passed != "" {
		l.Notes = append(l.Notes, l.passed)
	}
	return l, nil
}

// choose chooses all columns that may have a part. JSON has no columns that all rows share,
// so its rows are searched for all of the names.
func (l *Log) choose(file string, have []string, at func(string) bool) (layout Layout, err error) {
	l.parts, l.have, l.passed = nil, have, ""
	c := l.columns
	own := [][]string{c.Prompt, c.Reply}
	for _, name := range []string{c.User, c.Time, c.Model, c.Template, c.Before, c.After, c.Score, c.Name, c.Error} {
		var one []string
		if name != "" {
			one = append(one, name)
		}
		own = append(own, one)
	}
	there := func(name string) bool { return slices.Contains(have, name) || at != nil && at(name) }
	// like has the columns by their names in small letters.
	like := map[string]string{}
	for _, name := range slices.Backward(have) {
		like[strings.ToLower(strings.TrimSpace(name))] = name
	}
	actual := func(name string) string {
		if there(name) {
			return name
		}
		return like[strings.ToLower(name)]
	}
	usual := partNames
	if there("assistant") { // beside what an assistant says stands what a user says, else who it is
		usual[partPrompt], usual[partUser] = append(slices.Clip(usual[partPrompt]), "user"), Without(usual[partUser], "user")
	}
	for part, names := range usual {
		usual[part] = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(slices.Concat(c.Prompt, c.Reply), actual(name)) })
	}
	named := func(part int) bool { return part < len(own) && len(own[part]) > 0 }
	first := func(part int) bool {
		return named(part) && slices.ContainsFunc(own[part], there) || !named(part) && slices.ContainsFunc(usual[part], func(name string) bool { return actual(name) != "" })
	}
	l.apart = c.Recorded && named(partReply)
	l.messages = first(partRole) && (first(partChunk) || first(partPrompt) != first(partReply)) && !l.apart
	if !l.messages && (at == nil || !at("content[0]")) {
		usual[partReply] = Without(usual[partReply], "content") // beside a prompt it may be anything
	}
	whole := named(partPrompt) && at != nil && at(c.Prompt[0]+"[-1]") && !first(partReply) && !l.messages
	if l.flat = c.Recorded && (named(partPrompt) || c.Joined || !first(partPrompt)) && (l.apart || whole); l.flat {
		usual[partModel] = []string{"model", "request.model", "request.body.model"}
		for part, names := range usual {
			i := slices.IndexFunc(names, func(name string) bool { return actual(name) != "" })
			if usual[part] = nil; i >= 0 && slices.Contains([]int{partUser, partTime, partModel, partError, partFinish}, part) {
				usual[part] = names[i : i+1]
			}
		}
	}
	// All of a row may be in one object.
	nested := at != nil && !l.messages && !l.flat && !first(partPrompt)
	within := slices.IndexFunc(have, func(name string) bool {
		return nested && slices.ContainsFunc(usual[partPrompt], func(inner string) bool { return at(name + "." + inner) })
	})
	add := func(name string, part int) {
		field := Field{Name: name, Scalar: true, Lenient: true, Whole: true}
		if l.flat && part <= partReply {
			field = Field{Name: name, Whole: true, Required: part == partReply && !strings.ContainsAny(name, ".[")}
		}
		layout.Fields = append(layout.Fields, field)
		l.parts = append(l.parts, part)
	}
	taken := false
	for part, names := range usual {
		named := named(part)
		if named {
			names = own[part]
			// In a log without errors theirs is null.
			null := func(name string) bool {
				return part == partError && slices.Contains(have, name[:strings.IndexAny(name+".", ".[")])
			}
			late := at != nil && l.apart && part == partReply && strings.ContainsAny(names[0], ".[") // it may be null at first
			if late || !slices.ContainsFunc(names, there) && !slices.ContainsFunc(names, null) {
				if l.missing[part] = names; at == nil {
					return Layout{}, l.unfound(file)
				}
			}
		}
		for _, name := range names {
			if column := actual(name); column != "" && !named {
				name = column
			} else if at == nil && !slices.Contains(have, name) {
				continue
			}
			l.replies = l.replies || part == partReply && (at == nil || at(name))
			if part == partReply && !named && !taken && slices.Contains(have, name) {
				taken, l.passed = true, PassedOver(file, "replies", name, have, LikeAnswer)
			}
			add(name, part)
			if within >= 0 && !named {
				add(have[within]+"."+name, part)
			}
		}
	}
	return layout, nil
}

// Without gives the names other than some.
func Without(names []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(some, n) })
}

// unfound is the fault of columns that no row has; nil for none.
func (l *Log) unfound(file string) error {
	for part := range parts {
		if names := l.missing[part]; names != nil {
			return &orbench.InputError{File: file, Line: 1, Problem: fmt.Sprintf("no column %s among %s", List(names), List(l.have)), Hint: "correct its name"}
		}
	}
	return nil
}

// List gives the first dozen of some names, for an error.
func List(names []string) string {
	const most = 12
	text := strings.Join(table.RowsOf(names[:min(len(names), most)], untrusted.Quote), ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// Record is a row of a log whose texts are yet to be found.
type Record struct {
	log *Log
	row Row
	// cells are the parts of the row. nested says which of its texts are JSON.
	cells  [parts]string
	nested [partReply + 1]bool
}

// Records streams the records; it is used once.
func (l *Log) Records(yield func(Record, error) bool) {
	if l.messages {
		l.exchanges(yield)
	} else {
		l.rows(yield)
	}
}

// rows streams the rows as records.
func (l *Log) rows(yield func(Record, error) bool) {
	rows, recorded := 0, l.columns.Recorded
	for r, err := range l.All {
		out := Record{log: l, row: r}
		own := max(0, len(r.Cells)-len(l.parts)) // there are no cells beside an error
		for i, cell := range r.Cells[own:] {
			part := l.parts[i]
			nested := cell != "" && (cell[0] == '{' || cell[0] == '[')
			if out.cells[part] == "" && (cell != "null" || recorded && part <= partReply) && (!nested || part == partPrompt || part == partReply || part >= partError) {
				if out.cells[part] = cell; cell != "" {
					delete(l.missing, part)
				}
				if part <= partReply {
					out.nested[part] = r.nested != nil && r.nested[own+i]
				}
			}
		}
		// Errors and guards are rare, so only the whole file tells that it has none.
		if rows++; rows == lookedAt && err == nil && (l.missing[partPrompt] != nil || l.missing[partReply] != nil || l.missing[partUser] != nil) {
			err = l.unfound(l.Name)
		}
		if !yield(out, err) {
			return
		}
	}
}

// Fault is an error about the record.
func (r Record) Fault(problem, hint string) error { return r.row.Fault(r.log.Name, problem, hint) }

// Exchange finds the texts of the record. It may run for several records at once.
func (r Record) Exchange() (Exchange, error) {
	cells := r.cells
	e := Exchange{
		User: cells[partUser], Time: cells[partTime], Model: cells[partModel], Template: cells[partTemplate],
		Before: cells[partBefore], After: cells[partAfter], Score: cells[partScore], Name: cells[partName],
	}
	e.read(r)
	if len(e.Reply) > MaxCell || len(e.Prompt) > MaxCell {
		return Exchange{}, r.Fault(fmt.Sprintf("a text has more than %d bytes", MaxCell), "cut or delete it, or look for a quotation mark that is left open")
	}
	return e, nil
}

// Check is the fault of a log in whose rows no message of a user, or no reply, was found. A
// log whose column of replies is empty is none. left counts the rows that are no exchange, by
// why.
func (l *Log) Check(prompts, replies bool, left map[string]int) error {
	what, flag := "reply", "response-column"
	switch fault := l.unfound(l.Name); {
	case fault != nil:
		return fault
	case !prompts:
		what, flag = "message of a user", "prompt-column"
	case replies || l.replies:
		return nil
	}
	hint := "name the column with `" + flag + "`; a path such as data.turn.text names a nested value"
	if left[LacksRole] > 0 {
		what, hint = what+" with a role that is known", "say whose they are with `roles`, such as guest=user,helper=assistant"
	}
	return &orbench.InputError{File: l.Name, Problem: fmt.Sprintf("no %s is found in the columns %s", what, List(l.have)), Hint: hint}
}

// saying reads the text of a part. That of a recorded answer is itself, unless it surely is what
// an API takes or gives. foreign is true for JSON of which nobody knows what is said.
func (r Record) saying(part int) (s saying, foreign bool) {
	cell, c := r.cells[part], r.log.columns
	s = sayingOf(cell, c.Roles)
	sure := part == partPrompt && s.spoken || part == partReply && s.sure
	switch {
	case c.Recorded && !r.nested[part] && (!sure || r.row.said != nil):
		s = saying{user: cell, reply: cell}
	case r.nested[part] && (s.reply == cell || c.Recorded && s.texts > 1):
		text, dress := reply.Unwrap(cell)
		s, foreign = saying{user: text, reply: text}, dress == ""
	}
	return s, foreign
}

// read finds the texts of a record.
func (e *Exchange) read(r Record) {
	recorded := r.log.columns.Recorded
	if !Holds(r.cells[partReply]) && (r.nested[partReply] || !recorded) {
		r.cells[partReply], r.nested[partReply] = "", false
	}
	cells := r.cells
	asked, unknown := r.saying(partPrompt)
	replied, foreign := r.saying(partReply)
	if system := sayingOf(cells[partSystem], nil).reply; system != "" && !slices.ContainsFunc(asked.said, func(m orbench.Message) bool { return m.Role == orbench.System }) {
		asked.said = slices.Insert(asked.said, 0, orbench.Message{Role: orbench.System, Content: system})
	}
	e.Prompt, e.Context = asked.user, asked.said
	if !r.log.flat {
		e.Model, e.User, e.Time = cmp.Or(e.Model, replied.model, asked.model), cmp.Or(e.User, asked.name), cmp.Or(e.Time, replied.created)
	}
	if recorded {
		e.Asked, e.unsent = asked.asked()
		if asked.replied && r.log.apart && asked.reply != replied.reply { // the beginning of an answer
			e.Asked = append(e.Asked, orbench.Message{Role: orbench.Assistant, Content: asked.reply})
		}
		if unknown {
			e.unsent = unknownForm
		}
	}
	if cells[partReply] == "" && asked.replied && !r.log.apart {
		// The conversation ends with the reply.
		replied = asked
	} else if replied.steps += asked.steps; replied.results == 0 {
		replied.failed = asked.failed
	}
	e.Reply, e.Offered, e.foreign = replied.reply, asked.offered, foreign
	e.Steps, e.Called, e.Failed = replied.steps, replied.tool, replied.failed
	e.Finish, e.Block = endOf(replied, cells[partFinish])
	if recorded && e.Called && e.Block == nil {
		e.Finish = model.Called
	}
	if ended := r.row.said; ended != nil {
		e.Finish, e.Block, e.Usage = ended.Finish, ended.Block, ended.Usage
	}
	e.guarded(cells[partGuards])
	fault := cells[partError]
	if fault == "" || fault == "false" || fault == "{}" {
		fault = replied.fault
	}
	var block *model.Block
	if e.Reply == "" {
		block = reply.Faulted(fault)
	}
	if raw := cells[partReply]; block == nil && e.Block == nil && strings.HasPrefix(raw, "{") && (e.Reply == "" || e.Reply == raw) && !replied.tool && (r.nested[partReply] || !recorded) {
		if block = reply.Faulted(raw); block == nil && replied.fault != "" && recorded {
			e.Reply = raw // an error in place of a text
		}
	}
	switch {
	case block != nil:
		e.Finish, e.Block = model.Blocked, block
	case e.Prompt == "" && e.Reply == "" && cells[partPrompt] == "" && cells[partReply] == "":
		e.Lacks = LacksBoth
	case e.Prompt == "":
		switch e.Lacks = LacksPrompt; {
		case asked.foreign:
			e.Lacks = LacksRole
		case asked.other != "":
			e.Lacks = LacksText
		}
	case e.Reply != "" || e.Block != nil:
	case asked.foreign || replied.foreign:
		e.Lacks = LacksRole
	case replied.tool, e.Finish == model.Called:
		e.Lacks = LacksTool
	case fault != "":
		e.Lacks = LacksAnswer
	case replied.other != "":
		e.Lacks = LacksText
	}
}
