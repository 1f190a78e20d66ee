"""Tables of purges: what was purged, as numbers only, and the rules that history was redacted with."""

from __future__ import annotations

PURGES = """
CREATE TABLE purges (                        -- none of what was purged is in here
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- names its sealed trash: never used again
  at INTEGER NOT NULL,
  how TEXT NOT NULL,                         -- JSON list: by which means it was chosen: session text before ...
  counts TEXT NOT NULL,                      -- JSON: rows that went, by table
  state TEXT NOT NULL DEFAULT 'kept',        -- kept undone gone
  keep_until INTEGER NOT NULL,               -- until then it can be undone
  ended_at INTEGER,                          -- when it was undone, or its key destroyed
  cleaned INTEGER NOT NULL DEFAULT 0,        -- 0: what is left in files is still to be taken out
  bytes INTEGER NOT NULL DEFAULT 0           -- of the sealed trash
);
CREATE INDEX purges_unfinished ON purges(id) WHERE cleaned = 0 OR state = 'kept';
CREATE TABLE history_redactions (            -- passes of the rules in force over what is stored already
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  rules TEXT NOT NULL,                       -- a digest of them: others, go over it again
  upto TEXT NOT NULL DEFAULT '{}',           -- JSON: table -> how far it got; nothing is gone over twice
  strings INTEGER NOT NULL DEFAULT 0,        -- looked at
  rows INTEGER NOT NULL DEFAULT 0,           -- changed
  counts TEXT NOT NULL DEFAULT '{}',         -- JSON: secrets by kind
  ended_at INTEGER                           -- NULL: not done yet
);
"""

PURGED_KEYS = """
CREATE TABLE purged_keys (                   -- of rows that were purged: by them it is known when they are told again
  session_id TEXT NOT NULL,                  -- no reference: the session may be gone
  dedup_key TEXT NOT NULL,
  at INTEGER NOT NULL,
  purge_id INTEGER NOT NULL,
  PRIMARY KEY (session_id, dedup_key)
) WITHOUT ROWID;
CREATE INDEX purged_keys_by_purge ON purged_keys(purge_id);
CREATE TRIGGER observations_purged BEFORE INSERT ON observations WHEN {known} BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER prompts_purged BEFORE INSERT ON prompts WHEN {known} BEGIN SELECT RAISE(IGNORE); END;
""".format(
    known="""EXISTS (
  SELECT 1 FROM purged_keys k WHERE k.session_id = new.session_id AND (k.dedup_key = new.dedup_key
    OR (instr(k.dedup_key, '.') AND abs(k.at - new.at) <= 60000
      AND substr(k.dedup_key, 1, instr(k.dedup_key, '.')) = substr(new.dedup_key, 1, instr(new.dedup_key, '.')))))"""
)
"""A saying without a turn's id is known by its words and its minute."""
