-- 4: how runs were made.
ALTER TABLE runs ADD COLUMN made TEXT NOT NULL DEFAULT '';
