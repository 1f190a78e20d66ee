"""The SQL schema of episodes, threads, their links and corrections, and of views over recorded prompts and calls.

nmem owns these; capture does not know them. `nmem_schema.version` counts the migrations applied (nmem.tables).
Imported only when a database is new or old, so a hook does not pay for this text.
"""

from __future__ import annotations

from nmem.store.schema import found, kept

_MEANING = """
CREATE TABLE threads (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  title TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  clients TEXT NOT NULL DEFAULT '[]',        -- JSON list: the channels it ran through
  timeout_minutes REAL,                      -- NULL: the client's, else the default
  explicit INTEGER NOT NULL DEFAULT 0,       -- a person chose it
  turn_count INTEGER NOT NULL DEFAULT 0,
  primary_unit_id INTEGER,
  state TEXT NOT NULL DEFAULT 'open',        -- open closed
  micro TEXT, meso TEXT, macro TEXT,         -- compacted summaries
  compacted_at INTEGER,
  pinned INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX threads_by_project ON threads(project_id, last_at);
CREATE TABLE session_threads (               -- which thread a session continues
  session_id TEXT PRIMARY KEY REFERENCES sessions(id),
  thread_id INTEGER NOT NULL REFERENCES threads(id),
  how TEXT NOT NULL                          -- new timeout resume chosen linked
) WITHOUT ROWID;
CREATE INDEX session_threads_by_thread ON session_threads(thread_id);
CREATE TABLE thread_choices (                -- what a person chose for the next session of a project
  project_id INTEGER PRIMARY KEY REFERENCES projects(id),
  thread_id INTEGER REFERENCES threads(id),  -- NULL: a new one
  at INTEGER NOT NULL
);
CREATE TABLE work_units (
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- a person may have noted it: never used again
  session_id TEXT NOT NULL REFERENCES sessions(id),
  thread_id INTEGER REFERENCES threads(id),
  first_prompt_id INTEGER NOT NULL REFERENCES prompts(id),
  last_prompt_id INTEGER NOT NULL REFERENCES prompts(id),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,                          -- NULL while it is open
  last_at INTEGER NOT NULL,
  active_ms INTEGER NOT NULL DEFAULT 0,      -- activity, not wall gaps
  active_at INTEGER NOT NULL DEFAULT 0,      -- up to when it is counted
  state TEXT NOT NULL DEFAULT 'open',        -- open closed
  intent TEXT NOT NULL,
  title TEXT,                                -- a person's own name for it
  resumes INTEGER REFERENCES work_units(id),
  cut_reason TEXT NOT NULL DEFAULT '',       -- why it was cut here
  cut_confidence REAL NOT NULL DEFAULT 0,    -- 0..1
  cut_by TEXT NOT NULL DEFAULT 'online',     -- first online revised llm person
  turn_count INTEGER NOT NULL DEFAULT 0,
  obs_count INTEGER NOT NULL DEFAULT 0,
  hot_files TEXT NOT NULL DEFAULT '[]',      -- JSON: [{path, reads, edits, failures, weight}]
  phase_signature TEXT NOT NULL DEFAULT '{}',-- JSON counts: investigate execute failures ...
  fingerprint TEXT NOT NULL DEFAULT '{}',    -- JSON counts by obs_type, labels when there are any
  outcomes TEXT NOT NULL DEFAULT '{}',       -- JSON: {tests, committed, pushed, abandoned, reverted}
  commits TEXT NOT NULL DEFAULT '[]',        -- JSON: [{hash, message, branch, at}]
  friction REAL,                             -- 0..1
  obs_trace TEXT NOT NULL DEFAULT '[]',      -- JSON: [{id, t, type, path, outcome, scores}]
  annotated_seq INTEGER NOT NULL DEFAULT 0,  -- the newest observation counted in; 0: count again from the start
  annotated_prompt INTEGER NOT NULL DEFAULT 0,  -- the newest saying of the agent counted in
  traced_seq INTEGER NOT NULL DEFAULT 0,     -- the newest observation in obs_trace
  checkpoint TEXT,                           -- JSON, taken before a compaction
  client_summary TEXT,                       -- the client's own compact summary
  summary TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT,   -- the narrative; lists are JSON
  files_read TEXT, files_edited TEXT,
  narrator TEXT,                             -- extractive, or the model's name
  narrated_at INTEGER,
  pinned INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX work_units_by_session ON work_units(session_id, started_at);
CREATE INDEX work_units_by_time ON work_units(last_at);
CREATE INDEX work_units_by_thread ON work_units(thread_id, started_at);
CREATE INDEX work_units_by_first_prompt ON work_units(first_prompt_id);
CREATE INDEX work_units_by_last_prompt ON work_units(last_prompt_id);
CREATE INDEX work_units_by_goal ON work_units(resumes) WHERE resumes IS NOT NULL;
CREATE TABLE unit_prompts (                  -- every user prompt belongs to one episode
  prompt_id INTEGER PRIMARY KEY REFERENCES prompts(id),
  unit_id INTEGER NOT NULL REFERENCES work_units(id),
  label TEXT NOT NULL,                       -- new sub cont ack
  score REAL,                                -- the detector's probability of `new`
  reason TEXT NOT NULL DEFAULT '',
  decided_by TEXT NOT NULL,                  -- first online revised llm person
  offered INTEGER NOT NULL DEFAULT 0         -- nearly cut here: worth asking the person
);
CREATE INDEX unit_prompts_by_unit ON unit_prompts(unit_id, prompt_id);
CREATE INDEX unit_prompts_offered ON unit_prompts(prompt_id) WHERE offered;
CREATE TABLE corrections (                   -- what a person changed; re-detection never overwrites it
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,                        -- split merge rename resume move keep pin link thread, and un-
  target TEXT NOT NULL,                      -- e.g. episode/12, thread/3
  payload TEXT NOT NULL,                     -- JSON: what was asked
  before TEXT NOT NULL,                      -- JSON: the rows as they were, for undo
  undone_at INTEGER
);
CREATE TABLE episode_links (                 -- cross-thread episodes: every decision, linked or not
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  earlier_thread_id INTEGER NOT NULL REFERENCES threads(id),
  later_thread_id INTEGER NOT NULL REFERENCES threads(id),
  algorithmic_score REAL NOT NULL,
  components TEXT NOT NULL,                  -- JSON: {keywords, entities, topic, recency}
  llm_related INTEGER, llm_confidence REAL, llm_reasoning TEXT,
  decision TEXT NOT NULL,                    -- link dont_link
  certainty TEXT NOT NULL,                   -- high uncertain
  agreement INTEGER,
  outcome TEXT,                              -- correct incorrect
  outcome_by TEXT,                           -- person files
  outcome_at INTEGER,
  summary TEXT,                              -- combined, when linked
  UNIQUE (earlier_thread_id, later_thread_id)
);
CREATE INDEX episode_links_by_later ON episode_links(later_thread_id);
CREATE TABLE tuning_history (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  subject TEXT NOT NULL,                     -- linking boundaries
  before TEXT NOT NULL, after TEXT NOT NULL, -- JSON: weights, threshold
  reason TEXT NOT NULL,
  metrics TEXT NOT NULL                      -- JSON: accuracy, false positive and negative rate, before and after
);
CREATE TABLE skills (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  name TEXT NOT NULL,
  use_when TEXT NOT NULL,
  steps TEXT NOT NULL,                       -- JSON list
  evidence TEXT NOT NULL,                    -- JSON list of episode ids
  created_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
);
CREATE TABLE narrations (                    -- how an episode was told, beside the narrative itself
  unit_id INTEGER PRIMARY KEY REFERENCES work_units(id) ON DELETE CASCADE,
  told_of TEXT NOT NULL,                     -- what was in the episode then; another text: tell it again
  by_model INTEGER NOT NULL,                 -- 0: extractive
  fallback TEXT NOT NULL DEFAULT '',         -- why no model told it although one was asked
  outcome TEXT NOT NULL DEFAULT '',
  obstacle TEXT NOT NULL DEFAULT '',
  marks TEXT NOT NULL DEFAULT '[]',          -- JSON list: committed tests_passed ...
  dropped INTEGER NOT NULL DEFAULT 0         -- sentences of the model that the records do not bear out
);
CREATE TABLE llm_attempts (                  -- what a model was asked and could not answer: not asked for ever
  subject TEXT PRIMARY KEY,                  -- episode/12, boundaries/SESSION
  told_of TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  at INTEGER NOT NULL,
  failure TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE session_summaries (
  session_id TEXT PRIMARY KEY REFERENCES sessions(id),
  intent TEXT NOT NULL,
  learned TEXT NOT NULL, completed TEXT NOT NULL, next_steps TEXT NOT NULL,
  files_read TEXT NOT NULL, files_edited TEXT NOT NULL, notes TEXT,
  signature TEXT NOT NULL DEFAULT '{}',
  narrator TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE session_signatures (            -- what a session did, over its episodes
  session_id TEXT PRIMARY KEY REFERENCES sessions(id),
  signature TEXT NOT NULL DEFAULT '{}',      -- JSON counts: investigate execute failures ...
  fingerprint TEXT NOT NULL DEFAULT '{}',    -- JSON counts by obs_type
  units INTEGER NOT NULL,
  active_ms INTEGER NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE llm_ledger (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL, day TEXT NOT NULL,
  backend TEXT NOT NULL, purpose TEXT NOT NULL,
  tokens INTEGER NOT NULL,                   -- question and answer together
  ms INTEGER NOT NULL, result TEXT NOT NULL  -- ok, or the kind of failure: timeout status length unreachable ...
);
CREATE INDEX llm_ledger_by_day ON llm_ledger(day);
CREATE VIRTUAL TABLE narratives_fts USING fts5(
  title, intent, body, files, tokenize='porter unicode61'   -- rowid = work_units.id; kept by the triggers below
);
CREATE TRIGGER narratives_insert AFTER INSERT ON work_units BEGIN
  DELETE FROM narratives_fts WHERE rowid = new.id;
  INSERT INTO narratives_fts(rowid, title, intent, body, files) VALUES (new.id, new.title, new.intent,
    coalesce(new.summary, '') || ' ' || coalesce(new.learned, '') || ' ' || coalesce(new.completed, '') || ' '
    || coalesce(new.next_steps, '') || ' ' || coalesce(new.notes, ''),
    coalesce(new.files_edited, '') || ' ' || coalesce(new.files_read, ''));
END;
CREATE TRIGGER narratives_delete AFTER DELETE ON work_units BEGIN
  DELETE FROM narratives_fts WHERE rowid = old.id;
END;
CREATE TRIGGER narratives_update AFTER UPDATE OF id, title, intent, narrated_at, summary ON work_units
WHEN old.id IS NOT new.id OR old.title IS NOT new.title OR old.intent IS NOT new.intent
  OR old.narrated_at IS NOT new.narrated_at OR old.summary IS NOT new.summary BEGIN
  DELETE FROM narratives_fts WHERE rowid = old.id;
  INSERT INTO narratives_fts(rowid, title, intent, body, files) VALUES (new.id, new.title, new.intent,
    coalesce(new.summary, '') || ' ' || coalesce(new.learned, '') || ' ' || coalesce(new.completed, '') || ' '
    || coalesce(new.next_steps, '') || ' ' || coalesce(new.notes, ''),
    coalesce(new.files_edited, '') || ' ' || coalesce(new.files_read, ''));
END;
CREATE VIEW user_intent_stream AS
  SELECT p.id AS prompt_id, p.session_id, p.at, p.content, p.kind,
         p.at - LAG(p.at) OVER (PARTITION BY p.session_id ORDER BY p.at, p.id) AS gap_ms
  FROM prompts p WHERE p.source = 'user' AND p.agent_id IS NULL;
CREATE VIEW prompt_signals AS
  SELECT o.session_id, o.prompt_id, o.obs_type, count(*) AS n, sum(o.outcome = 'failed') AS failed
  FROM observations o GROUP BY o.session_id, o.prompt_id, o.obs_type;
CREATE VIEW turn_outcomes AS
  SELECT o.session_id, o.prompt_id, min(o.at) AS first_at, max(o.at) AS last_at, count(*) AS actions,
         sum(o.outcome = 'failed') AS failures,
         sum(o.obs_type = 'git_commit' AND o.outcome = 'ok') AS commits,
         sum(o.obs_type = 'git_push' AND o.outcome = 'ok') AS pushes
  FROM observations o GROUP BY o.session_id, o.prompt_id;
"""

