package rows

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// saying is what a value of a log says: a request, a reply, or a conversation.
type saying struct {
	// user is the last message of a user, and reply what the assistant says last. replied is
	// true if the reply is after the user's message.
	user, reply string
	replied     bool
	// said are the messages up to the user's last, without that.
	said []orbench.Message
	// roles say whose the words of a role of one's own are; foreign is true for one that
	// nobody knows.
	roles   map[string]string
	foreign bool
	// refused is true if the API marks the reply as a refusal. finish is the word for its end.
	refused bool
	finish  string
	model   string
	// name is the user whom a request names, and created the time of a reply.
	name, created string
	// tool is true if the assistant calls a tool. other names a part that is no text, and
	// thinking is that of the reply. fault is an error in place of a reply.
	tool            bool
	other, thinking string
	fault           string
	// offered is true if a request offers tools.
	offered bool
	// steps counts the assistant's messages with tool calls since the user's message. failed is
	// true if the last of the results, which results counts, is an error. Where tool is true,
	// reply is what the assistant says beside the call. tools is true if there was a result at all.
	steps, results int
	failed, tools  bool
}

// failure is the result of a tool that did not do what it was called for.
var failure = regexp.MustCompile(`(?i)^\W*(?:error|exception|traceback|failed|failure|permission denied|access denied|timed out|timeout)\b|"(?:error|is_error)"\s*:\s*(?:"[^"]|true|\{)|"(?:success|ok)"\s*:\s*false|"status"\s*:\s*"(?:error|failed)"`)

// called notes a message with calls of tools.
func (s *saying) called() {
	s.tool, s.replied, s.reply = true, true, ""
	s.steps++
}

// result notes what a tool gave back.
func (s *saying) result(failed bool) {
	s.results++
	s.failed, s.tools = failed, true
}

// submit is the tool by which Inspect's agents give their answer
// (https://inspect.aisi.org.uk/react-agent.html).
const submit = "submit"

// asked are the messages up to the user's last. If they have something that is not text, other
// names it.
func (s *saying) asked() (asked []orbench.Message, other string) {
	switch {
	case s.other != "":
		return nil, s.other
	case s.tools:
		return nil, "a tool's message"
	case s.foreign:
		return nil, "a role that is not known"
	}
	if asked = s.said; s.user != "" || asked == nil {
		asked = append(asked, orbench.Message{Role: orbench.User, Content: s.user})
	}
	return asked, ""
}

// assistants, users and systems are the usual words for roles.
var (
	assistants = []string{"assistant", "model", "ai", "gpt", "bot", "chatbot", "outgoing", "outbound", "apimessage"}
	users      = []string{"user", "human", "customer", "visitor", "incoming", "inbound", "usermessage"}
	systems    = []string{"system", "developer"}
)

