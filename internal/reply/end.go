package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench/model"
)

// end is an entry of ends.json: words for how an answer ended, and for what withheld it, as
// providers, gateways and tools write them, with underscores for spaces and hyphens. The first
// entry counts.
type end struct {
	As model.Finish `json:"as"`
	// Words are whole words, Within what stands in others, such as in "content_filter: SAFETY".
	Words  []string `json:"words"`
	Within []string `json:"within"`
	Entry
}

var ends = load[end]("ends.json")

// End says how an answer ended, from the word for it. It is empty for an empty word.
func End(word string) (model.Finish, *model.Block) {
	lower := strings.ToLower(strings.Trim(word, `[]"' `))
	if lower == "" || lower == "null" || lower == "none" {
		return "", nil
	}
	lower = strings.NewReplacer(" ", "_", "-", "_").Replace(lower)
	last := lower[strings.LastIndexByte(lower, '.')+1:]
	within := func(w string) bool { return strings.Contains(lower, w) }
	i := slices.IndexFunc(ends(), func(e end) bool {
		return slices.Contains(e.Words, lower) || slices.Contains(e.Words, last) || slices.ContainsFunc(e.Within, within)
	})
	if i < 0 {
		return model.OtherFinish, nil
	}
	if ends()[i].As == model.Blocked {
		return model.Blocked, &model.Block{Kind: model.OutputFilter, Detail: word}
	}
	return ends()[i].As, nil
}

// failures reports whether a text may be no answer: every longer one that is none has one of these
// words.
var failures = oneOf("error", "fail", "exceed", "reached", "unavailable", "upstream", "timed out", "timeout", "overloaded", "throttled", "busy", "loading", "exhausted", "connection", "traceback", "memory", "went wrong", "not found", "not available", "does not exist", "unauthor", "forbidden", "unable to", "could not", "gateway", "retr", "cloudflare", "denied", "moment", "deadline", "disconnected", "no response", "no answer", "empty", "hit", "invalid", "too long", "too many", "exception", "unexpected", "out of range", "undefined", "rate limited", "aborted", "cancel", "iteration limit", "max iterations", "gone wrong", "quota", "object at ", "object is not", "object has", "[object", "cannot connect", "cannot reach", "cannot contact", "cannot read", "errno", "false", "tool", "function", "action input", "maximum context", "context size", "model length", "crashed", "(char ", "runner process", "models loaded", "too large", "quick accessor", "having t", "not completed", "must be integers", "an issue", "internal:", "has unexpectedly", "not provided", "max_length", "available workers", "balance is too low", "api key", "dial tcp", "try again", "trying again", "again later", "lost", "ended prem", "ended unexp", "ended before", "expired", "experiencing", "parsed", "slow down", "eof", "desc =", "_verify_", "servname", "no endpoints", "not return", "not respond", "not known", "enotfound", "econn", "status code", " at 0x", "stream closed", "ran out", "on our side", "on our end", "status 4", "status 5", "returned 4", "returned 5", "run out", "used up", "not running", "is dead", "was produced", "were produced", "queue is full", "been paused", "cold start", "took too long", "stopped after", "killed after", "ended without", "unknown model", "unknown provider", "unknown endpoint", "maximum number", "max number", "unexpected end", "closed the ", "taking longer", "preempted", "nonetype", "llama_decode", "\"status\"", "เกิดข้อผิดพลาด", "出错", "负载", "発生", "allowed providers", "not active", "\"loc\"", "失败", "异常", "错误", "繁忙", "超时", "不可用", "频繁", "过多", "为空", "不足", "中断", "断开", "无响应", "故障", "拥挤", "过期", "无法", "切断", "混雑", "에러", "끊", "エラー", "失敗", "タイムアウト", "できません", "오류", "실패", "못했", "초과", "없습니다")

// IsValue reports whether a text is a value, and not a mark of a missing one.
func IsValue(text string) bool { return Missing(text, model.Response{Finish: model.Stop}) == "" }

// Missing says why a response has no answer; empty for one that has, or whose token limit cut it.
func Missing(text string, response model.Response) string {
	trimmed := strings.Trim(text, " \t\n\r\v\f\u00a0\u200b\ufeff")
	switch {
	case response.Finish == model.Called:
		return "a call of a tool"
	case response.Finish == model.Broken:
		return "it broke off"
	case trimmed == "" && response.Finish == model.Length:
		return ""
	case trimmed == "" && strings.TrimSpace(response.Thinking) != "":
		return "reasoning alone"
	case trimmed == "":
		return "no text"
	case !strings.ContainsFunc(trimmed, func(r rune) bool { return r != '\ufffd' && r != '█' && !unicode.IsPunct(r) && !unicode.IsSpace(r) }):
		return "no words"
	case len(trimmed) > longest && !strings.HasPrefix(strings.ToLower(trimmed[:9]), "traceback") && trimmed[0] != '<' || len(trimmed) > 16*longest:
		return ""
	}
	lower := strings.ToLower(trimmed)
	fault := len(lower) < 250 && failing(lower)
	if len(lower) > 24 && !fault && !failures(lower) {
		return ""
	}
	// This comes first, because it takes less time than the expressions for such sentences.
	sentence := strings.ContainsAny(trimmed, "{}[]<>_=/`\"\n") || strings.Contains(" "+trimmed, " '") || !strange(trimmed, "error")
	for i := range noAnswers() {
		n := &noAnswers()[i]
		says := fault && n.Sentence && n.Texts == nil || (sentence || !n.Sentence) && n.texts(lower)
		if says && !n.not(lower) {
			return n.Name
		}
	}
	return ""
}
