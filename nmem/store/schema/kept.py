"""The SQL schema of work and its keeping: tasks, costs, sessions, sweeps, purges, audits, the team's facts.

A sweep writes its tables in the transactions that delete, so they agree with the losses wherever it is killed. A purge
is kept in numbers, never in words. Imported only when a database is new or old.
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

TEAM = """
CREATE TABLE team_facts (                    -- versions of facts: this person's own that leave, and others' that came
  id TEXT PRIMARY KEY,                       -- of this version: random
  team TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('episode', 'decision', 'learning', 'recall')),
  subject TEXT NOT NULL,                     -- what the fact is about, the same in all its versions: two hashes
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  author TEXT NOT NULL,                      -- the member who wrote this version
  device TEXT NOT NULL,                      -- the machine of the author, as a random word
  at INTEGER NOT NULL,                       -- by the author's clock, which may be wrong: orders nothing
  seq INTEGER,                               -- by the server: of two versions the higher one holds; NULL: not there yet
  title TEXT NOT NULL,
  body TEXT NOT NULL DEFAULT '',
  files TEXT NOT NULL DEFAULT '[]',          -- JSON list of paths relative to the project
  data TEXT NOT NULL DEFAULT '{}',           -- JSON: outcome, obstacle ... by kind
  own INTEGER NOT NULL,                      -- 1: of the person of this memory, here or on another machine
  gone INTEGER NOT NULL DEFAULT 0,           -- 1: a later version by the same author holds; 2: forgotten by leaving
  session_id TEXT,                           -- of what was made here: its session, and what it was made of
  source TEXT NOT NULL DEFAULT '',           -- episode/12, decision/5, learning/7, recall/NAME
  digest TEXT NOT NULL DEFAULT '',           -- of what it was made of, and of the text as it was sent: the row itself
                                             -- may be redacted anew; "?.": said elsewhere, to be looked at by the rules
  refused TEXT                               -- why the server does not take it; it is not tried again
);
CREATE INDEX team_facts_of_others ON team_facts(project_id, kind, author, at) WHERE own = 0 AND gone = 0;
CREATE INDEX team_facts_of_mine_elsewhere ON team_facts(project_id, kind, at)
  WHERE own = 1 AND gone = 0 AND source = '';
CREATE INDEX team_facts_by_subject ON team_facts(subject, author, seq);
CREATE INDEX team_facts_to_send ON team_facts(at) WHERE seq IS NULL;
CREATE INDEX team_facts_to_look_at ON team_facts(project_id) WHERE own = 1 AND substr(digest, 1, 2) = '?.';
CREATE INDEX team_facts_by_session ON team_facts(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX team_facts_by_source ON team_facts(source) WHERE source != '';
CREATE TABLE team_gone (                     -- what was taken away: kept for ever, past leaving and other servers
  id TEXT PRIMARY KEY,                       -- of one version, or the subject itself: then every version of anybody
  subject TEXT NOT NULL DEFAULT '',          -- the subject, if it is gone as a whole
  origin TEXT NOT NULL CHECK (origin IN ('mine', 'theirs', 'here')),  -- here: another's fact, purged from this machine
  at INTEGER NOT NULL,
  announced_seq INTEGER,                     -- by the server; NULL of one of mine: it is not told yet
  refused TEXT
) WITHOUT ROWID;
CREATE INDEX team_gone_to_tell ON team_gone(at) WHERE origin = 'mine' AND announced_seq IS NULL;
CREATE TRIGGER team_facts_withdrawn AFTER DELETE ON team_facts WHEN old.gone != 2
  AND NOT EXISTS (SELECT 1 FROM team_gone WHERE subject = '' AND id = old.id AND (origin != 'here' OR NOT old.own)
    OR subject != '' AND id = old.subject AND subject = old.subject) BEGIN
  INSERT INTO team_gone (id, origin, at) SELECT old.id, iif(old.own, 'mine', 'here'),
    CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) WHERE true
    ON CONFLICT (id) DO UPDATE SET origin = 'mine', announced_seq = NULL WHERE origin = 'here' AND old.own;
  INSERT INTO team_gone (id, subject, origin, at) SELECT old.subject, old.subject, 'mine',
    CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) WHERE old.own
    AND substr(old.subject, 1, 13) IN (SELECT value FROM team_state WHERE key LIKE 'prefix/%')
    ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, origin = 'mine', announced_seq = NULL, refused = NULL
    WHERE subject = '';
END;
CREATE TRIGGER team_facts_untold AFTER DELETE ON team_facts WHEN old.own = 0 BEGIN
  UPDATE injections SET text = '' WHERE id IN (SELECT injection_id FROM injection_items WHERE item = 'team/' || old.id);
  UPDATE injection_items SET text = '', reason = '', files = '[]', used_how = NULL WHERE item = 'team/' || old.id;
END;
CREATE TRIGGER team_facts_back AFTER INSERT ON team_facts WHEN new.own = 0 BEGIN
  DELETE FROM team_gone WHERE id = new.id AND origin = 'here';
END;
CREATE TABLE team_members (
  team TEXT NOT NULL,
  author TEXT NOT NULL,
  role TEXT NOT NULL DEFAULT '',             -- how the person logs in to the server
  muted INTEGER NOT NULL DEFAULT 0,          -- this person does not want to see it
  last_at INTEGER,                           -- of the newest fact, by that author's clock
  PRIMARY KEY (team, author)
) WITHOUT ROWID;
CREATE TABLE team_projects (                 -- shared ones, resolved once: a namesake is another project
  project_id INTEGER PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
  team TEXT NOT NULL,
  shared_as TEXT NOT NULL,                   -- what the team calls it: its remote, or a name that was agreed on
  key TEXT NOT NULL,                         -- as the project was when it was chosen
  remote TEXT NOT NULL,
  root TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (team, shared_as)
);
CREATE TABLE team_state (                    -- how far each role has read, since when a server is down ...
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
"""
"""Whatever deletes a row of one's own takes it from the team: the trigger notes the version, and its subject where that
is one's own and not another's that was corrected; the next pass tells it. `prefix/NAME` is how subjects begin that this
person has opened under a name.

A version that is replaced, or comes back with an undo, is noted in `team_gone` first by its own id, and the trigger
leaves its subject alone. What sessions were told of another's fact goes with it (`team_facts_untold`)."""
