-- 5: a random name of the store, which its copies share.
CREATE TABLE identity (
    id TEXT NOT NULL
);
