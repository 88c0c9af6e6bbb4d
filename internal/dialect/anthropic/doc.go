// Package anthropic speaks Anthropic's Messages dialect
// (https://docs.claude.com/en/api/messages) over net/http. A client makes one
// attempt with the key it was given. With the build tag sdk a test holds what it
// sends and reads to the official SDK, which takes longer to compile than all of
// this project.
//
// The stop reason "refusal" is a block, as is the HTTP 400 with which the
// provider's output filter answers. Thinking blocks are kept apart from the
// answer.
package anthropic
