// Package defense implements layers between a user's prompt and a model, so that an
// evaluation can measure what each layer costs on safe prompts and gains on toxic ones.
//
// A Defense is a ladder of steps. Like a judge, it is a pure function of a target, a
// prompt and the replies that are there. It calls no model itself, and says which
// requests are missing. The steps of a ladder always act in this order:
//
//	input-guard      may withhold the prompt
//	icl              puts refused requests before the prompt
//	self-reminder    puts words of care around the prompt
//	smoothllm        asks with perturbed copies of the prompt and takes a vote
//	response-check   may withhold the answer
//	output-guard     may withhold the answer
//
// If a step withholds something, the response is blocked: its Block has the kind
// BlockKind and names the step. A step that cannot decide lets pass. The Outcome then has
// a Finding with the decision Failed, so that a report can count it on either side.
//
// The package also has ways of asking that are no defense: named system prompts, and
// framings before or after a prompt.
//
// Sources: icl is the in-context defense of Wei et al. 2023 (arXiv 2310.06387),
// self-reminder is from Xie et al. 2023 (Nature Machine Intelligence 5, 1486), smoothllm
// from Robey et al. 2023 (arXiv 2310.03684), and response-check from Phute et al. 2023
// (arXiv 2308.07308). The wordings are this project's own.
package defense
