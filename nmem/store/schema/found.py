"""The SQL schema of what is found and told: search, retrieval, themes, context candidates, decisions written and said.

No hook pays for search: none of its triggers is on an INSERT into prompts or observations, or on an UPDATE that a hook
makes. Words are in the indexes that capture keeps; SEARCH adds the vocabulary (beginnings and parts of words), where in
time ids lie, and texts that no index has: outputs of failing calls, summaries, learnings, unspaced scripts.

The retrieval index holds a document for each told episode of a project, and postings by word. A document that changes
gets a new number in place of the old one, which stays in the postings of words that the document has no more; no row
answers to it.

CANDIDATES are made of facts and can be made again; a hook only reads them. Postings are packed 32-bit numbers, oldest
first, the newest kept. RECALL holds each question to the written decisions, each offer, and the outcome.

Decisions said in passing hold no words: a text is a place in the prompts row that says it, so a purge or a redaction
of the row reaches the decision as well. `*_size` is the length of the text at reading: with another length the place
is no longer believed, and settling looks for it anew.

Imported only when a database is new or old, or for a replay.
"""

from __future__ import annotations

SEARCH = """
CREATE TABLE search_state (                  -- up to where each source was taken in
  source TEXT PRIMARY KEY,                   -- observations prompts work_units search_docs; stale
  done INTEGER NOT NULL DEFAULT 0,           -- words counted up to this id; work_units: narrated_at; stale: 1 or 0
  indexed INTEGER NOT NULL DEFAULT 0,        -- blocks and texts indexed up to this id; never goes back
  texts INTEGER NOT NULL DEFAULT 0           -- how many texts of it the vocabulary counts
) WITHOUT ROWID;
INSERT INTO search_state(source) VALUES ('observations'), ('prompts'), ('work_units'), ('search_docs'), ('stale');
CREATE TABLE search_terms (                  -- every word that occurs, folded, not stemmed
  id INTEGER PRIMARY KEY,
  term TEXT NOT NULL,
  n INTEGER NOT NULL                         -- in how many texts
);
CREATE INDEX search_terms_by_term ON search_terms(term, n);
CREATE VIRTUAL TABLE search_parts USING fts5(  -- three characters in a row of a word -> the word
  term, content='search_terms', content_rowid='id', tokenize='trigram', detail=none, columnsize=0
);
CREATE TABLE search_blocks (                 -- stretches of ids: when, in which projects, by which clients
  source TEXT NOT NULL,                      -- observations prompts
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  min_at INTEGER NOT NULL,
  max_at INTEGER NOT NULL,
  projects TEXT NOT NULL,                    -- ' 1 12 '
  clients TEXT NOT NULL,                     -- ' claude codex '
  PRIMARY KEY (source, first_id)
) WITHOUT ROWID;
CREATE TABLE search_docs (                   -- small texts of several tables
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- a changed text is a new one: the vocabulary counts upwards
  kind TEXT NOT NULL,                        -- session learning
  ref TEXT NOT NULL,                         -- the id within its kind
  project_id INTEGER,
  session_id TEXT,
  at INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (kind, ref)
);
CREATE VIRTUAL TABLE search_docs_fts USING fts5(
  title, body, content='search_docs', content_rowid='id', tokenize='porter unicode61'
);
CREATE VIEW search_summaries AS              -- session summaries as texts
  SELECT 'session' AS kind, x.session_id AS ref, s.project_id, x.session_id, s.last_at AS at, x.intent AS title,
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(x.learned), x.learned, '[]'))), '')
      || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(x.completed), x.completed, '[]'))), '')
      || char(10) ||
    coalesce((SELECT group_concat(value, char(10))
      FROM json_each(iif(json_valid(x.next_steps), x.next_steps, '[]'))), '')
      || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(x.notes), x.notes, '[]'))), '')
      || char(10) || x.files_edited AS body
  FROM session_summaries x JOIN sessions s ON s.id = x.session_id;
CREATE VIEW search_learned AS                -- learnings as texts
  SELECT 'learning' AS kind, x.id AS ref, x.project_id, NULL AS session_id, x.last_at AS at, x.title,
    coalesce(x.rule, '') || ' ' || coalesce(json_extract(iif(json_valid(x.remedy), x.remedy, '{}'), '$.text'), '')
      || ' ' || x.files AS body
  FROM learnings x;
CREATE VIEW search_outputs AS                -- what a failing call answered: the row's own content is the call
  SELECT id, json_extract(metadata, '$.response') AS response FROM observations
  WHERE outcome = 'failed' AND json_valid(metadata);
CREATE VIRTUAL TABLE search_outputs_fts USING fts5(
  response, content='search_outputs', content_rowid='id', tokenize='porter unicode61'
);
CREATE VIEW search_unspaced AS               -- prompts have even keys, observations odd ones
  SELECT id * 2 AS key, content || '  ' AS text FROM prompts WHERE content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*'
  UNION ALL SELECT id * 2 + 1, content || '  ' FROM observations WHERE content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
CREATE VIRTUAL TABLE search_unspaced_fts USING fts5(  -- the two blanks give the last characters a trigram
  text, content='search_unspaced', content_rowid='key', tokenize='trigram'
);
CREATE VIRTUAL TABLE search_unspaced_terms USING fts5vocab(search_unspaced_fts, row);
CREATE TRIGGER search_docs_insert AFTER INSERT ON search_docs BEGIN
  INSERT INTO search_docs_fts(rowid, title, body) VALUES (new.id, new.title, new.body);
END;
CREATE TRIGGER search_docs_delete AFTER DELETE ON search_docs BEGIN
  INSERT INTO search_docs_fts(search_docs_fts, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
END;
CREATE TRIGGER search_sessions_insert AFTER INSERT ON session_summaries BEGIN
  DELETE FROM search_docs WHERE kind = 'session' AND ref = new.session_id;
  INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
    SELECT * FROM search_summaries WHERE ref = new.session_id;
END;
CREATE TRIGGER search_sessions_update AFTER UPDATE ON session_summaries BEGIN
  DELETE FROM search_docs WHERE kind = 'session' AND ref = old.session_id;
  INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
    SELECT * FROM search_summaries WHERE ref = new.session_id;
END;
CREATE TRIGGER search_sessions_delete AFTER DELETE ON session_summaries BEGIN
  DELETE FROM search_docs WHERE kind = 'session' AND ref = old.session_id;
END;
CREATE TRIGGER search_learnings_insert AFTER INSERT ON learnings BEGIN
  DELETE FROM search_docs WHERE kind = 'learning' AND ref = new.id;
  INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
    SELECT * FROM search_learned WHERE ref = new.id;
END;
CREATE TRIGGER search_learnings_update AFTER UPDATE OF title, rule, remedy ON learnings
WHEN old.title IS NOT new.title OR old.rule IS NOT new.rule OR old.remedy IS NOT new.remedy BEGIN
  DELETE FROM search_docs WHERE kind = 'learning' AND ref = old.id;
  INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
    SELECT * FROM search_learned WHERE ref = new.id;
END;
CREATE TRIGGER search_learnings_delete AFTER DELETE ON learnings BEGIN
  DELETE FROM search_docs WHERE kind = 'learning' AND ref = old.id;
END;
CREATE TRIGGER search_outputs_delete AFTER DELETE ON observations
WHEN old.outcome = 'failed' AND json_valid(old.metadata)
AND old.id <= (SELECT indexed FROM search_state WHERE source = 'observations') BEGIN
  INSERT INTO search_outputs_fts(search_outputs_fts, rowid, response)
    VALUES ('delete', old.id, json_extract(old.metadata, '$.response'));
END;
CREATE TRIGGER search_outputs_update AFTER UPDATE OF metadata, outcome ON observations
WHEN old.id <= (SELECT indexed FROM search_state WHERE source = 'observations') BEGIN
  UPDATE search_state SET done = 1 WHERE source = 'stale' AND done = 0 AND old.outcome = 'failed'
    AND iif(json_valid(old.metadata), json_extract(old.metadata, '$.response'), '')
      IS NOT iif(json_valid(new.metadata) AND new.outcome = 'failed', json_extract(new.metadata, '$.response'), '');
  INSERT INTO search_outputs_fts(search_outputs_fts, rowid, response)
    SELECT 'delete', old.id, json_extract(old.metadata, '$.response')
    WHERE old.outcome = 'failed' AND json_valid(old.metadata);
  INSERT INTO search_outputs_fts(rowid, response)
    SELECT new.id, json_extract(new.metadata, '$.response') WHERE new.outcome = 'failed' AND json_valid(new.metadata);
END;
CREATE TRIGGER search_prompts_delete AFTER DELETE ON prompts
WHEN old.id <= (SELECT indexed FROM search_state WHERE source = 'prompts') BEGIN
  UPDATE search_state SET done = 1 WHERE source = 'stale' AND done = 0;
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2, old.content || '  ' WHERE old.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
END;
CREATE TRIGGER search_prompts_update AFTER UPDATE OF content ON prompts
WHEN old.id <= (SELECT indexed FROM search_state WHERE source = 'prompts') BEGIN
  UPDATE search_state SET done = 1 WHERE source = 'stale' AND done = 0 AND old.content IS NOT new.content;
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2, old.content || '  ' WHERE old.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
  INSERT INTO search_unspaced_fts(rowid, text)
    SELECT new.id * 2, new.content || '  ' WHERE new.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
END;
CREATE TRIGGER search_observations_delete AFTER DELETE ON observations
WHEN old.id <= (SELECT indexed FROM search_state WHERE source = 'observations') BEGIN
  UPDATE search_state SET done = 1 WHERE source = 'stale' AND done = 0;
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2 + 1, old.content || '  ' WHERE old.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
END;
CREATE TRIGGER search_observations_update AFTER UPDATE OF content ON observations
WHEN old.id <= (SELECT indexed FROM search_state WHERE source = 'observations') BEGIN
  UPDATE search_state SET done = 1 WHERE source = 'stale' AND done = 0 AND old.content IS NOT new.content;
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2 + 1, old.content || '  ' WHERE old.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
  INSERT INTO search_unspaced_fts(rowid, text)
    SELECT new.id * 2 + 1, new.content || '  ' WHERE new.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
END;
INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
  SELECT * FROM search_summaries;
INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
  SELECT * FROM search_learned;
"""

