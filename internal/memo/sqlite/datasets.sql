-- 3: the prompts that runs ask. A text is kept once; a dataset is a stretch of rows,
-- which are added together.
CREATE TABLE prompts (
    id       INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL, -- orbench.PromptSubject
    messages TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX prompts_by_hash ON prompts (hash);

CREATE TABLE dataset_rows (
    id       INTEGER PRIMARY KEY,
    prompt   INTEGER NOT NULL, -- prompts.id
    label    TEXT NOT NULL,
    category TEXT NOT NULL,
    cluster  TEXT NOT NULL,
    pair     TEXT NOT NULL
) STRICT;

CREATE TABLE datasets (
    key       BLOB PRIMARY KEY, -- memo.KeyOf(about)
    about     TEXT NOT NULL,
    first_row INTEGER NOT NULL, -- dataset_rows.id
    prompts   INTEGER NOT NULL, -- how many rows there are from there
    sum       BLOB NOT NULL     -- memo.Sum
) STRICT;

ALTER TABLE runs ADD COLUMN datasets TEXT NOT NULL DEFAULT '[]'; -- keys in JSON
