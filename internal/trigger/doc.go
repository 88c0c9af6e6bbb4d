// Package trigger finds the words of prompts that turn an answer into a refusal.
//
// A seed splits the prompts that a target refuses into two halves. Words are found on the
// first half by delta debugging (Zeller and Hildebrandt 2002, IEEE TSE 28:183-200). It
// deletes content words, by halves and their halves, until it has a smallest set without
// which the target answers. Then it continues with the words outside of that set. The
// sets found are tried on the second half in three ways. Each set is deleted from the
// prompts that contain it; as a control, as many other content words of the same prompt
// are deleted. It is exchanged for harmless stand-ins. And it is inserted into prompts
// that were answered, in place of another word; as a control, the stand-in takes that
// place.
//
// A word is found because it flipped a verdict, so it flips fewer when it is tried again.
// Only the second half gives an honest rate. A target that changes its mind at any change
// of a prompt also flips in the controls.
//
// The target is asked each question as an evaluation would ask it, and replies are
// remembered in the same way. The number of questions for each prompt is bounded. The
// next question depends on earlier replies, so a Study lists the replies it lacks until
// there are none. Its Result follows from prompts, settings and replies alone.
package trigger
