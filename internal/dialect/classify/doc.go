// Package classify asks servers that put labels on a text: by /predict of
// text-embeddings-inference and /classify of vLLM, by which classifiers of refusals
// such as Minos are served, by /moderations of OpenAI, and any other by a Description.
//
// A request is a model.Request with one user message, the text, and without
// parameters. The Text of the response is JSON, a list of labels with their scores
// as the server wrote them, the highest first:
//
//	[{"label":"Refusal","score":0.98},{"label":"Non-refusal","score":0.02}]
//
// A server that decides for itself what to flag has that at its labels, as "flagged", or
// of the whole text at the label Decision.
//
// The forms are those of TEI's docs/openapi.json (1.7) and of vLLM's
// entrypoints/pooling/classify/protocol.py (0.15); that of vLLM names the highest
// label alone. That of OpenAI is its API reference's (omni-moderation-latest, text).
package classify
