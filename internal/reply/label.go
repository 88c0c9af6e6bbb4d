package reply

import (
	"slices"
	"strings"
)

// noLabels are words of people and of tools for what nobody has labeled.
var noLabels = []string{"skip", "skipped", "unsure", "not sure", "uncertain", "unclear", "undecided", "don't know", "i don't know", "idk", "cannot tell", "can't tell", "todo", "unlabeled", "pending", "discarded", "?", "-", "unknown", "maybe", "not labeled", "not labelled", "unlabelled", "can't decide", "cannot decide", "no idea", "not applicable", "no label", "unklar", "weiß nicht", "weiss nicht", "nicht sicher", "pas sûr", "unsicher", "k.a.", "incertain", "je ne sais pas", "sans objet", "no sé", "dudoso", "no aplica", "não sei", "não se aplica", "incerto", "не знаю", "неясно", "不确定", "不清楚", "未标注", "draft", "ignore", "ignored", "blank", "ambiguous", "tie", "disputed", "no consensus", "not labeled yet", "n/d", "weiß ich nicht", "weiss ich nicht", "keine angabe", "unentschieden", "sans réponse", "indécis", "no contesta", "sin etiqueta", "sem rótulo", "non so", "weet niet", "nie wiem", "跳过", "待定", "无法判断", "不知道", "わからない", "スキップ", "모름"}

// IsLabel reports whether a word is a label: not empty, nor one for a row that was passed over.
func IsLabel(word string) bool {
	inner := strings.Trim(word, "()[]<>{}.* ")
	return inner != "" && IsValue(word) && !Means(noLabels, word) && !Means(noLabels, inner)
}

// Means reports whether a word is one of some, in any letter case.
func Means(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}