// spoken has the members of all forms of requests, replies and messages that are read:
// chat completions and responses of OpenAI
// (https://platform.openai.com/docs/api-reference), messages of Anthropic
// (https://docs.anthropic.com/en/api/messages), and messages with parts of OpenTelemetry.
type spoken struct {
	Role    string         `json:"role"`
	From    jsontext.Value `json:"from"`
	Sender  jsontext.Value `json:"sender"`
	Speaker jsontext.Value `json:"speaker"`
	Author  jsontext.Value `json:"author"`
	Event   jsontext.Value `json:"event"`
	// Mapping has the messages of a conversation as ChatGPT exports it.
	Mapping   jsontext.Value `json:"mapping"`
	Type      string         `json:"type"`
	Model     jsontext.Value `json:"model"`
	Content   jsontext.Value `json:"content"`
	Parts     jsontext.Value `json:"parts"`
	Text      jsontext.Value `json:"text"`
	Value     jsontext.Value `json:"value"`
	Refusal   jsontext.Value `json:"refusal"`
	Calls     jsontext.Value `json:"tool_calls"`
	Call      jsontext.Value `json:"function_call"`
	Tools     jsontext.Value `json:"tools"`
	Functions jsontext.Value `json:"functions"`
	Message   jsontext.Value `json:"message"`
	Messages  jsontext.Value `json:"messages"`
	Input     jsontext.Value `json:"input"`
	Prompt    jsontext.Value `json:"prompt"`
	Choices   []struct {
		Message  jsontext.Value `json:"message"`
		Messages jsontext.Value `json:"messages"`
		Text     jsontext.Value `json:"text"`
		Finish   jsontext.Value `json:"finish_reason"`
		Delta    *chunk         `json:"delta"`
	} `json:"choices"`
	// System, Instructions and Instruction are the system prompt of a request.
	System       jsontext.Value `json:"system"`
	Instructions jsontext.Value `json:"instructions"`
	Instruction  jsontext.Value `json:"systemInstruction"`
	// Contents, Candidates and Thought are of Gemini (https://ai.google.dev/api/generate-content).
	Contents   jsontext.Value `json:"contents"`
	Candidates []struct {
		Content jsontext.Value `json:"content"`
		Finish  jsontext.Value `json:"finishReason"`
	} `json:"candidates"`
	Thought bool `json:"thought"`
	// StopReason and Generation are of Bedrock.
	StopReason jsontext.Value `json:"stopReason"`
	Generation jsontext.Value `json:"generation"`
	// Delta is what a chunk of Anthropic's stream adds.
	Delta  *chunk         `json:"delta"`
	Output jsontext.Value `json:"output"`
	Stop   jsontext.Value `json:"stop_reason"`
	Finish jsontext.Value `json:"finish_reason"`
	Error  jsontext.Value `json:"error"`
	// Reasoning, Thoughts and Thinking are the thinking of some servers, and Redacted says that it
	// is not there. Function names the tool of a result in Inspect.
	Reasoning jsontext.Value `json:"reasoning_content"`
	Thoughts  jsontext.Value `json:"reasoning"`
	Thinking  jsontext.Value `json:"thinking"`
	Redacted  bool           `json:"redacted"`
	Function  jsontext.Value `json:"function"`
	// IsError marks the failed result of a tool. Result is the text of one.
	IsError bool           `json:"is_error"`
	Result  jsontext.Value `json:"result"`
	// Body has the request or reply itself, and Data a message of LangChain.
	Body     jsontext.Value `json:"body"`
	Data     jsontext.Value `json:"data"`
	User     jsontext.Value `json:"user"`
	Metadata jsontext.Value `json:"metadata"`
	Created  jsontext.Value `json:"created"`
}

// chunk is what a part of a stream adds to the reply.
type chunk struct {
	Content jsontext.Value `json:"content"`
	Text    jsontext.Value `json:"text"`
	Calls   jsontext.Value `json:"tool_calls"`
	Stop    jsontext.Value `json:"stop_reason"`
}

// chunk adds a part of a stream.
func (s *saying) chunk(c *chunk) bool {
	content, _ := textOf(c.Content)
	text, _ := textOf(c.Text)
	stop, _ := textOf(c.Stop)
	if Holds(string(c.Calls)) && !s.tool {
		s.called()
	}
	s.reply, s.replied, s.finish = s.reply+content+text, true, cmp.Or(stop, s.finish)
	return true
}

// deepest bounds how far a value may be in others.
const deepest = 6

// asRead passes over the check of names that the reader of the row has done.
var asRead = jsontext.AllowDuplicateNames(true)

// sayingOf reads a cell: a text, JSON in one of the forms of spoken, or a stream of that as
// servers send it.
func sayingOf(cell string, roles map[string]string) saying {
	s, trimmed := saying{roles: roles}, strings.TrimSpace(cell)
	if strings.HasPrefix(trimmed, "data:") || strings.HasPrefix(trimmed, "event:") {
		read := false
		for line := range strings.Lines(trimmed) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok && s.add(jsontext.Value(strings.TrimSpace(data)), "", 0) {
				read = true
			}
		}
		if read {
			return s
		}
	}
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' || !s.add(jsontext.Value(trimmed), "", 0) {
		return saying{user: cell, reply: cell}
	}
	return s
}

// add reads a value that someone of the given role says. It reports false for a value that
// has none of the forms.
func (s *saying) add(v jsontext.Value, role string, depth int) bool {
	if depth > deepest || len(v) == 0 {
		return false
	}
	switch v.Kind() {
	case '"':
		text, _ := jsonText(json.RawMessage(v), false)
		s.say(role, text)
		return true
	case '[':
		var all []jsontext.Value
		if jsonv2.Unmarshal(v, &all, asRead) != nil {
			return false
		}
		for _, item := range all {
			if text, ok := textOf(item); ok && item.Kind() == '"' { // chunks of a text
				s.user, s.reply = s.user+text, s.reply+text
			} else if item.Kind() != '{' || !s.add(item, role, depth+1) {
				return false
			}
		}
		return true
	case '{':
		var o spoken
		return jsonv2.Unmarshal(v, &o, asRead) == nil && s.object(o, role, depth+1) || s.thread(v, depth+1)
	}
	return false
}