KEYED = """
DROP TRIGGER search_outputs_delete;
DROP TRIGGER search_outputs_update;
DROP TRIGGER search_prompts_delete;
DROP TRIGGER search_prompts_update;
DROP TRIGGER search_observations_delete;
DROP TRIGGER search_observations_update;
CREATE TRIGGER search_outputs_update AFTER UPDATE OF metadata, outcome ON observations
WHEN old.id <= (SELECT max(done, indexed) FROM search_state WHERE source = 'observations') BEGIN
  UPDATE search_state SET done = done + 1 WHERE source = 'stale' AND old.outcome = 'failed'
    AND iif(json_valid(old.metadata), json_extract(old.metadata, '$.response'), '')
      IS NOT iif(json_valid(new.metadata) AND new.outcome = 'failed', json_extract(new.metadata, '$.response'), '');
  INSERT INTO search_outputs_fts(search_outputs_fts, rowid, response)
    SELECT 'delete', old.id, iif(json_valid(old.metadata), json_extract(old.metadata, '$.response'), '')
    WHERE EXISTS (SELECT 1 FROM search_outputs_fts_docsize WHERE id = old.id);
  INSERT INTO search_outputs_fts(rowid, response)
    SELECT id, response FROM search_outputs WHERE id = new.id
    AND new.id <= (SELECT indexed FROM search_state WHERE source = 'observations');
END;
CREATE TRIGGER search_prompts_delete AFTER DELETE ON prompts BEGIN
  UPDATE search_state SET done = done + 1 WHERE source = 'stale'
    AND old.id <= (SELECT max(done, indexed) FROM search_state WHERE source = 'prompts');
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2, old.content || '  '
    WHERE EXISTS (SELECT 1 FROM search_unspaced_fts_docsize WHERE id = old.id * 2);
  DELETE FROM search_blocks WHERE source = 'prompts' AND first_id >= old.id
    AND (SELECT coalesce(max(id), 0) FROM prompts) < old.id;
  UPDATE search_blocks SET last_id = old.id - 1 WHERE source = 'prompts' AND last_id >= old.id
    AND (SELECT coalesce(max(id), 0) FROM prompts) < old.id;
  UPDATE search_state SET done = min(done, old.id - 1), indexed = min(indexed, old.id - 1)
    WHERE source = 'prompts' AND (SELECT coalesce(max(id), 0) FROM prompts) < old.id;
END;
CREATE TRIGGER search_prompts_update AFTER UPDATE OF content ON prompts
WHEN old.content IS NOT new.content BEGIN
  UPDATE search_state SET done = done + 1 WHERE source = 'stale'
    AND old.id <= (SELECT max(done, indexed) FROM search_state WHERE source = 'prompts')
    AND (new.content = '' OR substr(old.content, -length(new.content)) IS NOT new.content);
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2, old.content || '  '
    WHERE EXISTS (SELECT 1 FROM search_unspaced_fts_docsize WHERE id = old.id * 2);
  INSERT INTO search_unspaced_fts(rowid, text)
    SELECT new.id * 2, new.content || '  '
    WHERE new.id <= (SELECT indexed FROM search_state WHERE source = 'prompts') AND new.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
END;
CREATE TRIGGER search_observations_delete AFTER DELETE ON observations BEGIN
  UPDATE search_state SET done = done + 1 WHERE source = 'stale'
    AND old.id <= (SELECT max(done, indexed) FROM search_state WHERE source = 'observations');
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2 + 1, old.content || '  '
    WHERE EXISTS (SELECT 1 FROM search_unspaced_fts_docsize WHERE id = old.id * 2 + 1);
  INSERT INTO search_outputs_fts(search_outputs_fts, rowid, response)
    SELECT 'delete', old.id, iif(json_valid(old.metadata), json_extract(old.metadata, '$.response'), '')
    WHERE EXISTS (SELECT 1 FROM search_outputs_fts_docsize WHERE id = old.id);
  DELETE FROM search_blocks WHERE source = 'observations' AND first_id >= old.id
    AND (SELECT coalesce(max(id), 0) FROM observations) < old.id;
  UPDATE search_blocks SET last_id = old.id - 1 WHERE source = 'observations' AND last_id >= old.id
    AND (SELECT coalesce(max(id), 0) FROM observations) < old.id;
  UPDATE search_state SET done = min(done, old.id - 1), indexed = min(indexed, old.id - 1)
    WHERE source = 'observations' AND (SELECT coalesce(max(id), 0) FROM observations) < old.id;
END;
CREATE TRIGGER search_observations_update AFTER UPDATE OF content ON observations
WHEN old.content IS NOT new.content BEGIN
  UPDATE search_state SET done = done + 1 WHERE source = 'stale'
    AND old.id <= (SELECT max(done, indexed) FROM search_state WHERE source = 'observations')
    AND (new.content = '' OR substr(old.content, -length(new.content)) IS NOT new.content);
  INSERT INTO search_unspaced_fts(search_unspaced_fts, rowid, text)
    SELECT 'delete', old.id * 2 + 1, old.content || '  '
    WHERE EXISTS (SELECT 1 FROM search_unspaced_fts_docsize WHERE id = old.id * 2 + 1);
  INSERT INTO search_unspaced_fts(rowid, text)
    SELECT new.id * 2 + 1, new.content || '  '
    WHERE new.id <= (SELECT indexed FROM search_state WHERE source = 'observations') AND new.content GLOB
    '*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]*';
END;
INSERT INTO search_state(source, done)
  SELECT 'rebuild', EXISTS (SELECT 1 FROM corrections WHERE kind = 'mark' AND undone_at IS NOT NULL);
UPDATE gone_ids SET newest = max(newest, (SELECT indexed FROM search_state WHERE source = gone_ids.name), coalesce(
  (SELECT max(CAST(substr(target, instr(target, '/') + 1) AS INTEGER)) FROM corrections
    WHERE target GLOB iif(gone_ids.name = 'prompts', 'prompt/[0-9]*', 'obs/[0-9]*')), 0));
"""
"""Texts leave an index only where they are in it: an id that was given twice, before ids were for good, broke them."""

