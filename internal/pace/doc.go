// Package pace spreads calls over time as the provider of a model lets them be made: it
// learns the rate from what becomes of calls, alone or together with other processes.
//
// A Pacer is in one of four states.
//
//   - Free: calls go at once. A share of rejects of 15% among the last 48 to 64 outcomes leads
//     to a rate: what was accepted meanwhile, less 5%.
//   - On trial: the rate stays as it was set. A sequential test (Wald) compares the share of
//     rejects P before with that since: it stayed P, fell to P/4, or rose to 3P. P is at most
//     the share of the last 512 outcomes, since a share that is high by chance falls by itself;
//     for a limit that shows late it is at most 10%. The odds are 20 to 1. If the share fell,
//     the rate helps and is paced. If it rose, the rate is lowered again and tried. If it
//     stayed, twice in a row, rejects are not for the rate: it is let go, for 1,000 answers,
//     then 2,000, up to 16,000, and P is taken as noise.
//   - Paced: the rate grows by the factor 1 + 0.1x³, as CUBIC does for TCP (RFC 9438), where
//     x is the number of answers divided by 32, and no more than the time divided by 1 s (by
//     a minute where the limit shows late, as one by the minute: it was closed for 5 s, or
//     its headers tell of a window as long). Below the highest rate of the last minute it
//     grows by time, x counting 2 s. A reject lowers it by 7%, or to the rate at which calls
//     were accepted during the last second, but by a sixth at most; and begins a trial.
//     Where several processes ask together, it lowers by twice as much. A first rate that
//     was measured over less than 5 s doubles every 4 answers until the next reject. From
//     eight times the growth on it is free.
//   - Closed: one call at a time is tried, when the provider asks for it or after half the time
//     that it has been closed. The first that is accepted opens it, at the rate since the last
//     opening. After less than 5 s, the rate is lowered by the share of rejects since that opening
//     instead, and by 7% at least; a first rate that was doubled falls back to the rate since
//     that opening, but not below the one that was measured. After fewer than ten calls since
//     then, the rate is at least half of the one before. It closes where nearly all of the calls sent last are rejected:
//     6 of 8, or 3 of 4 while a rate that helps is kept.
//
// Rejects come back sooner than answers. So "sent last" goes by the order of sending, and a
// reject counts for a share once a call that was sent after it is accepted. One reject waits by
// itself, for as long as the provider asks, and never counts as a rate.
//
// Where all calls that were sent with more others under way than any accepted one are
// rejected, and few others, the provider has room for so many calls at once. This is told to
// who bounds their number, and leaves the rate alone.
package pace