// thread reads a conversation as ChatGPT exports it: messages by their IDs, each with those that
// came next, of which the last counts.
func (s *saying) thread(v jsontext.Value, depth int) (read bool) {
	var nodes map[string]struct {
		Message  jsontext.Value `json:"message"`
		Parent   string         `json:"parent"`
		Children []string       `json:"children"`
	}
	if jsonv2.Unmarshal(v, &nodes, asRead) != nil {
		return false
	}
	at := ""
	for _, id := range slices.Sorted(maps.Keys(nodes)) { // the same of several roots each time
		if _, below := nodes[nodes[id].Parent]; !below && nodes[id].Children != nil {
			at = id
		}
	}
	for range nodes {
		if n := nodes[at]; len(n.Children) > 0 {
			at = n.Children[len(n.Children)-1]
		} else {
			break
		}
		read = nodes[at].Message.Kind() == '{' && s.add(nodes[at].Message, "", depth) || read
	}
	return read
}

// object reads an object; see add.
func (s *saying) object(o spoken, role string, depth int) bool {
	word := func(v jsontext.Value) string { text, _ := textOf(v); return text }
	plain := func(v jsontext.Value) string {
		text, ok := textOf(v)
		if !ok {
			text = sayingOf(string(v), nil).reply
		}
		return text
	}
	created, _ := jsonText(json.RawMessage(o.Created), true)
	s.model, s.created, s.name = cmp.Or(word(o.Model), s.model), cmp.Or(created, s.created), cmp.Or(word(o.User), s.name)
	var about struct {
		User string `json:"user_id"`
	}
	if o.Metadata != nil && s.name == "" && jsonv2.Unmarshal(o.Metadata, &about, asRead) == nil {
		s.name = about.User
	}
	s.finish = cmp.Or(word(o.Stop)+word(o.Finish)+word(o.StopReason), s.finish)
	var author struct {
		Role string `json:"role"`
		Type string `json:"type"`
	}
	if o.Author.Kind() == '{' && jsonv2.Unmarshal(o.Author, &author, asRead) != nil {
		return false
	}
	o.Role = strings.ToLower(cmp.Or(o.Role, word(o.From), word(o.Sender), word(o.Speaker), word(o.Author), author.Role, author.Type))
	if event := word(o.Event); o.Role == "" && event != "" { // https://rasa.com/docs/rasa/tracker-stores
		if o.Role = event; !slices.Contains(users, event) && !slices.Contains(assistants, event) {
			return true
		}
	}
	if o.Role == "" && slices.Contains([]string{"human", "ai", "system", "tool"}, o.Type) { // LangChain
		o.Role, o.Type = o.Type, ""
	}
	o.Role = cmp.Or(s.roles[strings.ToLower(o.Role)], o.Role)
	if system := cmp.Or(string(o.System), string(o.Instructions), string(o.Instruction)); system != "" && o.Role == "" && depth <= deepest {
		s.say("system", plain(jsontext.Value(system)))
	}
	if o.Role == "tool" || o.Role == "function" {
		if s.tool && word(o.Function) == submit && !Holds(string(o.Error)) {
			s.steps--
			s.tool, s.reply = false, plain(o.Content)
			return true
		}
		s.result(o.IsError || Holds(string(o.Error)) || failure.MatchString(word(o.Content)))
		return true
	}
	if fault := string(o.Error); Holds(fault) {
		s.fault = fault
	}
	s.offered = s.offered || Holds(string(o.Tools)) || Holds(string(o.Functions))
	if o.Role != "" {
		role = o.Role
	}
	if slices.Contains(assistants, o.Role) {
		s.tool, s.thinking = false, ""
	}
	if !o.Redacted {
		s.thinking += cmp.Or(word(o.Reasoning), word(o.Thoughts), word(o.Thinking))
	}
	if Holds(string(o.Calls)) || Holds(string(o.Call)) {
		s.called()
	}
	if no := word(o.Refusal); no != "" {
		s.refused = true
		s.say("assistant", no)
		return true
	}
	switch {
	case o.Body != nil:
		return s.add(o.Body, role, depth)
	case o.Delta != nil:
		return s.chunk(o.Delta)
	case o.Role != "" && o.Text == nil && o.Data.Kind() == '{':
		return s.add(o.Data, role, depth)
	case o.Thought:
		return true
	case len(o.Candidates) > 0:
		s.finish = word(o.Candidates[0].Finish)
		return s.add(o.Candidates[0].Content, "assistant", depth)
	case len(o.Choices) > 0:
		first := o.Choices[0]
		s.finish = word(first.Finish)
		if first.Delta != nil {
			return s.chunk(first.Delta)
		}
		if said := cmp.Or(string(first.Message), string(first.Messages)); said != "" {
			return s.add(jsontext.Value(said), "assistant", depth)
		}
		return s.add(first.Text, "assistant", depth)
	case o.Choices != nil:
		return true // a reply without a choice
	case o.Message.Kind() == '{':
		// One of several choices, of which the first counts.
		return s.replied || s.add(o.Message, "assistant", depth)
	}
	for i, v := range []jsontext.Value{o.Messages, o.Contents, o.Output, o.Generation, o.Input, o.Prompt} {
		if v != nil && o.Type == "" {
			return s.add(v, []string{"user", "user", "assistant", "assistant", "user", "user"}[i], depth)
		}
	}
	return s.message(o, role, depth)
}