TASKS_FOUND = """
CREATE VIEW search_tasks AS                  -- tasks as texts
  SELECT 'task' AS kind, t.id AS ref,
    coalesce((SELECT max(p.id) FROM projects p WHERE p.name = t.project
        AND (t.cwd = p.root OR instr(t.cwd, p.root || '/') = 1)),
      (SELECT max(p.id) FROM projects p WHERE p.name = t.project)) AS project_id,
    t.session_id, t.created_at AS at, t.project AS title, t.prompt AS body
  FROM tasks t;
CREATE TRIGGER search_docs_update AFTER UPDATE OF title, body ON search_docs BEGIN
  INSERT INTO search_docs_fts(search_docs_fts, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
  INSERT INTO search_docs_fts(rowid, title, body) VALUES (new.id, new.title, new.body);
END;
CREATE TRIGGER search_tasks_insert AFTER INSERT ON tasks BEGIN
  DELETE FROM search_docs WHERE kind = 'task' AND ref = new.id;
  INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
    SELECT * FROM search_tasks WHERE ref = new.id;
END;
CREATE TRIGGER search_tasks_update AFTER UPDATE OF prompt, project, cwd, session_id ON tasks
WHEN old.prompt IS NOT new.prompt OR old.project IS NOT new.project OR old.cwd IS NOT new.cwd
  OR old.session_id IS NOT new.session_id BEGIN
  DELETE FROM search_docs WHERE kind = 'task' AND ref = old.id;
  INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
    SELECT * FROM search_tasks WHERE ref = new.id;
END;
CREATE TRIGGER search_tasks_delete AFTER DELETE ON tasks BEGIN
  DELETE FROM search_docs WHERE kind = 'task' AND ref = old.id;
END;
INSERT INTO search_docs(kind, ref, project_id, session_id, at, title, body)
  SELECT * FROM search_tasks;
"""
"""A task is found by what it asks for and by its project's name; a text that is changed in place leaves its index."""