_LABELS_AND_LEARNINGS = """
CREATE TABLE label_models (                  -- what labelled observations: observations.label_model names one
  name TEXT PRIMARY KEY,                     -- twelve hex digits of its weights
  at INTEGER NOT NULL,                       -- when it was first used here
  source TEXT NOT NULL,                      -- shipped personal
  card TEXT NOT NULL                         -- JSON: corpus and figures by dimension
) WITHOUT ROWID;
CREATE TABLE learnings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,      -- a person may have noted it: never used again
  project_id INTEGER NOT NULL REFERENCES projects(id),
  kind TEXT NOT NULL,                        -- failed_command recurring_error repeated_intent unresolved_read ...
  key TEXT NOT NULL,                         -- the pattern, normalised: what makes two occurrences the same
  title TEXT NOT NULL,                       -- the pattern as a person reads it
  files TEXT NOT NULL DEFAULT '[]',          -- JSON list of the project's files it was met in
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  sessions INTEGER NOT NULL,                 -- distinct ones it occurred in
  occurrences INTEGER NOT NULL,              -- all of them, also those whose evidence is not kept
  state TEXT NOT NULL DEFAULT 'open',        -- open accepted dismissed snoozed resolved
  state_at INTEGER,
  state_by TEXT,                             -- person evidence
  snoozed_until INTEGER,
  reopened INTEGER NOT NULL DEFAULT 0,       -- how often it came back after it was resolved
  reopened_by_return INTEGER NOT NULL DEFAULT 0,  -- of these, after a person had resolved it
  remedy TEXT,                               -- JSON: what changed between the failing and the passing run
  rule TEXT,                                 -- the wording accepted into the project's instructions
  UNIQUE (project_id, kind, key)
);
CREATE INDEX learnings_by_time ON learnings(last_at);
CREATE TABLE learning_evidence (             -- where a pattern was met, and where it was put right
  id INTEGER PRIMARY KEY,
  learning_id INTEGER NOT NULL REFERENCES learnings(id) ON DELETE CASCADE,
  role TEXT NOT NULL,                        -- occurrence fix
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  observation_id INTEGER REFERENCES observations(id) ON DELETE SET NULL,
  prompt_id INTEGER REFERENCES prompts(id) ON DELETE SET NULL,
  at INTEGER NOT NULL,
  excerpt TEXT NOT NULL DEFAULT ''           -- a line or two: stays when the observation is forgotten
);
CREATE INDEX learning_evidence_by_learning ON learning_evidence(learning_id, at);
CREATE INDEX learning_evidence_by_session ON learning_evidence(session_id);
CREATE INDEX learning_evidence_by_observation ON learning_evidence(observation_id) WHERE observation_id IS NOT NULL;
CREATE INDEX learning_evidence_by_prompt ON learning_evidence(prompt_id) WHERE prompt_id IS NOT NULL;
CREATE TABLE learned_sessions (              -- up to which observation a session was searched for patterns
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  told_of TEXT NOT NULL,                     -- by which rules: others, search it again
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE learning_findings (             -- what a session says of one pattern; learnings are made of several
  project_id INTEGER NOT NULL REFERENCES projects(id),
  kind TEXT NOT NULL,                        -- command error stretch
  key TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  data TEXT NOT NULL,                        -- JSON: failures, passes and what lay between; excerpts, no whole output
  PRIMARY KEY (project_id, kind, key, session_id)
) WITHOUT ROWID;
CREATE INDEX learning_findings_by_session ON learning_findings(session_id);
CREATE TABLE unit_warnings (                 -- hot learnings that an episode's intent or files match
  unit_id INTEGER NOT NULL REFERENCES work_units(id) ON DELETE CASCADE,
  learning_id INTEGER NOT NULL REFERENCES learnings(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,                      -- what matched, in words
  PRIMARY KEY (unit_id, learning_id)
) WITHOUT ROWID;
CREATE INDEX unit_warnings_by_learning ON unit_warnings(learning_id);
"""

