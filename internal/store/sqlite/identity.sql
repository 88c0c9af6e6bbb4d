-- 8: a random name of the store, which its copies share.
CREATE TABLE identity (
    id TEXT NOT NULL
) STRICT;
INSERT INTO identity VALUES (lower(hex(randomblob(16))));