RETRIEVAL = """
CREATE TABLE retrieval_projects (            -- the index of a project as a whole
  project_id INTEGER PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
  last_doc INTEGER NOT NULL DEFAULT 0,       -- the highest number given
  rules TEXT NOT NULL                        -- by which rules it was made: others, make it again
) WITHOUT ROWID;
CREATE TABLE retrieval_docs (                -- the episodes that are indexed
  unit_id INTEGER PRIMARY KEY REFERENCES work_units(id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  doc INTEGER NOT NULL,                      -- counted from 1 in each project
  at INTEGER NOT NULL,                       -- when the episode was last worked on
  told_at INTEGER NOT NULL,                  -- the narration that was indexed
  result TEXT NOT NULL                       -- what came of it in the agent's words, whole sentences
);
CREATE UNIQUE INDEX retrieval_docs_by_number ON retrieval_docs(project_id, doc);
CREATE TABLE retrieval_postings (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  docs INTEGER NOT NULL,                     -- how many postings follow
  postings BLOB NOT NULL,                    -- 32-bit numbers: document << 8 | weight of the word in it, 1..255
  PRIMARY KEY (project_id, word)
) WITHOUT ROWID;
CREATE TRIGGER retrieval_renamed AFTER UPDATE OF title ON work_units WHEN old.title IS NOT new.title BEGIN
  UPDATE retrieval_docs SET told_at = -1 WHERE unit_id = old.id;  -- found as before until it is indexed anew
END;
"""

POSTINGS_APART = """
CREATE TABLE postings_apart (
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  docs INTEGER NOT NULL,                     -- how many postings follow
  postings BLOB NOT NULL,                    -- 32-bit numbers: document << 8 | weight of the word in it, 1..255
  PRIMARY KEY (project_id, word)
);
INSERT INTO postings_apart SELECT project_id, word, docs, postings FROM retrieval_postings;
DROP TABLE retrieval_postings;
ALTER TABLE postings_apart RENAME TO retrieval_postings;
"""
"""With a row number, so that the tree of words holds words alone: a look for one compared it with the whole postings of
the words on its way, hundreds of kilobytes each where a project has many episodes."""

THEMES = """
CREATE TABLE unit_themes (
  unit_id INTEGER PRIMARY KEY REFERENCES work_units(id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  theme INTEGER NOT NULL,                    -- kept while most of its episodes stay together; 0: in none
  label TEXT NOT NULL                        -- two to four words, the same for all episodes of a theme
);
CREATE INDEX unit_themes_by_theme ON unit_themes(theme, unit_id);
CREATE INDEX unit_themes_by_project ON unit_themes(project_id, theme);
"""

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
