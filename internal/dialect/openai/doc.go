// Package openai speaks the OpenAI chat dialect, which most providers and every
// local server offer: POST BASE/chat/completions, without streaming.
//
// A client makes one attempt a call. It knows the differences between servers
// that can change what an answer means: content as a string or as parts,
// thinking under its several names or inside the answer, filters that speak
// through a finish reason, a refusal field, an HTTP 400 or 403, or a reply
// without choices, and errors under status 200. Those are documented where they
// are read. What is withheld is a response with Finish Blocked; an answer that
// was paid for is never thrown away for an odd field beside it.
//
// # Why not the SDK
//
// This is the hot path of every run. Against a loopback server that answers at
// once with 1 KB, 32 calls at a time on two cores, a bare net/http and JSON loop
// made 17,900 calls per second; this package reached 1.00 of that rate and the
// official SDK (openai-go/v3 3.44.0) 0.44, the medians of nine runs on a machine
// with other work (0.78 to 1.03, and 0.40 to 0.48). The SDK allocates 279 times
// and 36 KB a call, this package 107 times and 9.5 KB.
// BenchmarkRatio measures it anew:
//
//	go test -tags sdk ./model/openai -run '^$' -bench Ratio
package openai
