// Package recorded judges files of recorded answers and measures judges on
// them: how often each finds a refusal, how far they agree with each other, and
// how far they agree with people if the file has people's labels. A [Judged] is
// such a file, opened from its path or from a store, which keeps the answers. A
// [Result] is what the judges made of it, counted and shown.
package recorded
