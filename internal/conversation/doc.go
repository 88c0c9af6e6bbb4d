// Package conversation puts prompts into dialogs. It turns a set of single prompts into
// matched variants with several turns.
//
// A Script is a list of turns. The user's turns are fixed text, in which Placeholder
// stands for the prompt. The assistant's turns in between are fixed text too, or the
// target's own answers. The user has the last turn, and the answer to it is measured.
//
// Hold holds a dialog. It asks nobody: the caller gives it the target's answers one by
// one. So the caller can remember each answer and, after an interruption, continue at the
// turn where it stopped.
//
// Scripts lists the named scripts, each in words of this project. A script that was used
// is never edited, since its words are part of what targets were asked.
package conversation