// message reads a message or a part of one.
func (s *saying) message(o spoken, role string, depth int) bool {
	switch o.Type {
	case "tool_use", "tool_call", "function_call", "server_tool_use":
		if role != "part" {
			s.called()
		}
		s.tool, s.replied = true, true
		return true
	case "tool_result", "tool_call_response", "function_call_output":
		failed := o.IsError || Holds(string(o.Error))
		for _, v := range []jsontext.Value{o.Content, o.Output, o.Result} {
			text, _ := textOf(v)
			failed = failed || failure.MatchString(text)
		}
		s.result(failed)
		return true
	case "thinking", "redacted_thinking", "reasoning":
		return true
	}
	content := o.Content
	if content == nil {
		content = o.Parts
	}
	if content == nil {
		content = o.Text
	}
	if content == nil && o.Role != "" {
		content = o.Value
	}
	switch {
	case content.Kind() == '[':
		var texts saying
		if !Holds(string(content)) {
			return true
		}
		if !texts.add(content, "part", depth) {
			return false
		}
		s.other, s.refused, s.thinking = cmp.Or(s.other, texts.other), s.refused || texts.refused, s.thinking+texts.thinking
		if texts.tool {
			s.called()
		}
		if texts.results > 0 {
			s.result(texts.failed)
		}
		if texts.reply != "" {
			s.say(role, texts.reply)
		}
		return true
	case content.Kind() == '"':
		return s.add(content, role, depth)
	case content.Kind() == '{':
		return s.add(content, role, depth) || role != ""
	case content.Kind() == 'n':
		return role != "" || o.Type != ""
	case o.Type != "":
		s.other = o.Type
		return true
	}
	return o.Role != "" || s.tool || s.fault != ""
}

// say takes the words of a role. The words of a part are joined to those before.
func (s *saying) say(role, text string) {
	hold := func(role orbench.Role, text string) {
		if strings.TrimSpace(text) != "" {
			s.said = append(s.said, orbench.Message{Role: role, Content: text})
		}
	}
	switch {
	case role == "part":
		s.reply += text
	case slices.Contains(assistants, role):
		s.reply, s.replied = text, true
	case slices.Contains(users, role):
		hold(orbench.User, s.user)
		hold(orbench.Assistant, s.reply)
		s.user, s.reply, s.replied, s.tool = text, "", false, false
		s.steps, s.results, s.failed = 0, 0, false
	case slices.Contains(systems, role):
		hold(orbench.System, text)
	case role == "":
		s.user, s.reply, s.replied = text, text, false
	default:
		s.foreign = true
	}
}

// endOf says how a reply ended, from its own word or that of another column.
func endOf(s saying, word string) (model.Finish, *model.Block) {
	if s.finish != "" {
		word = s.finish
	}
	finish, block := reply.End(word)
	if s.refused && block == nil {
		return model.Blocked, &model.Block{Kind: model.RefusalField, Detail: "refusal"}
	}
	return finish, block
}

// guarded reads what LiteLLM keeps of its guardrails, where no column says it: one that
// intervened before or after the call.
func (e *Exchange) guarded(cell string) {
	if cell = strings.TrimSpace(cell); cell == "" {
		return
	}
	if cell[0] == '{' {
		cell = "[" + cell + "]"
	}
	var all []struct {
		Status string         `json:"guardrail_status"`
		Mode   jsontext.Value `json:"guardrail_mode"`
	}
	if jsonv2.Unmarshal([]byte(cell), &all) != nil {
		return
	}
	for _, g := range all {
		if !slices.Contains([]string{"guardrail_intervened", "blocked", "failure"}, g.Status) {
			continue
		}
		if strings.Contains(string(g.Mode), "post") {
			e.After = "blocked"
		} else {
			e.Before = cmp.Or(e.Before, "blocked")
		}
	}
}
