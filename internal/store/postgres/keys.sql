-- 4: what workers learn together of the providers that they ask with one key.
CREATE TABLE key_salt (
    one  BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    salt BYTEA NOT NULL -- random, so that digests of keys are of this store alone
);
CREATE TABLE paces (
    name  TEXT PRIMARY KEY, -- provider, endpoint, model and the digest of the key
    state BYTEA NOT NULL,   -- what fill has learned
    kept  TIMESTAMPTZ NOT NULL
);
DELETE FROM rates; -- their names had no key
