"""The SQL schema of context candidates, of written decisions and of decisions made in conversation.

CANDIDATES are made of facts and can be made again; a hook only reads them. Postings are packed 32-bit numbers, oldest
first, the newest kept. RECALL holds each question to the written decisions, each offer, and the outcome.

Decisions said in passing hold no words: a text is a place in the prompts row that says it, so a purge or a redaction
of the row reaches the decision as well. `*_size` is the length of the text at reading: with another length the place
is no longer believed, and settling looks for it anew.

Imported only when a database is new or old, or for a replay.
"""

from __future__ import annotations

CANDIDATES = """
CREATE TABLE context_projects (              -- candidates for what the next session is told; made of facts by settling
  project_id INTEGER PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
  sessions INTEGER NOT NULL DEFAULT 0,       -- that touched a file so far: the clock that heat is told by
  turns INTEGER NOT NULL DEFAULT 0,          -- that touched a file
  files INTEGER NOT NULL DEFAULT 0,
  roots TEXT NOT NULL DEFAULT '',            -- other checkouts of the project, one a line
  told_of TEXT NOT NULL DEFAULT '',          -- by which rules it was folded: others, fold it again
  upto_at INTEGER NOT NULL DEFAULT 0,        -- the newest turn folded in: when it was asked,
  upto_prompt INTEGER NOT NULL DEFAULT 0,    -- and its prompt
  taken INTEGER NOT NULL DEFAULT 0,          -- how often something was taken away or changed
  known INTEGER NOT NULL DEFAULT 0           -- how often when it was folded; until they agree nothing is told
) WITHOUT ROWID;
CREATE TABLE context_files (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  file INTEGER NOT NULL,                     -- counted from 1 in each project
  path TEXT NOT NULL,
  edit_heat REAL,                            -- log2(decayed count of sessions that edited it) + session / half-life
  long_heat REAL,                            -- the same with a longer half-life
  read_heat REAL,                            -- of sessions that read it
  name_weight REAL NOT NULL DEFAULT 1,       -- how much the words of its name weigh together
  last_turn INTEGER NOT NULL DEFAULT 0,      -- the newest turn that edited it
  PRIMARY KEY (project_id, file)
) WITHOUT ROWID;
CREATE UNIQUE INDEX context_files_by_path ON context_files(project_id, path);
CREATE INDEX context_files_by_heat ON context_files(project_id, edit_heat);
CREATE INDEX context_files_by_reads ON context_files(project_id, read_heat);
CREATE TABLE context_turns (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  turn INTEGER NOT NULL,                     -- counted from 1 in each project
  at INTEGER NOT NULL,
  prompt_id INTEGER NOT NULL,                -- unit_prompts says which episode it is in now
  norm REAL NOT NULL,                        -- length of its bag of words
  edited BLOB NOT NULL,                      -- files, packed as 32-bit numbers
  read BLOB NOT NULL,
  PRIMARY KEY (project_id, turn)
) WITHOUT ROWID;
CREATE TABLE context_terms (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  term TEXT NOT NULL,
  turns_with INTEGER NOT NULL,               -- all of them
  turns BLOB NOT NULL,                       -- the newest of them, packed
  PRIMARY KEY (project_id, term)
) WITHOUT ROWID;
CREATE TABLE context_names (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  word TEXT NOT NULL,                        -- a word of base names; "=" and a whole base name in lower case
  files_with INTEGER NOT NULL,
  files BLOB NOT NULL,                       -- the newest of them, packed
  PRIMARY KEY (project_id, word)
) WITHOUT ROWID;
CREATE TABLE context_branches (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  word TEXT NOT NULL,                        -- a word of branch names
  file INTEGER NOT NULL,
  sessions INTEGER NOT NULL,                 -- that edited it on such a branch
  PRIMARY KEY (project_id, word, file)
) WITHOUT ROWID;
CREATE TABLE context_sessions (              -- what a session has been counted for: nothing counts twice
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,                   -- of the sessions of its project that touched a file; 0: none yet
  branch TEXT NOT NULL,                      -- that its files are counted for
  turns INTEGER NOT NULL,                    -- folded
  facts TEXT NOT NULL,                       -- a digest of what was folded: other facts, fold the project again
  last_at INTEGER NOT NULL,                  -- the session as it was then
  edited BLOB NOT NULL,                      -- files counted, packed
  read BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX context_sessions_by_project ON context_sessions(project_id);
CREATE TABLE context_learnings (             -- warm learnings as a hook compares them with what is asked
  learning_id INTEGER PRIMARY KEY REFERENCES learnings(id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  heat REAL NOT NULL,                        -- 0..100
  phrases TEXT NOT NULL,                     -- commands it is about, a line each
  names TEXT NOT NULL,                       -- files, modules, programs it is about, a line each
  words TEXT NOT NULL,                       -- of a question that is asked again
  files TEXT NOT NULL,                       -- it warns of when they are worked on, a line each
  told TEXT NOT NULL                         -- the fact, and what put it right
) WITHOUT ROWID;
CREATE INDEX context_learnings_by_project ON context_learnings(project_id);
"""

