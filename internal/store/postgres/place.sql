-- 2: which process holds a claim, so that others on its machine know when it is gone.
ALTER TABLE claims
    ADD COLUMN place TEXT NOT NULL DEFAULT '', -- process.Place
    ADD COLUMN pid   BIGINT NOT NULL DEFAULT 0; -- its number there
