// Package sim is simulated language models and a server for them, for demos,
// tests and dry runs without a key or a network.
//
// A simulated model has a persona, from permissive to prudish. It reads the
// prompt: words of harm, people they are aimed at, what the sentence asks for
// and the company that words keep make up an alarm, and the persona says at
// which alarm the model warns, gives a part, changes the subject or refuses. A
// little noise that follows from the seed and the prompt makes the rates smooth.
// So the personas lie along a trade-off curve between over-refusal and toxic
// refusal as real models do, and the same seed and request give the same answer.
//
// The answers are placeholders. They hold no help with anything, and all of them
// end in "[simulated]". More models complete the set, one for each part that a
// model plays beside that of the target. All of them err now and then:
//
//	judge              gives verdicts on answers when it is sent the prompt of
//	                   package judge
//	generator          makes toxic seeds and safe rewrites for package generator
//	moderator-a, -b, -c  vote on what a prompt, or an answer, is for package moderate
//	uncensored         answers everything, with placeholders for what would do harm
//	instant            says one constant sentence, for measuring everything around it
//
// New makes a model in the process. NewHandler and Serve offer all of them over
// HTTP in the OpenAI chat dialect, with the faults that providers have: see
// Faults.
//
// It is no benchmark of anything: what a persona does on a dataset says
// nothing about models that exist.
package sim
