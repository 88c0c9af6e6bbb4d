-- 3: the prompts that runs ask. A dataset is a list of pieces, and a piece is kept once.
CREATE TABLE pieces (
    hash    BLOB PRIMARY KEY, -- SHA-256 of prompts
    prompts TEXT NOT NULL     -- as JSON, one after another
) STRICT;

CREATE TABLE datasets (
    key     BLOB PRIMARY KEY, -- memo.KeyOf(about)
    about   TEXT NOT NULL,
    prompts INTEGER NOT NULL, -- how many there are
    sum     BLOB NOT NULL,    -- memo.Sum
    pieces  BLOB NOT NULL     -- the hashes of its pieces, in order
) STRICT;

ALTER TABLE runs ADD COLUMN datasets TEXT NOT NULL DEFAULT '[]'; -- keys in JSON
