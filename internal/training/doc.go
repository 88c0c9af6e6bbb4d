// Package training makes training sets of the answers of a run, so that a model
// learns to answer safe prompts without forgetting to refuse toxic ones.
//
// Collect takes a run apart into prompts with their graded answers and screens the
// prompts: by their labels, by the form that is wanted, and against evaluation sets,
// whose prompts and near duplicates must not be trained on. Where moderators are
// named, Collection.Work says what they are to be asked about the answers, and
// Collection.Moderate reads their votes. Collection.Select pairs answers, parts the
// prompts into splits so that no seed is on two sides, and holds the ratio of safe to
// toxic; Set.Write writes the folder. Check proves of it again, and of any folder, that
// its prompts are apart from the evaluation sets and from each other across splits.
//
// On a safe prompt a full answer is chosen and a refusal of the target, which is the
// model to be trained, rejected; on a toxic one a refusal is chosen and an answer
// rejected. Every prompt and every answer of the run ends up written or left out for
// one Cause: the counts add up.
package training
