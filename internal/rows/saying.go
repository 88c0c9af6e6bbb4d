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
	// sure is true for a reply of an API or a stream of one, and spoken for a message that says
	// that it is a user's. texts counts those in lists.
	sure, spoken bool
	texts        int
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

// members are those of an object in any of the forms of requests, replies and messages that are
// read: chat completions and responses of OpenAI
// (https://platform.openai.com/docs/api-reference), messages of Anthropic
// (https://docs.anthropic.com/en/api/messages), Gemini (https://ai.google.dev/api/generate-content),
// Bedrock, LangChain, and messages with parts of OpenTelemetry.
type members map[string]jsontext.Value

// membersOf gives the members of a value; nil if it is no object.
func membersOf(v jsontext.Value) members {
	if v.Kind() != '{' {
		return nil
	}
	o, err := fieldsOf[jsontext.Value](v, asRead)
	if err != nil {
		return nil
	}
	return o
}

// first is the first value under some names that is there.
func (o members) first(names ...string) jsontext.Value {
	for _, name := range names {
		if v, there := o[name]; there {
			return v
		}
	}
	return nil
}

// text is the first text under some names that is not empty.
func (o members) text(names ...string) string {
	for _, name := range names {
		if text, _ := textOf(o[name]); text != "" {
			return text
		}
	}
	return ""
}

// holds reports whether a value under some names is not empty.
func (o members) holds(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return Holds(string(o[name])) })
}

// is reports whether a name has the value true.
func (o members) is(name string) bool { return string(o[name]) == "true" }

// chunk adds a part of a stream.
func (s *saying) chunk(o members) bool {
	if o.holds("tool_calls") && !s.tool {
		s.called()
	}
	cohere := membersOf(membersOf(o["message"])["content"]) // https://docs.cohere.com/v2/docs/streaming
	s.reply, s.replied, s.finish = s.reply+o.text("content")+o.text("text")+cohere.text("text"), true, cmp.Or(o.text("stop_reason", "finish_reason"), s.finish)
	return true
}

// deepest bounds how far a value may be in others.
const deepest = 6

// asRead passes over the check of names that the reader of the row has done.
var asRead = jsontext.AllowDuplicateNames(true)

// sayingOf reads a cell: a text, JSON in one of the forms of members, or a stream of that as
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
		if s.sure = read; read {
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
				s.user, s.reply, s.texts = s.user+text, s.reply+text, s.texts+1
			} else if kind := item.Kind(); kind != '{' && kind != '[' || !s.add(item, role, depth+1) && !s.replied {
				return false
			}
		}
		return true
	case '{':
		o := membersOf(v)
		return o != nil && s.object(o, role, depth+1) || s.thread(v, depth+1)
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

// plain is the text of a value, or of what it has.
func plain(v jsontext.Value) string {
	text, ok := textOf(v)
	if !ok {
		text = sayingOf(string(v), nil).reply
	}
	return text
}

