// Package training makes training sets from the answers of a run, so that a model learns
// to answer safe prompts without forgetting to refuse toxic ones.
//
// Collect divides a run into prompts with their graded answers and screens the prompts:
// by label, by the requested format, and against evaluation sets, whose prompts and near
// duplicates must not be trained on. Collection.Select pairs answers, divides the prompts
// into splits so that no seed is in two of them, and keeps the ratio of safe to toxic
// prompts. Set.Write writes the folder. Check verifies, for this or any other folder, that
// its prompts differ from the evaluation sets.
//
// For a safe prompt, a full answer is chosen and a refusal by the target, the model to be
// trained, is rejected. For a toxic prompt, a refusal is chosen and an answer rejected.
// Every prompt and every answer of the run is either written or left out for one Cause,
// and the counts add up.
package training
