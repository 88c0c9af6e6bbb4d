CREATE TABLE IF NOT EXISTS lanes ( -- whom a fill asks; the shards of each are a queue of River
    fill     BIGINT NOT NULL,
    name     TEXT NOT NULL, -- of the queue
    provider TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    PRIMARY KEY (fill, name)
);
CREATE TABLE IF NOT EXISTS workers ( -- those that run
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    seen    TIMESTAMPTZ NOT NULL,
    refuses JSONB NOT NULL -- why, by the provider that it leaves to others
);
CREATE TABLE IF NOT EXISTS halts ( -- fills whose calls are not made
    fill BIGINT PRIMARY KEY,
    how  TEXT NOT NULL -- paused or canceled
);