_TOLD = (
    "coalesce({0}.summary, '') || ' ' || coalesce({0}.learned, '') || ' ' || coalesce({0}.completed, '') || ' '"
    " || coalesce({0}.next_steps, '') || ' ' || coalesce({0}.notes, '')"
)
_FILES = "coalesce({0}.files_edited, '') || ' ' || coalesce({0}.files_read, '')"
_WATCHED = ("id", "title", "intent", "summary", "learned", "completed", "next_steps", "notes", "files_edited",
            "files_read")  # fmt: skip
_WHOLLY_INDEXED = f"""
DROP TRIGGER narratives_update;
CREATE TRIGGER narratives_update AFTER UPDATE OF {", ".join(_WATCHED)} ON work_units
WHEN {" OR ".join(f"old.{name} IS NOT new.{name}" for name in _WATCHED)} BEGIN
  DELETE FROM narratives_fts WHERE rowid = old.id;
  INSERT INTO narratives_fts(rowid, title, intent, body, files)
    VALUES (new.id, new.title, new.intent, {_TOLD.format("new")}, {_FILES.format("new")});
END;
DELETE FROM narratives_fts WHERE rowid IN (
  SELECT u.id FROM work_units u JOIN narratives_fts f ON f.rowid = u.id WHERE f.title IS NOT u.title
    OR f.intent IS NOT u.intent OR f.body IS NOT {_TOLD.format("u")} OR f.files IS NOT {_FILES.format("u")}
);
INSERT INTO narratives_fts(rowid, title, intent, body, files)
  SELECT u.id, u.title, u.intent, {_TOLD.format("u")}, {_FILES.format("u")} FROM work_units u
  WHERE u.id NOT IN (SELECT id FROM narratives_fts_docsize);
"""  # noqa: S608 - our names
"""The index of episodes follows every column it holds; what it missed is put right."""

