"""The SQL schema of sweeps and their traces, purges, redaction of history, and verdicts on redactions.

A sweep writes its tables in the transactions that delete, so they agree with the losses wherever it is killed. A purge
is kept in numbers, never in words. Imported only when a database is new or old.
"""

from __future__ import annotations

FORGETTING = """
CREATE TABLE sweep_journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,                  -- its newest step
  ended_at INTEGER,                          -- NULL: it runs, or was stopped: the next one goes on
  why TEXT NOT NULL,                         -- person settled size
  project_id INTEGER REFERENCES projects(id) ON DELETE SET NULL,  -- the only one swept; NULL: all
  policy TEXT NOT NULL,                      -- JSON: lifetimes and how they were mediated
  done TEXT NOT NULL DEFAULT '',             -- why it ended: finished time stopped
  sessions INTEGER NOT NULL DEFAULT 0,       -- it took something of
  skipped TEXT NOT NULL DEFAULT '{}'         -- JSON: sessions left alone, by reason
);
CREATE TABLE sweep_counts (                  -- what a sweep took, by project and type
  sweep_id INTEGER NOT NULL REFERENCES sweep_journal(id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  type TEXT NOT NULL,                        -- an obs_type; prompt reasoning notification
  days REAL NOT NULL,                        -- its lifetime then
  count INTEGER NOT NULL,
  oldest INTEGER NOT NULL,                   -- when the first and the last of them happened
  newest INTEGER NOT NULL,
  PRIMARY KEY (sweep_id, project_id, type)
) WITHOUT ROWID;
CREATE INDEX sweep_counts_by_project ON sweep_counts(project_id);
CREATE TABLE swept_sessions (                -- of which something is known by its trace only
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  observations INTEGER NOT NULL DEFAULT 0,   -- gone; the traces of its episodes tell of them
  prompts INTEGER NOT NULL DEFAULT 0,        -- whose words are gone: their rows hold the episodes together
  sayings INTEGER NOT NULL DEFAULT 0,        -- of the agent and of machines: gone
  newest INTEGER NOT NULL DEFAULT 0,         -- when the last of what is gone happened
  at INTEGER NOT NULL                        -- when it was swept last
) WITHOUT ROWID;
CREATE TABLE swept_files (                   -- which sessions' traces tell of a file
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  file_path TEXT NOT NULL,
  calls INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, file_path)        -- few enough to be looked through for a path
) WITHOUT ROWID;
CREATE TABLE swept_traces (                  -- what episodes are counted from when their rows are gone
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  part INTEGER NOT NULL,
  trace TEXT NOT NULL,                       -- JSON: see nmem.retention.trace
  PRIMARY KEY (session_id, part)
) WITHOUT ROWID;
CREATE TABLE upkeep (                        -- when the file was last looked after, and what came of it
  name TEXT PRIMARY KEY,                     -- merge optimize checkpoint vacuum
  at INTEGER NOT NULL,
  told TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""

SWEPT_KEYS = """
CREATE TABLE swept_keys (                    -- of what is traced: by them it is known when it is told once more
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  part INTEGER NOT NULL,
  keys TEXT NOT NULL,                        -- newline, dedup_key, newline, dedup_key ... newline
  PRIMARY KEY (session_id, part)
) WITHOUT ROWID;
CREATE TRIGGER observations_swept BEFORE INSERT ON observations WHEN {known} BEGIN
  SELECT RAISE(IGNORE);                      -- it was here and went: a transcript or an export tells of it again
END;
CREATE TRIGGER prompts_swept BEFORE INSERT ON prompts WHEN {known} BEGIN
  SELECT RAISE(IGNORE);
END;
""".format(
    known="""EXISTS (
  SELECT 1 FROM swept_traces t LEFT JOIN swept_keys k ON k.session_id = t.session_id AND k.part = t.part
  WHERE t.session_id = new.session_id AND (
    instr(k.keys, char(10) || new.dedup_key || char(10))
    OR new.at <= 60000 + (SELECT newest FROM swept_sessions g WHERE g.session_id = new.session_id)
    AND (k.keys IS NULL OR instr(new.dedup_key, '.')
      AND instr(k.keys, char(10) || substr(new.dedup_key, 1, instr(new.dedup_key, '.'))))
  )) AND NOT EXISTS (SELECT 1 FROM upkeep WHERE name = 'undo')"""
)
"""Older than what went last, the same words in a key are the same thing, whenever they are said to have been said, and
traces without keys, of before there were any, stand for all. `undo` in upkeep: rows are put back, whatever they are."""

TAKEN_BACK = """
CREATE INDEX corrections_taken_back ON corrections(undone_at) WHERE undone_at IS NOT NULL;
"""
"""A sweep asks before each deletion whether a person has changed anything meanwhile."""

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

AUDIT = """
CREATE TABLE redaction_reviews (             -- places drawn for judging; never the secret, which nobody kept
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- people note it: never used again
  source TEXT NOT NULL,                      -- observations prompts
  row_id INTEGER NOT NULL,
  place INTEGER NOT NULL,                    -- the how many-th of its kind in the row
  kind TEXT NOT NULL,                        -- what redaction, or the second detector, called it
  found_by TEXT NOT NULL DEFAULT 'redaction',-- redaction, or a second detector: then it stands in the text still
  day TEXT NOT NULL,                         -- of the row
  drawn_at INTEGER NOT NULL,
  verdict TEXT CHECK (verdict IN ('real', 'false')),  -- NULL: not judged yet
  judged_at INTEGER,
  UNIQUE (source, row_id, found_by, kind, place)
);
CREATE INDEX redaction_reviews_open ON redaction_reviews(id) WHERE verdict IS NULL;
CREATE TRIGGER redaction_reviews_prompt_gone AFTER DELETE ON prompts BEGIN
  DELETE FROM redaction_reviews WHERE source = 'prompts' AND row_id = old.id;
END;
CREATE TRIGGER redaction_reviews_observation_gone AFTER DELETE ON observations BEGIN
  DELETE FROM redaction_reviews WHERE source = 'observations' AND row_id = old.id;
END;
"""
