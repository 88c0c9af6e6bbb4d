// Package classify asks servers that put labels on a text, by the routes of two of
// them: /predict of text-embeddings-inference and /classify of vLLM. Classifiers of
// refusals, such as Minos, are served so.
//
// A request is a model.Request with one user message, the text, and without
// parameters. The Text of the response is JSON, a list of labels with their scores
// as the server wrote them, the highest first:
//
//	[{"label":"Refusal","score":0.98},{"label":"Non-refusal","score":0.02}]
//
// The forms are those of TEI's docs/openapi.json (1.7) and of vLLM's
// entrypoints/pooling/classify/protocol.py (0.15); that of vLLM names the highest
// label alone.
package classify
