-- 2: what people say of answers and prompts.
CREATE TABLE annotations (
    id         BLOB PRIMARY KEY, -- orbench.Annotation.ID
    at         INTEGER NOT NULL, -- Unix nanoseconds
    annotation TEXT NOT NULL
) STRICT;
