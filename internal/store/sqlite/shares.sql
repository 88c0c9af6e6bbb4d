-- 9: what commands and workers take of what is spent on a study.
CREATE TABLE shares (
    study TEXT NOT NULL,
    id    TEXT NOT NULL,    -- empty for what was spent before
    place TEXT NOT NULL,    -- where the process runs, and
    pid   INTEGER NOT NULL, -- its number there; see process.go
    until INTEGER NOT NULL, -- Unix nanoseconds, until when it is at work unless it says so again
    share TEXT NOT NULL,    -- store.Share in JSON
    PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;
