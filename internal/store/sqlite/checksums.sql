-- 5: a checksum of every row that is not named by the hash of all that it holds. It is
-- NULL, which is unknown, in rows of an older version.
ALTER TABLE calls ADD COLUMN checksum INTEGER;
ALTER TABLE failures ADD COLUMN checksum INTEGER;
ALTER TABLE datasets ADD COLUMN checksum INTEGER;
ALTER TABLE runs ADD COLUMN checksum INTEGER;
