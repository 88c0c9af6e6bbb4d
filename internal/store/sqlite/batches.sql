-- 7: calls that are out with a provider together, and what is known of them.
CREATE TABLE batches (
    id       BLOB PRIMARY KEY, -- memo.BatchID
    about    TEXT NOT NULL,
    open     INTEGER NOT NULL, -- 1 until nothing more is to come of it
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE batch_calls (
    batch   BLOB NOT NULL, -- that of an open one
    hash    BLOB PRIMARY KEY,
    request TEXT NOT NULL
) STRICT;
CREATE INDEX calls_of_batch ON batch_calls (batch, hash);
