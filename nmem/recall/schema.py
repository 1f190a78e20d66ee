"""The table of recall: questions, offers, and their use.

Imported only when a database is new or old.
"""

from __future__ import annotations

RECALL = """
CREATE TABLE recall_calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  project_id INTEGER REFERENCES projects(id) ON DELETE CASCADE,   -- NULL: nothing is recorded of it
  session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE,      -- NULL: no session that is known
  place TEXT NOT NULL,                       -- the decisions folder
  origin TEXT NOT NULL,                      -- person agent hook: who asked; a hook offers
  query TEXT NOT NULL DEFAULT '',            -- redacted and cut; '' of offers
  entry TEXT NOT NULL DEFAULT '',            -- /when trigger: what answered, or was offered
  file TEXT NOT NULL DEFAULT '',
  outcome TEXT NOT NULL,                     -- answered several unsure nothing wrong offered
  confidence REAL NOT NULL DEFAULT 0,
  used_at INTEGER                            -- of offers: when the session asked for it, or read its file
);
CREATE INDEX recall_calls_by_place ON recall_calls(place, at);
CREATE INDEX recall_calls_by_session ON recall_calls(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX recall_calls_by_project ON recall_calls(project_id) WHERE project_id IS NOT NULL;
"""
