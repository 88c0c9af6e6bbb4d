-- 6: the calls that a process is about to make, for others to leave alone.
CREATE TABLE claims (
    owner  TEXT NOT NULL,    -- a handle of the store
    number INTEGER NOT NULL, -- memo.Claim.ID
    place  TEXT NOT NULL,    -- where the process runs, and
    pid    INTEGER NOT NULL, -- its number there; see process.go
    until  INTEGER NOT NULL, -- Unix nanoseconds
    hashes BLOB NOT NULL,    -- one after another
    PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID;
