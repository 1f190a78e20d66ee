"""The SQL schema of queued tasks and their events, and of how far sessions were read for learnings.

Imported only when a database is new or old.
"""

from __future__ import annotations

TASKS = """
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- people note it: never used again
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  prompt TEXT NOT NULL,                      -- redacted, like everything
  project TEXT NOT NULL DEFAULT '',          -- its name, for lists
  cwd TEXT NOT NULL,
  client TEXT NOT NULL DEFAULT 'claude',
  interactive INTEGER NOT NULL DEFAULT 0,    -- the client stays open for a person
  priority INTEGER NOT NULL DEFAULT 0,       -- higher first
  not_before INTEGER NOT NULL DEFAULT 0,
  quiet_hours TEXT,                          -- 09:00-18:00: not started then; NULL: the configured ones; '': none
  retries INTEGER NOT NULL DEFAULT 0,        -- further attempts after a failure
  time_limit INTEGER NOT NULL DEFAULT 0,     -- seconds; 0: the configured one
  worktree INTEGER NOT NULL DEFAULT 0,       -- a checkout of its own
  target TEXT NOT NULL DEFAULT '',           -- a pane of tmux that a person chose
  source TEXT NOT NULL DEFAULT 'person',     -- person file learning agent
  learning_id INTEGER REFERENCES learnings(id) ON DELETE SET NULL,
  parent_id INTEGER REFERENCES tasks(id) ON DELETE SET NULL,  -- the task whose agent queued it
  state TEXT NOT NULL DEFAULT 'queued',      -- queued running needs-input succeeded failed cancelled timed-out
  reason TEXT NOT NULL DEFAULT '',           -- why it stands so, in words
  cancelled_for INTEGER,                     -- the dependency whose failure cancelled it: a retry of that revives it
  attempt INTEGER NOT NULL DEFAULT 0,        -- the number of the newest; never used again
  tries INTEGER NOT NULL DEFAULT 0,          -- attempts since a person queued it last
  runner TEXT NOT NULL DEFAULT '',           -- pid and birth of the process that claimed it
  process TEXT NOT NULL DEFAULT '',          -- pid and birth of the process beside the client
  how TEXT NOT NULL DEFAULT '',              -- tmux headless
  socket TEXT NOT NULL DEFAULT '',           -- of tmux; '': its own default
  pane TEXT NOT NULL DEFAULT '',             -- %12
  worktree_path TEXT NOT NULL DEFAULT '',
  branch TEXT NOT NULL DEFAULT '',
  claimed_at INTEGER,
  started_at INTEGER,
  ended_at INTEGER,
  exit_code INTEGER,
  output TEXT NOT NULL DEFAULT '',           -- its last lines, cleaned and redacted
  session_id TEXT REFERENCES sessions(id) ON DELETE SET NULL
);
CREATE INDEX tasks_by_state ON tasks(state, priority);
CREATE INDEX tasks_by_session ON tasks(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX tasks_by_learning ON tasks(learning_id) WHERE learning_id IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks(parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE task_needs (                    -- what has to succeed before
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  needs_id INTEGER NOT NULL,                 -- one that is purged stays needed: nothing runs in its stead
  PRIMARY KEY (task_id, needs_id)
) WITHOUT ROWID;
CREATE INDEX task_needs_by_need ON task_needs(needs_id);
CREATE TABLE task_events (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,                       -- the one it was in from then on
  what TEXT NOT NULL,                        -- queued claimed started asked answered ended cancelled retried edited ...
  text TEXT NOT NULL DEFAULT ''
);
CREATE INDEX task_events_by_task ON task_events(task_id, id);
"""

LEARNED = """
ALTER TABLE learned_sessions ADD COLUMN mark TEXT NOT NULL DEFAULT '';
CREATE TABLE learned_projects (              -- whether the learnings of a project still say what its sessions do
  project_id INTEGER PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
  reading INTEGER NOT NULL DEFAULT 0,        -- counts what is read of its sessions: who sums up sees whether more came
  episodes TEXT NOT NULL DEFAULT ''          -- what its episodes were when they were summed up: others, sum up again
);
"""
"""`mark`: how far the session's transcripts were read, for those put right how calls ended."""

SKILLS_ARE_LEARNED = """
DROP TABLE skills;
UPDATE threads SET compacted_at = NULL WHERE instr(macro, 'Skill: ') > 0;
"""
"""Skills are learnings: a second notion of them, found in episodes, held nothing of the person's own. Threads whose
patterns name such ones are condensed anew by the next settling."""

FAILING = """(instr(data, '"count":') OR instr(data, '"work":'))"""
"""Whether what a session says of a command tells of a failure, in SQL: most commands pass wherever they are run."""

FAILED = f"""
CREATE INDEX learning_findings_failing ON learning_findings(project_id, key) WHERE kind = 'command' AND {FAILING};
"""
"""Summing up a project reads what failed in it, and not each command that ever ran."""

COST = """
CREATE TABLE model_usage (                   -- what one answer of a model used, in tokens, as its transcript says
  key INTEGER PRIMARY KEY,                   -- of the ids of its message and request: told twice, it counts once
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,                       -- when it began
  model TEXT NOT NULL,
  inner INTEGER NOT NULL,                    -- by a subagent
  input INTEGER NOT NULL,                    -- without what came from the cache
  output INTEGER NOT NULL,                   -- with reasoning
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,              -- for five minutes
  cache_write_1h INTEGER NOT NULL            -- for an hour
);
CREATE INDEX model_usage_by_session ON model_usage(session_id, inner, at);
CREATE TABLE usage_places (                  -- how far a transcript was read for its usage
  path TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  offset INTEGER NOT NULL,                   -- bytes of whole lines
  head TEXT NOT NULL,                        -- hash of the file's first bytes
  state TEXT                                 -- JSON: what the lines before the offset said about those after it
) WITHOUT ROWID;
"""

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
"""A purged copy leaves its row: none is made again. Of a file that became large or unreadable the older one stays."""

STRUCTURE = """
CREATE TABLE checkout_heads (                -- the commit that a checkout was at when settling last looked
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  head TEXT NOT NULL,
  at INTEGER NOT NULL,                       -- of the look
  PRIMARY KEY (project_id, root)
) WITHOUT ROWID;
CREATE TABLE moved_files (                   -- what git says became of a file, one row a name that it had
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  change TEXT NOT NULL,                      -- new moved renamed gone
  name TEXT NOT NULL,                        -- what it is called now; '' of one that is gone
  hash TEXT NOT NULL,                        -- of the commit, abbreviated
  at INTEGER NOT NULL,                       -- when the checkout came to hold it
  PRIMARY KEY (project_id, root, path)
) WITHOUT ROWID;
CREATE INDEX moved_files_by_time ON moved_files(project_id, at);
"""
