"""Tables of the audit: a person's verdicts on redactions."""

from __future__ import annotations

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