_KEPT = """
CREATE TRIGGER context_prompt_gone AFTER DELETE ON prompts BEGIN
  UPDATE context_projects SET taken = taken + 1
    WHERE project_id = (SELECT project_id FROM sessions WHERE id = old.session_id);
END;
CREATE TRIGGER context_observation_gone AFTER DELETE ON observations WHEN old.file_path IS NOT NULL BEGIN
  UPDATE context_projects SET taken = taken + 1
    WHERE project_id = (SELECT project_id FROM sessions WHERE id = old.session_id);
END;
CREATE TRIGGER context_session_gone AFTER DELETE ON sessions BEGIN
  UPDATE context_projects SET taken = taken + 1 WHERE project_id = old.project_id;
END;
CREATE TRIGGER context_prompt_changed AFTER UPDATE OF content ON prompts WHEN old.content IS NOT new.content BEGIN
  UPDATE context_projects SET taken = taken + 1
    WHERE project_id = (SELECT project_id FROM sessions WHERE id = new.session_id);
END;
CREATE TRIGGER context_path_changed AFTER UPDATE OF file_path ON observations
WHEN old.file_path IS NOT new.file_path BEGIN
  UPDATE context_projects SET taken = taken + 1
    WHERE project_id = (SELECT project_id FROM sessions WHERE id = new.session_id);
END;
CREATE INDEX observations_marked ON observations(at) WHERE obs_type = 'marker';
CREATE INDEX observations_pinned ON observations(at) WHERE pinned = 1;
CREATE INDEX work_units_pinned ON work_units(last_at) WHERE pinned = 1;
CREATE TABLE injections (                    -- what a session was told, or would have been
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  event TEXT NOT NULL,                       -- session_start prompt recovery ...
  client TEXT NOT NULL,
  prompt_id INTEGER REFERENCES prompts(id) ON DELETE SET NULL,
  unit_id INTEGER REFERENCES work_units(id) ON DELETE SET NULL,
  text TEXT NOT NULL,                        -- exactly as it was given
  tokens INTEGER NOT NULL,
  withheld INTEGER NOT NULL DEFAULT 0,       -- kept back to see what difference it makes
  reason TEXT NOT NULL DEFAULT ''            -- why it was given now, or why nothing was
);
CREATE INDEX injections_by_session ON injections(session_id, at);
CREATE INDEX injections_by_time ON injections(at);
CREATE INDEX injections_by_prompt ON injections(prompt_id) WHERE prompt_id IS NOT NULL;
CREATE INDEX injections_by_unit ON injections(unit_id) WHERE unit_id IS NOT NULL;
CREATE TABLE injection_items (
  id INTEGER PRIMARY KEY,
  injection_id INTEGER NOT NULL REFERENCES injections(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  item TEXT NOT NULL,                        -- episode/12, learning/3, file/src/a.py, thread/4 ...
  kind TEXT NOT NULL,
  score REAL NOT NULL,
  reason TEXT NOT NULL,
  text TEXT NOT NULL,
  files TEXT NOT NULL DEFAULT '[]',          -- JSON list: what it names
  tokens INTEGER NOT NULL,
  used INTEGER,                              -- NULL: not known yet
  used_how TEXT,
  used_at INTEGER,                           -- when; for one that was not, up to when it was looked for
  UNIQUE (injection_id, position)
);
CREATE INDEX injection_items_by_item ON injection_items(item);
CREATE INDEX injection_items_unjudged ON injection_items(injection_id) WHERE used IS NULL;
CREATE TABLE context_usefulness (            -- what became of the items that sessions were given; counted by settling
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  item TEXT NOT NULL,
  given INTEGER NOT NULL,                    -- times that it is known of
  used INTEGER NOT NULL,
  PRIMARY KEY (project_id, item)
) WITHOUT ROWID;
CREATE TABLE context_choices (               -- what a person said about an item of a project's context
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  item TEXT NOT NULL,
  choice TEXT NOT NULL CHECK (choice IN ('include', 'exclude', 'pin')),
  at INTEGER NOT NULL,
  PRIMARY KEY (project_id, item)
) WITHOUT ROWID;
"""

CONTEXT = CANDIDATES + _KEPT
"""The third migration of nmem.store.schema."""

EVERYWHERE = """
CREATE TABLE pins_everywhere (               -- pins that sessions of every project are told of
  item TEXT PRIMARY KEY,                     -- obs/12 prompt/5 episode/3 thread/4 learning/2; pinned as well
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,  -- whose it is
  at INTEGER NOT NULL
) WITHOUT ROWID;
"""

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
