package model

import "strings"

// thinkTags are the pairs of tags in which open reasoning models write their
// thinking into the answer itself.
var thinkTags = [][2]string{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<reasoning>", "</reasoning>"},
}

// CutThinking parts an answer from the thinking at its start. It knows leading
// tagged blocks, a block that the token limit left open (then the answer is
// empty), and a closing tag without an opening one, which some chat templates
// leave behind. Tags later in the text belong to the answer.
func CutThinking(text string) (answer, thinking string) {
	var blocks []string
	answer, cut := text, false
	// A model may think again at once; each block is cut.
	for {
		block, rest, ok := cutBlock(answer)
		if !ok {
			break
		}
		if block = strings.TrimSpace(block); block != "" {
			blocks = append(blocks, block)
		}
		answer, cut = strings.TrimLeft(rest, thinkSpace), true
	}
	if cut {
		return answer, strings.Join(blocks, "\n")
	}
	if before, after, ok := strings.Cut(text, "</think>"); ok && !strings.Contains(before, "<think>") {
		return strings.TrimLeft(after, thinkSpace), strings.TrimSpace(before)
	}
	return text, ""
}

// thinkSpace is the white space around tags.
const thinkSpace = " \t\r\n"

// cutBlock cuts one tagged block from the start of a text. A block left open
// takes all of it.
func cutBlock(text string) (block, rest string, ok bool) {
	trimmed := strings.TrimLeft(text, thinkSpace)
	for _, tag := range thinkTags {
		if inside, ok := strings.CutPrefix(trimmed, tag[0]); ok {
			block, rest, _ = strings.Cut(inside, tag[1])
			return block, rest, true
		}
	}
	return "", text, false
}
