-- 1: the first schema. Contents are bytes: texts of a database can hold no zero byte, and
-- only what its encoding has.
CREATE TABLE schema_version (
    version INT NOT NULL
);

CREATE TABLE calls (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of arrival
    hash     BYTEA NOT NULL UNIQUE,
    request  BYTEA NOT NULL, -- JSON
    response BYTEA NOT NULL, -- JSON
    checksum BIGINT NOT NULL -- memo.Checksum of hash and response
);

CREATE TABLE failures (
    hash     BYTEA PRIMARY KEY,
    kind     BYTEA NOT NULL,
    message  BYTEA NOT NULL,
    checksum BIGINT NOT NULL -- of all columns
);

CREATE TABLE runs (
    name     BYTEA PRIMARY KEY,
    config   BYTEA NOT NULL,  -- JSON
    datasets BYTEA NOT NULL,  -- keys in JSON
    made     BYTEA NOT NULL,  -- JSON, or empty
    saved    BIGINT NOT NULL, -- Unix nanoseconds
    checksum BIGINT NOT NULL  -- of all columns
);

CREATE TABLE annotations (
    id         BYTEA PRIMARY KEY, -- orbench.Annotation.ID
    at         BIGINT NOT NULL,   -- Unix nanoseconds
    annotation BYTEA NOT NULL     -- JSON
);

CREATE TABLE pieces (
    hash    BYTEA PRIMARY KEY, -- SHA-256 of prompts
    prompts BYTEA NOT NULL     -- as JSON, one after another
);

CREATE TABLE datasets (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of arrival
    key      BYTEA NOT NULL UNIQUE, -- memo.KeyOf(about)
    about    BYTEA NOT NULL,
    prompts  INT NOT NULL,          -- how many there are
    sum      BYTEA NOT NULL,        -- memo.Sum
    pieces   BYTEA NOT NULL,        -- memo.Pieces.Hashes
    checksum BIGINT NOT NULL        -- of all columns but id
);

-- The calls that a process is about to make, for others to leave alone. Rows live for
-- seconds, so the dead ones are cleared away often.
CREATE TABLE claims (
    owner  TEXT NOT NULL,   -- a handle of the store
    number BIGINT NOT NULL, -- memo.Claim.ID
    until  TIMESTAMPTZ NOT NULL,
    hashes BYTEA[] NOT NULL,
    PRIMARY KEY (owner, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Calls that are out with a provider together, and what is known of them.
CREATE TABLE batches (
    number   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of arrival
    id       BYTEA NOT NULL UNIQUE, -- memo.BatchID
    about    BYTEA NOT NULL,
    open     BOOLEAN NOT NULL, -- until nothing more is to come of it
    checksum BIGINT NOT NULL   -- of id, about and open
);
CREATE TABLE batch_calls (
    batch   BYTEA NOT NULL, -- that of an open one
    hash    BYTEA PRIMARY KEY,
    request BYTEA NOT NULL
);
CREATE INDEX calls_of_batch ON batch_calls (batch, hash);
