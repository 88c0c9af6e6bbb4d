package rows_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

// shapes are logs of one exchange in the forms in which products keep them.
var shapes = map[string]string{
	"Dialogflow":        `{"responseId":"1","user_id":"ana","model":"m","timestamp":"2025-11-24T16:00:00Z","queryResult":{"queryText":"Hi?","fulfillmentText":"No.","intent":{"displayName":"hello"}}}`,
	"OpenAI":            `{"created":1764000000,"request":{"model":"m","user":"ana","messages":[{"role":"system","content":"Help."},{"role":"user","content":"Hi?"}]},"response":{"choices":[{"message":{"role":"assistant","content":"No."},"finish_reason":"stop"}]}}`,
	"OpenAI body":       `{"created":1764000000,"request":{"url":"/v1","body":{"model":"m","user":"ana","messages":[{"role":"user","content":"Hi?"}]}},"response":{"status":200,"body":{"choices":[{"message":{"content":"No."},"finish_reason":"stop"}]}}}`,
	"OpenAI refusal":    `{"created":1764000000,"model":"m","user":"ana","messages":[{"role":"user","content":[{"type":"text","text":"Hi?"},{"type":"image_url","image_url":{"url":"x"}}]}],"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}`,
	"Responses":         `{"created":1764000000,"user":"ana","request":{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Hi?"}]}]},"response":{"output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"No."}]}]}}`,
	"Anthropic":         `{"timestamp":"2025-11-24T16:00:00Z","request":{"model":"m","system":"Help.","metadata":{"user_id":"ana"},"messages":[{"role":"user","content":"Before"},{"role":"assistant","content":"Yes."},{"role":"user","content":[{"type":"text","text":"Hi?"}]}]},"response":{"type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"No."}],"stop_reason":"end_turn"}}`,
	"LiteLLM":           `{"id":"1","call_type":"acompletion","startTime":"2025-11-24 16:00:00","end_user":"ana","model":"m","messages":[{"role":"user","content":"Hi?"}],"response":{"choices":[{"message":{"content":"No."},"finish_reason":"stop"}]},"metadata":{"user_api_key_user_id":"app"},"error_str":null}`,
	"LiteLLM as text":   `{"call_type":"acompletion","startTime":"2025-11-24 16:00:00","end_user":"ana","model":"m","messages":"[{\"role\":\"user\",\"content\":\"Hi?\"}]","response":"{\"choices\":[{\"message\":{\"content\":\"No.\"}}]}"}`,
	"Langfuse":          `{"id":"1","traceId":"t","type":"GENERATION","startTime":"2025-11-24T16:00:00Z","userId":"ana","model":"m","input":[{"role":"user","content":"Hi?"}],"output":{"role":"assistant","content":"No."}}`,
	"Langfuse text":     `{"id":"1","timestamp":"2025-11-24T16:00:00Z","userId":"ana","model":"m","input":"Hi?","output":"No."}`,
	"OTLP spans":        `{"resourceSpans":[{"resource":{"attributes":[{"key":"user.id","value":{"stringValue":"ana"}}]},"scopeSpans":[{"spans":[{"name":"GET /","startTimeUnixNano":"1764000000000000000","attributes":[]},{"name":"chat m","traceId":"t","startTimeUnixNano":"1764000000000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"assistant"}},{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"text"}},{"key":"content","value":{"stringValue":"No."}}]}}]}}},{"key":"finish_reason","value":{"stringValue":"stop"}}]}}]}}}]}]}]}]}`,
	"OTLP logs":         `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1764000000000000000","attributes":[{"key":"enduser.id","value":{"stringValue":"ana"}},{"key":"gen_ai.response.model","value":{"stringValue":"m"}},{"key":"gen_ai.prompt.0.role","value":{"stringValue":"user"}},{"key":"gen_ai.prompt.0.content","value":{"stringValue":"Hi?"}},{"key":"gen_ai.completion.0.content","value":{"stringValue":"No."}}]}]}]}]}`,
	"span":              `{"name":"chat","time":"1764000000","attributes":{"user.id":"ana","gen_ai.request.model":"m","gen_ai.input.messages":[{"role":"user","parts":[{"type":"text","content":"Hi?"}]}],"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"text","content":"No."}]}]}}`,
	"conversation":      `{"time":"1764000000","session_id":"ana","model":"m","messages":[{"role":"user","content":"Hi?"},{"role":"assistant","content":"No."}]}`,
	"ShareGPT":          `{"time":"1764000000","session_id":"ana","model":"m","messages":[{"from":"human","value":"Hi?"},{"from":"gpt","value":"No."}]}`,
	"chunks":            `{"time":"1764000000","user_id":"ana","model":"m","prompt":"Hi?","response":[{"choices":[{"delta":{"role":"assistant","content":""}}]},{"choices":[{"delta":{"content":"N"}}]},{"choices":[{"delta":{"content":"o."},"finish_reason":"stop"}]},{"choices":[],"usage":{}}]}`,
	"chunks of Gemini":  `{"time":"1764000000","user_id":"ana","model":"m","request":{"contents":[{"role":"user","parts":[{"text":"Hi?"}]}]},"response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"N"}]}}]},{"candidates":[{"content":{"parts":[{"text":"o."}]},"finishReason":"STOP"}]}]}`,
	"chunks of Bedrock": `{"timestamp":"2025-11-24T16:00:00Z","user_id":"ana","model":"m","input":{"inputBodyJson":{"messages":[{"role":"user","content":[{"text":"Hi?"}]}]}},"output":{"outputBodyJson":[{"messageStart":{"role":"assistant"}},{"contentBlockDelta":{"delta":{"text":"N"}}},{"contentBlockDelta":{"delta":{"text":"o."}}},{"contentBlockStop":{"contentBlockIndex":0}},{"messageStop":{"stopReason":"end_turn"}}]}}`,
	"Gemini's request":  `{"time":"1764000000","user_id":"ana","model":"m","contents":[{"role":"user","parts":[{"text":"Hi?"}]}],"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"No."}]}}]}}`,
	"chunks of Cohere":  `{"time":"1764000000","user_id":"ana","model":"m","prompt":"Hi?","response":[{"type":"content-delta","delta":{"message":{"content":{"text":"N"}}}},{"type":"content-delta","delta":{"message":{"content":{"text":"o."}}}},{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}]}`,
	"chunks of text":    `{"time":"1764000000","user_id":"ana","model":"m","prompt":"Hi?","response":["N","o."]}`,
	"events":            `{"time":"1764000000","user_id":"ana","model":"m","prompt":"Hi?","response":"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"N\"}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"o.\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: [DONE]\n"}`,
	"in one object":     `{"time":"1764000000","properties":{"user_id":"ana","model":"m","requestBody":{"messages":[{"role":"user","content":"Hi?"}]},"responseBody":{"choices":[{"message":{"content":"No."}}]}}}`,
	"pair":              `{"time":"1764000000","session_id":"ana","model":"m","user":"Hi?","assistant":"No."}`,
	"messages":          `{"time":"1764000000","user_id":"ana","conversation_id":"1","model":"m","role":"user","content":"Hi?"}` + "\n" + `{"time":"1764000000","conversation_id":"1","role":"assistant","content":"No."}`,
	"chunks in rows":    `{"time":"1764000000","session_id":"ana","model":"m","role":"user","text":"Hi?"}` + "\n" + `{"session_id":"ana","role":"assistant","delta":"N"}` + "\n" + `{"session_id":"ana","role":"assistant","delta":"o."}`,
	"CSV of messages":   "time,thread_id,model,user_id,sender,message\n1764000000,1,m,ana,customer,Hi?\n1764000000,1,m,,bot,No.\n",
	"plain":             `{"time":"1764000000","user":{"id":"ana"},"model":"m","prompt":"Hi?","response":"No."}`,
	"CSV":               "date,customer,model,question,answer\n2025-11-24,ana,m,Hi?,No.\n",
	"ChatGPT's export":  `{"create_time":1764000000,"user_id":"ana","model":"m","mapping":{"r":{"message":null,"parent":null,"children":["u"]},"u":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Hi?"]}},"parent":"r","children":["old","t"]},"old":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Yes."]}},"parent":"u","children":[]},"t":{"message":{"author":{"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"content":"Hm."}]}},"parent":"u","children":["a"]},"a":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["No."]}},"parent":"t","children":[]}},"current_node":"a"}`,
	"Claude's export":   `{"created_at":"2025-11-24T16:00:00Z","user_id":"ana","model":"m","chat_messages":[{"sender":"human","text":"Hi?","content":[{"type":"text","text":"Hi?"}]},{"sender":"assistant","text":"No.","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"No."}]}]}`,
	"Rasa":              `{"user_id":"ana","timestamp":1764000000,"model":"m","latest_message":{"text":"Hi?"},"events":[{"event":"action","name":"listen"},{"event":"user","text":"Hi?","parse_data":{}},{"event":"bot","text":"No.","data":{}}]}`,
	"numbered":          `{"time":"1764000000","user_id":"ana","model":"m","attributes":{"gen_ai.prompt.0.role":"system","gen_ai.prompt.0.content":"Help.","gen_ai.prompt.1.role":"user","gen_ai.prompt.1.content":"Hi?","gen_ai.completion.0.role":"assistant","gen_ai.completion.0.content":"No."}}`,
	"Phoenix":           `{"time":"1764000000","user_id":"ana","attributes":{"llm.model_name":"m","llm.input_messages.0.message.role":"user","llm.input_messages.0.message.content":"Hi?","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"No."}}`,
	"Vercel":            `{"time":"1764000000","user_id":"ana","model":"m","attributes":{"ai.prompt.messages":"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi?\"}]}]","ai.response.text":"No.","ai.response.finishReason":"stop"}}`,
	"JSON as text":      `{"time":"1764000000","properties":"{\"user_id\":\"ana\",\"model\":\"m\",\"prompt\":\"Hi?\",\"response\":\"No.\"}"}`,
	"CSV of numbers":    "time,user_id,model,gen_ai.prompt.0.role,gen_ai.prompt.0.content,gen_ai.completion.0.content\n1764000000,ana,m,user,Hi?,No.\n",
	"CSV of objects":    "time,user_id,model,properties\n2025-11-24,ana,m,\"{\"\"$ai_input\"\":[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"Hi?\"\"}],\"\"$ai_output_choices\"\":[{\"\"role\"\":\"\"assistant\"\",\"\"content\"\":\"\"No.\"\"}]}\"\n",
	"API Management":    `{"time":"1764000000","user_id":"ana","model":"m","RequestBody":"{\"messages\":[{\"role\":\"user\",\"content\":\"Hi?\"}]}","ResponseBody":"{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"No.\"}}]}"}`,
	"CSV of JSON":       "time;user_id;model;messages;response\n2025-11-24;ana;m;\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"Hi?\"\"}]\";\"{\"\"choices\"\":[{\"\"message\"\":{\"\"content\"\":\"\"No.\"\"}}]}\"\n",
}

