// Package versus compares two who spoke of the same items: targets, variants,
// samples, runs, judges, people or moderators.
//
// Pairs counts the items by what each said of them, and estimates the difference.
// There is one counter, one interval and one test, so the same two have the same
// difference wherever it is shown. Items may share clusters, and each side may have
// said something several times. Pairs keeps no item.
package versus
