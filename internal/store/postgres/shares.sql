-- 6: what commands and workers take of what is spent on a study.
CREATE TABLE shares (
    study BYTEA NOT NULL,
    id    BYTEA NOT NULL,  -- empty for what was spent before
    place BYTEA NOT NULL,  -- where the process runs, and
    pid   BIGINT NOT NULL, -- its number there; see process.go
    until BIGINT NOT NULL, -- Unix nanoseconds, until when it is at work unless it says so again
    share BYTEA NOT NULL,  -- store.Share in JSON
    PRIMARY KEY (study, id)
);
-- What a fill has taken is in shares. These are now the most that the next call could have
-- taken where its budget was spent.
UPDATE fills SET requests = 0, tokens = 0, usd = 0;
