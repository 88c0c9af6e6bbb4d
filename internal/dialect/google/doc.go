// Package google speaks the Gemini dialect
// (https://ai.google.dev/api/generate-content) over net/http. A client makes one
// attempt with the key it was given. With the build tag sdk a test holds what it
// sends and reads to the official SDK, which brings sixty packages along.
//
// As in the published protocol (OR-Bench, arXiv 2405.20947), the four adjustable
// safety filters are set to BLOCK_NONE, so that a refusal is the model's own.
// What the provider still withholds is a block: a block reason of the prompt, a
// finish reason such as SAFETY, PROHIBITED_CONTENT or RECITATION, and a reply
// without any candidate. The civic integrity category is left out: the provider
// has retired it. Parts marked as thoughts are kept apart from the answer.
package google