// object reads an object; see add.
func (s *saying) object(o members, role string, depth int) bool {
	created, _ := jsonText(json.RawMessage(o["created"]), true)
	s.model, s.created, s.name = cmp.Or(o.text("model"), s.model), cmp.Or(created, s.created), cmp.Or(o.text("user"), s.name)
	if s.name == "" {
		s.name = membersOf(o["metadata"]).text("user_id")
	}
	s.finish = cmp.Or(o.text("stop_reason", "finish_reason", "stopReason"), s.finish)
	// What a guardrail of Bedrock did stands beside the end of its text
	// (https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-inference-api.html).
	if action := o.text("amazon-bedrock-guardrailAction"); action == "INTERVENED" {
		defer func() { s.finish = action }()
	}
	name := strings.ToLower(cmp.Or(o.text("role", "from", "sender", "speaker", "author", "message.role"), membersOf(o["author"]).text("role", "type")))
	if event := o.text("event"); name == "" && event != "" { // https://rasa.com/docs/rasa/tracker-stores
		if name = event; !slices.Contains(users, event) && !slices.Contains(assistants, event) {
			return true
		}
	}
	kind := o.text("type")
	if name == "" && slices.Contains([]string{"human", "ai", "system", "tool"}, kind) { // LangChain
		name, kind = kind, ""
	}
	name = cmp.Or(s.roles[name], name)
	if system := o.first("system", "instructions", "systemInstruction"); system != nil && name == "" && depth <= deepest {
		s.say("system", plain(system))
	}
	if name == "tool" || name == "function" {
		if s.tool && o.text("function") == submit && !o.holds("error") {
			s.steps--
			s.tool, s.reply = false, plain(o["content"])
			return true
		}
		s.result(o.is("is_error") || o.holds("error") || failure.MatchString(o.text("content")))
		return true
	}
	if o.holds("error") {
		s.fault = string(o["error"])
	}
	s.offered = s.offered || o.holds("tools", "functions")
	role, s.spoken = cmp.Or(name, role), s.spoken || slices.Contains(users, name)
	if slices.Contains(assistants, name) {
		s.tool, s.thinking = false, ""
	}
	if !o.is("redacted") {
		s.thinking += o.text("reasoning_content", "reasoning", "thinking")
	}
	if o.holds("tool_calls", "function_call") {
		s.called()
	}
	if no := o.text("refusal"); no != "" {
		s.refused = true
		s.say("assistant", no)
		return true
	}
	for _, several := range []string{"candidates", "choices"} {
		if o[several].Kind() == '[' {
			s.sure = true
			return s.choice(o[several], depth)
		}
	}
	switch {
	case o["body"] != nil:
		return s.add(o["body"], role, depth)
	case o["delta"].Kind() == '{':
		return s.chunk(membersOf(o["delta"]))
	case name != "" && o["text"] == nil && o["data"].Kind() == '{': // LangChain
		return s.add(o["data"], role, depth)
	case o["kwargs"].Kind() == '{': // LangChain in LangSmith
		return s.add(o["kwargs"], role, depth)
	case o.is("thought"):
		return true
	case kind == "response.output_text.delta", s.replied && o["done"] != nil && o["message"].Kind() == '{': // the next chunk of Responses or Ollama
		s.reply, s.replied = s.reply+plain(o.first("delta", "message")), true
		return true
	case o["message"].Kind() == '{':
		// One of several choices, of which the first counts.
		return s.replied || s.add(o["message"], "assistant", depth)
	}
	if v := o.first("messages", "contents", "inputBodyJson", "input", "prompt"); v != nil && kind == "" {
		return s.add(v, "user", depth)
	}
	if v := o.first("output", "outputBodyJson", "generation", "generations", "messageStart", "contentBlockDelta", "messageStop"); v != nil && kind == "" {
		return s.add(v, "assistant", depth)
	}
	return s.message(o, name, kind, role, depth)
}

// choice reads the first of several answers.
func (s *saying) choice(v jsontext.Value, depth int) bool {
	var all []members
	if jsonv2.Unmarshal(v, &all, asRead) != nil || len(all) == 0 {
		return len(all) == 0
	}
	first := all[0]
	if s.finish = first.text("finish_reason", "finishReason"); first["delta"].Kind() == '{' {
		return s.chunk(membersOf(first["delta"]))
	}
	if s.replied && first["content"].Kind() == '{' { // the next chunk of Gemini's
		s.reply += plain(first["content"])
		return true
	}
	return s.add(first.first("message", "messages", "content", "text"), "assistant", depth)
}

// message reads a message of the named role, or a part of one of a kind.
func (s *saying) message(o members, name, kind, role string, depth int) bool {
	switch kind {
	case "tool_use", "tool_call", "function_call", "server_tool_use":
		if role != "part" {
			s.called()
		}
		s.tool, s.replied = true, true
		return true
	case "tool_result", "tool_call_response", "function_call_output":
		said := o.text("content") + "\n" + o.text("output") + "\n" + o.text("result")
		s.result(o.is("is_error") || o.holds("error") || failure.MatchString(said))
		return true
	case "thinking", "redacted_thinking", "reasoning":
		return true
	}
	content := o.first("content", "parts", "text", "message.content")
	if content == nil && name != "" {
		content = o["value"]
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
		return role != "" || kind != ""
	case kind != "":
		s.other = kind
		return true
	}
	return name != "" || s.tool || s.fault != ""
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
// intervened before or after the call, not one that failed
// (https://docs.litellm.ai/docs/proxy/logging_spec).
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
		if !slices.Contains([]string{"guardrail_intervened", "blocked"}, g.Status) {
			continue
		}
		if strings.Contains(string(g.Mode), "post") {
			e.After = "blocked"
		} else {
			e.Before = cmp.Or(e.Before, "blocked")
		}
	}
}
