"""The tables of what a team shares (nmem.team): facts of members, who they are, and what was taken away for ever."""

from __future__ import annotations

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