_AGENT_TITLE = """
ALTER TABLE work_units ADD COLUMN agent_title TEXT;  -- what the agent called it: the tool `episode`
"""
_HEADINGS = "ALTER TABLE work_units ADD COLUMN heading TEXT;"
"""The title that is made of an episode's records (nmem.episodes.titles); `title` is a name that was given."""

_STANDING = """
CREATE INDEX work_units_standing ON work_units(
  narrated_at, state, session_id, thread_id, last_at, started_at, first_prompt_id, last_prompt_id, turn_count,
  obs_count, annotated_seq, annotated_prompt, traced_seq, title, agent_title, heading);
CREATE INDEX prompts_asked ON prompts(session_id, kind, at) WHERE source = 'user' AND agent_id IS NULL;
"""
"""Each turn asks of all episodes and prompts what is left to do: answered without reading a trace or a text."""

_WORDS = """
DROP VIEW user_intent_stream;
CREATE VIEW user_intent_stream AS
  SELECT p.id AS prompt_id, p.session_id, p.at, p.content, p.kind,
         CASE WHEN trim(p.content, ' ' || char(9, 10, 13)) = '' THEN 0 ELSE 1 + length(replace(replace(replace(
           trim(replace(replace(replace(p.content, char(9), ' '), char(10), ' '), char(13), ' ')),
           ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')) - length(replace(replace(replace(
           trim(replace(replace(replace(p.content, char(9), ' '), char(10), ' '), char(13), ' ')),
           ' ', char(1, 2)), char(2, 1), ''), char(1, 2), '')) END AS word_count,
         p.at - LAG(p.at) OVER (PARTITION BY p.session_id ORDER BY p.at, p.id) AS gap_ms,
         (p.at - LAG(p.at) OVER (PARTITION BY p.session_id ORDER BY p.at, p.id)) / 1000 AS gap_seconds
  FROM prompts p WHERE p.source = 'user' AND p.agent_id IS NULL;
"""
"""Words by the white space between them, however much of it; control characters are cleaned away before storing."""

_STARTED = """
CREATE INDEX sessions_started ON sessions(started_at);
CREATE INDEX sessions_of_project_started ON sessions(project_id, started_at);
"""
"""The newest sessions before a moment, of all and of a project, a few of which are asked for again and again
(nmem.threads.subject). Without `last_at`, which each hook moves."""

MIGRATIONS: tuple[str, ...] = (
    _MEANING, _LABELS_AND_LEARNINGS, found.CONTEXT, kept.LEARNED, found.SEARCH, kept.TASKS, kept.AUDIT, kept.PURGES,
    kept.FORGETTING, found.KEYED, found.RECALL, kept.SWEPT_KEYS, _WHOLLY_INDEXED, kept.PURGED_KEYS, kept.TAKEN_BACK,
    found.TASKS_FOUND, found.RETRIEVAL, found.SAID, found.EVERYWHERE, _AGENT_TITLE, kept.FAILED, _HEADINGS, _STANDING,
    found.THEMES, _WORDS, kept.SKILLS_ARE_LEARNED, _STARTED, kept.COST, kept.SESSIONS, kept.STRUCTURE, kept.TEAM,
    found.POSTINGS_APART,
)  # fmt: skip
