-- 3: calls that wait for workers; see package queue.
CREATE TABLE fills (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    settings JSONB NOT NULL,                   -- queue.Settings
    began    TIMESTAMPTZ NOT NULL DEFAULT now(),
    stopped  BOOLEAN NOT NULL DEFAULT false,   -- its budget is spent
    gave_up  JSONB NOT NULL DEFAULT '{}',      -- why, by model
    requests BIGINT NOT NULL DEFAULT 0,        -- what workers have taken of its budget
    tokens   BIGINT NOT NULL DEFAULT 0,
    usd      DOUBLE PRECISION NOT NULL DEFAULT 0
);
CREATE TABLE fill_stats (
    fill   BIGINT NOT NULL,
    worker TEXT NOT NULL,
    stats  JSONB NOT NULL, -- fill.Stats, what the worker has done for the fill
    PRIMARY KEY (fill, worker)
);
CREATE SEQUENCE shards;
CREATE TABLE queued_calls (
    hash    BYTEA PRIMARY KEY,
    fill    BIGINT NOT NULL,
    shard   BIGINT NOT NULL,
    failed  BOOLEAN NOT NULL DEFAULT false, -- it is not tried again for this fill
    request BYTEA NOT NULL                  -- its canonical form
);
CREATE INDEX queued_calls_of_shard ON queued_calls (fill, shard);
CREATE TABLE rates (
    name TEXT PRIMARY KEY,
    next TIMESTAMPTZ NOT NULL -- when more may be used
);