// exchanges reads all of a log.
func exchanges(path string, stdin io.Reader, columns rows.ExchangeColumns) (all []rows.Exchange, notes []string, err error) {
	log, err := rows.OpenLog(path, stdin, columns)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	for r, err := range log.Records {
		if err != nil {
			return nil, nil, err
		}
		e, err := r.Exchange()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, e)
	}
	return all, log.Notes, log.Check(true, true, nil)
}

// TestLogShapes reads each shape by its content alone, plain and packed, from a file whose
// name says nothing and from a stream.
func TestLogShapes(t *testing.T) {
	t.Parallel()
	pack := map[string]func([]byte) []byte{
		"plain": func(b []byte) []byte { return b },
		"gzip": func(b []byte) []byte {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			w.Write(b)
			w.Close()
			return out.Bytes()
		},
		"zstd": func(b []byte) []byte {
			w, _ := zstd.NewWriter(nil)
			return w.EncodeAll(b, nil)
		},
	}
	for name, text := range shapes {
		for packing, pack := range pack {
			t.Run(name+" "+packing, func(t *testing.T) {
				t.Parallel()
				content := pack([]byte(text))
				path := filepath.Join(t.TempDir(), "chat.log")
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				for _, from := range []string{path, "-"} {
					all, notes, err := exchanges(from, bytes.NewReader(content), rows.ExchangeColumns{})
					if err != nil || len(all) != 1 {
						t.Fatalf("%s: %d exchanges, %v", from, len(all), err)
					}
					e := all[0]
					if e.Prompt != "Hi?" || e.Reply != "No." || e.User != "ana" || e.Model != "m" || e.Time == "" || e.Lacks != "" {
						t.Errorf("%s: %+v", from, e)
					}
					if refusal := name == "OpenAI refusal"; (e.Block != nil) != refusal {
						t.Errorf("%s: the block is %+v", from, e.Block)
					}
					if spans := name == "OTLP spans"; (len(notes) == 1) != spans {
						t.Errorf("%s: notes %q", from, notes)
					}
				}
			})
		}
	}
}

