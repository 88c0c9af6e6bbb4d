-- 1: the first schema.
CREATE TABLE calls (
    id       INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL,
    request  TEXT NOT NULL,
    response TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX calls_by_hash ON calls (hash);

CREATE TABLE failures (
    hash    BLOB PRIMARY KEY,
    kind    TEXT NOT NULL,
    message TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    name   TEXT PRIMARY KEY,
    config TEXT NOT NULL,
    saved  INTEGER NOT NULL -- Unix nanoseconds
) STRICT;
