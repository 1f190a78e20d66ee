"""The SQL of what a person says of a session, and of the copies of the clients' transcripts."""

from __future__ import annotations

SESSIONS = """
CREATE TABLE session_marks (                 -- what a person says of a session: its name, tags, whether it is put away
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  name TEXT NOT NULL DEFAULT '',
  tags TEXT NOT NULL DEFAULT '[]',           -- JSON list, sorted
  archived INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE transcript_copies (             -- a client deletes its transcripts after a while: what gives one back
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,                       -- when it was made
  path TEXT NOT NULL,                        -- where the client had it
  size INTEGER NOT NULL,                     -- of the client's file, in bytes, and when that was changed (ns): another
  changed INTEGER NOT NULL,                  -- one is copied anew
  rules TEXT NOT NULL,                       -- a digest of the rules that it was redacted by
  state TEXT NOT NULL,                       -- kept large unread dropped purged
  packed BLOB                                -- zlib of the redacted lines; NULL where none is kept
);
"""
"""A copy that was purged, or dropped for its age or the room, leaves its row: it is not made again of the same file."""