// TestShapesAreAnswers reads the logs of products as recorded answers.
func TestShapesAreAnswers(t *testing.T) {
	t.Parallel()
	shapes := maps.Clone(shapes)
	shapes["LangSmith"] = `{"user_id":"ana","inputs":{"messages":[[{"lc":1,"type":"constructor","kwargs":{"content":"Hi?","type":"human"}}]]},"outputs":{"generations":[[{"text":"No.","message":{"kwargs":{"content":"No.","type":"ai"}}}]]}}`
	shapes["Phoenix list"] = `{"attributes":{"llm.input_messages":[{"message.role":"user","message.content":"Hi?"}],"llm.output_messages":[{"message.role":"assistant","message.content":"No."}]}}`
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ending := ".csv"
			if text[0] == '{' {
				ending = ".jsonl"
			}
			path := filepath.Join(t.TempDir(), "chat"+ending)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := rows.OpenAnswers(path, func(string, []string, func(string) bool) (rows.Layout, error) {
				return rows.Layout{Exchange: &rows.ExchangeColumns{Recorded: true}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := f.Next()
			switch {
			case slices.Contains([]string{"OpenAI refusal", "chunks of text"}, name): // an image in the prompt, and texts that may be several answers
				if !errors.Is(err, orbench.ErrInput) {
					t.Errorf("%+v, %v", r.Exchange, err)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			asked := r.Exchange.Asked
			if r.Exchange.Reply != "No." || asked[len(asked)-1] != (orbench.Message{Role: orbench.User, Content: "Hi?"}) {
				t.Errorf("%+v", r.Exchange)
			}
			if _, err := f.Next(); err != io.EOF {
				t.Errorf("a second answer, %v", err)
			}
		})
	}
}

// TestLogRows reads what is no exchange of texts for what it is.
func TestLogRows(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		`{"prompt":"Hi?","response":""}`: "Hi?||",
		`{"prompt":"","response":"No."}`: "|No.|" + rows.LacksPrompt,
		`{"span":"x"}`:                   "||" + rows.LacksBoth,
		`{"messages":[{"role":"user","content":"Hi?"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}]}`:                                                          "Hi?||" + rows.LacksTool,
		`{"messages":[{"role":"user","content":"Hi?"},{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"x"},{"role":"assistant","content":"Yes."}]}`:     "Hi?|Yes.|",
		`{"prompt":"Hi?","response":{"type":"message","content":[{"type":"tool_use","name":"x","input":{}}],"stop_reason":"tool_use"}}`:                                         "Hi?||" + rows.LacksTool,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{}}]}],"response":"No."}`:                                                                              "|No.|" + rows.LacksText,
		`{"messages":[{"role":"user","content":"Hi?"},{"role":"assistant","content":"Eh."},{"role":"user","content":[{"type":"tool_result","content":"x"}]}],"response":"No."}`: "Hi?|No.|",
		`{"prompt":"Hi?","response":null,"error":{"message":"timeout"}}`:                                                                                                        "Hi?||" + rows.LacksAnswer,
		`{"prompt":"Hi?","response":{"error":{"code":"content_filter"}}}`:                                                                                                       "Hi?|||prompt_filter",
		`{"prompt":"Hi?","error_str":"ContentPolicyViolationError: no"}`:                                                                                                        "Hi?|||prompt_filter",
		`{"prompt":"Hi?","response":{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}}`:                                                                 "Hi?|||output_filter",
		`{"prompt":"Hi?","response":{"content":[],"stop_reason":"refusal"}}`:                                                                                                    "Hi?|||output_filter",
		`{"prompt":"Hi?","response":"","guardrail_information":[{"guardrail_status":"guardrail_intervened","guardrail_mode":"pre_call"}]}`:                                      "Hi?||||blocked|",
		`{"prompt":"Hi?","response":"No.","guardrail_information":{"guardrail_status":"failure","guardrail_mode":"pre_call"}}`:                                                  "Hi?|No.|",
		`{"prompt":"Hi?","response":"","guardrail_information":{"guardrail_status":"guardrail_intervened","guardrail_mode":"post_call"}}`:                                       "Hi?|||||blocked",
		`{"prompt":"Hi?","response":{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1"}]},"finish_reason":"tool_calls"}]}}`:                                         "Hi?||" + rows.LacksTool,
		`{"prompt":"Hi?","response":{"choices":[{"message":{"tool_calls":[{"id":"1"}]}}]}}`:                                                                                     "Hi?||" + rows.LacksTool,
		`{"prompt":"[1,2]","response":"{\"a\":1}"}`:                                                                                                                             `[1,2]|{"a":1}|`,
		`{"prompt":"Hi?","response":{"type":"message","content":[{"type":"text","text":"Not here."}],"stop_reason":"end_turn","amazon-bedrock-guardrailAction":"INTERVENED"}}`:  "Hi?|Not here.||output_filter",
		`{"prompt":"Hi?","response":{"choices":[{"message":{"content":"Not here."},"finish_reason":"stop"}],"amazon-bedrock-guardrailAction":"INTERVENED"}}`:                    "Hi?|Not here.||output_filter",
		`{"prompt":"Hi?","response":{"type":"message","content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn","amazon-bedrock-guardrailAction":"NONE"}}`:             "Hi?|Yes.|",
		`{"prompt":"Hi?","response":{"answer":"No."}}`:                                                                                                                          "Hi?|No.|",
	} {
		all, _, err := exchanges("-", strings.NewReader(row+"\n"), rows.ExchangeColumns{})
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d, %v", row, len(all), err)
			continue
		}
		e := all[0]
		got := e.Prompt + "|" + e.Reply + "|" + e.Lacks
		if e.Block != nil || e.Before != "" || e.After != "" {
			got += "|"
			if e.Block != nil {
				got += string(e.Block.Kind)
			}
		}
		if e.Before != "" || e.After != "" {
			got += "|" + e.Before + "|" + e.After
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", row, got, want)
		}
	}
}

