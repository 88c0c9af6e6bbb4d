-- 7: long requests are packed; see store.Pack. Their column for plain ones is empty.
ALTER TABLE calls ADD COLUMN packed BYTEA;
