"""Tables of decisions. They store no text: a decision is a span in a prompts row.

What a person purges or a rule redacts is thereby gone from decisions as well. `*_size` is the length of the text when
it was read: where it is another now, the place is no longer believed, and settling looks for it anew.
"""

from __future__ import annotations

SAID = """
CREATE TABLE said_decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- a person may have noted it: never used again
  prompt_id INTEGER NOT NULL UNIQUE REFERENCES prompts(id) ON DELETE CASCADE,   -- the person's words
  said_from INTEGER NOT NULL, said_to INTEGER NOT NULL, said_size INTEGER NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,                        -- answer correction rule confirmation
  confidence REAL NOT NULL,                  -- 0..1
  revises INTEGER NOT NULL DEFAULT 0,        -- it says that something held before
  asked_id INTEGER REFERENCES prompts(id) ON DELETE SET NULL,      -- what the agent asked or proposed
  asked_from INTEGER, asked_to INTEGER, asked_size INTEGER,
  restated_id INTEGER REFERENCES prompts(id) ON DELETE SET NULL,   -- how the agent said it again
  restated_from INTEGER, restated_to INTEGER, restated_size INTEGER,
  superseded_by INTEGER REFERENCES said_decisions(id) ON DELETE SET NULL,
  state TEXT NOT NULL DEFAULT 'found',       -- found kept dismissed
  wording TEXT NOT NULL DEFAULT ''           -- a person's own wording of it
);
CREATE INDEX said_decisions_by_session ON said_decisions(session_id, at);
CREATE INDEX said_decisions_by_time ON said_decisions(at);
CREATE INDEX said_decisions_by_asked ON said_decisions(asked_id) WHERE asked_id IS NOT NULL;
CREATE INDEX said_decisions_by_restated ON said_decisions(restated_id) WHERE restated_id IS NOT NULL;
CREATE INDEX said_decisions_by_later ON said_decisions(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE TABLE decided_units (                 -- which episodes were searched for decisions
  unit_id INTEGER PRIMARY KEY REFERENCES work_units(id) ON DELETE CASCADE,
  told_of TEXT NOT NULL                      -- what was in it then, and by which rules
);
"""