// TestLogOfMessages joins rows that are messages, or parts of one, of conversations that took
// place at the same time.
func TestLogOfMessages(t *testing.T) {
	t.Parallel()
	const log = `{"conversation_id":1,"role":"system","content":"Help."}
{"conversation_id":1,"role":"user","content":"A?","user_id":"ana","flagged":true}
{"conversation_id":2,"role":"user","content":[{"type":"text","text":"B?"}],"user_id":"bob"}
{"conversation_id":2,"role":"assistant","message_id":"m","content":"Yes, "}
{"conversation_id":1,"role":"assistant","content":"No."}
{"conversation_id":2,"role":"assistant","message_id":"m","content":"b."}
{"conversation_id":1,"role":"user","content":"And C?"}
{"conversation_id":3,"role":"user","content":"D?"}
{"conversation_id":1,"role":"assistant","content":"Yes, c."}
{"conversation_id":4,"role":"keeper","content":"E."}
`
	all, _, err := exchanges("-", strings.NewReader(log), rows.ExchangeColumns{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%d|%s", e.Prompt, e.Reply, e.User, e.Before, len(e.Context), e.Lacks))
	}
	want := []string{
		"A?|No.|ana|true|1|", "And C?|Yes, c.|ana||3|", "B?|Yes, b.|bob||0|", "D?||3||0|", "||4||0|" + rows.LacksRole,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLogColumns finds columns that a user names, also nested ones, in rows of which the
// first lacks some.
func TestLogColumns(t *testing.T) {
	t.Parallel()
	const text = `{"turns":[{"t":"Hi?"},{"t":"No."}],"meta":{"who":{"id":"ana"}}}
{"turns":[{"t":"Hello?"},{"t":"Yes."}]}
`
	all, _, err := exchanges("-", strings.NewReader(text), rows.ExchangeColumns{Prompt: []string{"turns[0].t"}, Reply: []string{"turns[-1].t"}, User: "meta.who.id"})
	if err != nil || len(all) != 2 || all[0].Prompt != "Hi?" || all[1].Reply != "Yes." || all[0].User != "ana" || all[1].User != "" {
		t.Errorf("%+v, %v", all, err)
	}
	late := `{"prompt":"Hi?"}` + "\n" + `{"prompt":"Hi?","out":{"text":"No."},"who":"ana"}` + "\n"
	all, _, err = exchanges("-", strings.NewReader(late), rows.ExchangeColumns{Reply: []string{"out.text"}, User: "who"})
	if err != nil || len(all) != 2 || all[1].Reply != "No." || all[1].User != "ana" {
		t.Errorf("%+v, %v", all, err)
	}
	named := `{"user_prompt":"Hi?","model_response":"No.","prompt_id":"a"}` + "\n"
	if all, _, err = exchanges("-", strings.NewReader(named), rows.ExchangeColumns{}); err != nil || len(all) != 1 || all[0].Prompt != "Hi?" || all[0].Reply != "No." {
		t.Errorf("%+v, %v", all, err)
	}
	// What no row of the first thousand has is not looked for to the end.
	long := strings.Repeat(`{"prompt":"Hi?","response":"No."}`+"\n", 1000) + "{"
	if _, _, err = exchanges("-", strings.NewReader(long), rows.ExchangeColumns{User: "who"}); err == nil || !strings.Contains(err.Error(), `no column "who"`) {
		t.Errorf("%v", err)
	}
	_, _, err = exchanges("-", strings.NewReader(text), rows.ExchangeColumns{User: "meta.id"})
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), `no column "meta.id" among "meta", "turns"`) {
		t.Errorf("%v", err)
	}
}

// TestLogContext keeps what was said before a message, and knows no role that nobody named.
func TestLogContext(t *testing.T) {
	t.Parallel()
	roles := map[string]string{"shopper": "user", "shopbot": "assistant"}
	for text, want := range map[string]string{
		`{"messages":[{"role":"system","content":"Sell eggs."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"Eggs?"}],"response":"No."}`: "system: Sell eggs.|user: Hi|assistant: Hello.|Eggs?|No.|",
		`{"request":{"system":"Sell eggs.","messages":[{"role":"user","content":"Eggs?"}]},"response":"No."}`:                                                                               "system: Sell eggs.|Eggs?|No.|",
		`{"system_prompt":"Sell eggs.","prompt":"Eggs?","response":"No."}`:                                                                                                                  "system: Sell eggs.|Eggs?|No.|",
		`{"messages":[{"sender":"shopbot","text":"Hello."},{"sender":"Shopper","text":"Eggs?"},{"sender":"shopbot","text":"No."}]}`:                                                         "assistant: Hello.|Eggs?|No.|",
		`{"messages":[{"type":"human","content":"Eggs?"},{"type":"ai","content":"No."}]}`:                                                                                                   "Eggs?|No.|",
		`{"messages":[{"type":"human","data":{"content":"Eggs?"}},{"type":"ai","data":{"content":"No."}}]}`:                                                                                 "Eggs?|No.|",
		`{"request_body":{"messages":[{"role":"user","content":"Eggs?"}]},"response_body":{"choices":[{"message":{"content":"No."}}]}}`:                                                     "Eggs?|No.|",
		`{"turns":[{"speaker":"user","text":"Eggs?"},{"author":"assistant","text":"No."}]}`:                                                                                                 "Eggs?|No.|",
		`{"user_input":"Eggs?","response":null,"chunks":["N","o."]}`:                                                                                                                        "Eggs?|No.|",
		`{"messages":[{"role":"user","content":"Eggs?"},{"role":"keeper","content":"No."}]}`:                                                                                                "Eggs?||" + rows.LacksRole,
		`{"prompt":"Eggs?","response":{"choices":[{"messages":[{"role":"tool","content":"{}"},{"role":"assistant","content":"No."}]}]}}`:                                                    "Eggs?|No.|",
		`{"messages":[{"role":"buyer","content":"Eggs?"}],"response":"No."}`:                                                                                                                "|No.|" + rows.LacksRole,
	} {
		all, _, err := exchanges("-", strings.NewReader(text+"\n"), rows.ExchangeColumns{Roles: roles})
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d, %v", text, len(all), err)
			continue
		}
		got := ""
		for _, m := range all[0].Context {
			got += string(m.Role) + ": " + m.Content + "|"
		}
		if got += all[0].Prompt + "|" + all[0].Reply + "|" + all[0].Lacks; got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestDamagedLogs refuses damaged logs with the place of the fault, and reads no more memory
// than a row may have.
func TestDamagedLogs(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(bytes.Repeat([]byte(`{"prompt":"a","response":"b"}`+"\n"), 10_000))
	w.Close()
	for name, c := range map[string]struct {
		in   io.Reader
		want string
	}{
		"empty":           {strings.NewReader(""), "the file is empty"},
		"cut JSON":        {strings.NewReader("{\"prompt\":\"a\",\"response\":\"b\"}\n{\"prompt\":\"a\n"), "standard input:2: malformed JSON"},
		"cut gzip":        {bytes.NewReader(packed.Bytes()[:packed.Len()-20]), "cannot unpack the file: unexpected EOF"},
		"no gzip":         {strings.NewReader("\x1f\x8b\x08\x00"), "cannot unpack the file"},
		"no zstd":         {strings.NewReader("\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff"), "cannot unpack the file"},
		"Parquet":         {strings.NewReader("PAR1 and more"), "cannot be read from a stream"},
		"ZIP":             {strings.NewReader("PK\x03\x04 and more"), "cannot be read from a stream"},
		"bytes":           {strings.NewReader("{\"prompt\":\"\xff\",\"response\":\"b\"}\n"), "invalid UTF-8"},
		"twice":           {strings.NewReader(`{"prompt":"a","response":"b"}` + "\n" + `{"prompt":"a","prompt":"b"}`), `standard input:2: "prompt" is there twice`},
		"no OTLP":         {strings.NewReader(`{"resourceSpans":[{"scopeSpans":7}]}`), "not in the form of this log"},
		"cut OTLP":        {strings.NewReader(`{"resourceSpans":[{"scopeSpans":[`), "ends too soon"},
		"a row of 200 MB": {io.MultiReader(strings.NewReader(`{"prompt":"`), io.LimitReader(letters{}, 200<<20), strings.NewReader(`"}`)), "more than 4194304 bytes"},
		"a long text":     {strings.NewReader(`{"prompt":"` + strings.Repeat("a", rows.MaxCell+1) + `","response":"b"}`), "a text has more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := exchanges("-", c.in, rows.ExchangeColumns{})
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// letters is an endless text.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// FuzzLog reads any text as a log: it is refused as an input, or read.
func FuzzLog(f *testing.F) {
	for _, text := range shapes {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := exchanges("-", strings.NewReader(text), rows.ExchangeColumns{}); err != nil && !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%v", err)
		}
	})
}
