"""The SQL schema of search, of the retrieval index and of themes: tables that can be rebuilt from others.

No hook pays for search: none of its triggers is on an INSERT into prompts or observations, or on an UPDATE that a hook
makes. Words are in the indexes that capture keeps; SEARCH adds the vocabulary (beginnings and parts of words), where in
time ids lie, and texts that no index has: outputs of failing calls, summaries, learnings, unspaced scripts.

The retrieval index holds a document for each told episode of a project, and postings by word. A document that changes
gets a new number in place of the old one, which stays in the postings of words that the document has no more; no row
answers to it.

Imported only when a database is new or old.
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
