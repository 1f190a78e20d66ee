"""Base tables of the database, the migrations that bring an older one to the newest version, and upkeep of its file.

`user_version` counts the migrations applied; each runs in one transaction and never loses a row.
Imported only when a database is new or old, or by settling, so a hook does not pay for this text.
"""

from __future__ import annotations

from capture.storage.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

_BASE = """
CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,              -- normalised git remote, else the root folder
  name TEXT NOT NULL,
  root TEXT NOT NULL,
  remote TEXT,
  created_at INTEGER NOT NULL
);
CREATE TABLE project_folders (           -- every folder a session ran in, resolved once
  folder TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  root TEXT NOT NULL                     -- the worktree's own root: paths are relative to it
) WITHOUT ROWID;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,                   -- the client's own id
  client TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects(id),
  parent_id TEXT,                        -- the session this one continues, forks or cleared
  cwd TEXT NOT NULL,
  branch TEXT,
  model TEXT,
  client_version TEXT,
  permission_mode TEXT,
  source TEXT,                           -- startup resume clear compact fork
  transcript_path TEXT,
  state TEXT NOT NULL DEFAULT 'idle',    -- working idle ended
  started_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  ended_at INTEGER,
  end_reason TEXT,
  seq INTEGER NOT NULL DEFAULT 0,        -- the newest observation's number
  context_tokens INTEGER,
  context_window INTEGER,
  context_at INTEGER,
  origin TEXT NOT NULL DEFAULT 'hook'    -- hook import demo
);
CREATE INDEX sessions_by_project ON sessions(project_id, last_at);
CREATE INDEX sessions_by_time ON sessions(last_at);
CREATE TABLE prompts (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions(id),
  at INTEGER NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('user', 'agent', 'machine')),
  kind TEXT NOT NULL,                    -- prompt late command | thinking closing summary subagent | notification
  content TEXT NOT NULL,
  native_id TEXT,                        -- the client's turn id; not unique
  agent_id TEXT,
  dedup_key TEXT NOT NULL,
  UNIQUE (session_id, dedup_key)
);
CREATE INDEX prompts_by_session ON prompts(session_id, source, at);
CREATE INDEX prompts_by_time ON prompts(at);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions(id),
  prompt_id INTEGER REFERENCES prompts(id),  -- the user prompt of the turn
  at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  obs_type TEXT NOT NULL,
  tool_name TEXT,
  tool_use_id TEXT,
  agent_id TEXT,
  file_path TEXT,
  content TEXT NOT NULL,
  outcome TEXT NOT NULL DEFAULT 'unknown' CHECK (outcome IN ('ok', 'failed', 'unknown')),
  exit_code INTEGER,
  duration_ms INTEGER,
  lines_added INTEGER,
  lines_removed INTEGER,
  repeats INTEGER NOT NULL DEFAULT 0,    -- the same read or search again within 300 s
  last_at INTEGER,                       -- when it was repeated last
  metadata TEXT,                         -- JSON object
  pinned INTEGER NOT NULL DEFAULT 0,
  phase REAL, scope REAL, locus REAL, novelty REAL, friction REAL,
  label_model TEXT,
  dedup_key TEXT NOT NULL,
  UNIQUE (session_id, dedup_key)
);
CREATE INDEX observations_by_session ON observations(session_id, seq);
CREATE INDEX observations_by_session_time ON observations(session_id, at);
CREATE INDEX observations_by_time ON observations(at);
CREATE INDEX observations_by_prompt ON observations(prompt_id);
CREATE INDEX observations_by_file ON observations(file_path, at) WHERE file_path IS NOT NULL;
CREATE TABLE merged_keys (               -- what was counted on an earlier row: told twice, it still counts once
  session_id TEXT NOT NULL,
  dedup_key TEXT NOT NULL,
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  PRIMARY KEY (session_id, dedup_key)
) WITHOUT ROWID;
CREATE INDEX merged_keys_by_observation ON merged_keys(observation_id);
CREATE TABLE hook_runs (                 -- the newest few thousand
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  client TEXT NOT NULL,
  event TEXT NOT NULL,
  session_id TEXT,
  wall_us INTEGER NOT NULL,              -- from the entry file's first line to the commit
  cpu_us INTEGER NOT NULL,               -- of the whole process, interpreter start included
  bytes INTEGER NOT NULL,
  result TEXT NOT NULL                   -- stored duplicate dropped
);
CREATE TABLE counters (                  -- drained, lost, errors ...
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE redactions (
  day TEXT NOT NULL,
  kind TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, kind)
) WITHOUT ROWID;
CREATE TABLE payload_drift (             -- fields that an adapter did not know
  client TEXT NOT NULL,
  event TEXT NOT NULL,
  field TEXT NOT NULL,
  client_version TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  PRIMARY KEY (client, event, field, client_version)
) WITHOUT ROWID;
CREATE TABLE transcript_cursors (
  path TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  offset INTEGER NOT NULL,               -- bytes of whole lines already read
  head TEXT NOT NULL,                    -- hash of the file's first bytes: tells a rotated file from a grown one
  state TEXT,                            -- JSON: what the lines before the offset said about those after it
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE observations_fts USING fts5(
  content, file_path, content="observations", content_rowid='id', tokenize='porter unicode61'
);
CREATE VIRTUAL TABLE prompts_fts USING fts5(
  content, content="prompts", content_rowid='id', tokenize='porter unicode61'
);
INSERT INTO observations_fts(observations_fts, rank) VALUES ('automerge', 8);
INSERT INTO prompts_fts(prompts_fts, rank) VALUES ('automerge', 8);
CREATE TRIGGER observations_fts_insert AFTER INSERT ON observations BEGIN
  INSERT INTO observations_fts(rowid, content, file_path) VALUES (new.id, new.content, new.file_path);
END;
CREATE TRIGGER observations_fts_delete AFTER DELETE ON observations BEGIN
  INSERT INTO observations_fts(observations_fts, rowid, content, file_path)
  VALUES ('delete', old.id, old.content, old.file_path);
END;
CREATE TRIGGER observations_fts_update AFTER UPDATE OF content, file_path ON observations BEGIN
  INSERT INTO observations_fts(observations_fts, rowid, content, file_path)
  VALUES ('delete', old.id, old.content, old.file_path);
  INSERT INTO observations_fts(rowid, content, file_path) VALUES (new.id, new.content, new.file_path);
END;
CREATE TRIGGER prompts_fts_insert AFTER INSERT ON prompts BEGIN
  INSERT INTO prompts_fts(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER prompts_fts_delete AFTER DELETE ON prompts BEGIN
  INSERT INTO prompts_fts(prompts_fts, rowid, content) VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER prompts_fts_update AFTER UPDATE OF content ON prompts BEGIN
  INSERT INTO prompts_fts(prompts_fts, rowid, content) VALUES ('delete', old.id, old.content);
  INSERT INTO prompts_fts(rowid, content) VALUES (new.id, new.content);
END;
"""

_WINDOWS = """
CREATE TABLE status_lines (              -- what a client told its status line last: the best word on window and cost
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  model TEXT,
  window_size INTEGER,
  tokens INTEGER,                        -- NULL: no answer yet, or just compacted
  cost_usd REAL                          -- the client's own estimate, of the session so far
) WITHOUT ROWID;
CREATE TABLE context_readings (          -- how full the window was when a turn ended: its growth is read from these
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (session_id, at)
) WITHOUT ROWID;
"""

_SHAPES = """
CREATE TABLE payload_shapes (            -- which known fields of which types payloads have had; each shape stands once
  id INTEGER PRIMARY KEY,
  client TEXT NOT NULL,
  event TEXT NOT NULL,                   -- as the client calls it
  tool TEXT NOT NULL,                    -- a tool that the adapter knows, else mcp or other; empty for other events
  fields TEXT NOT NULL,                  -- 'cwd:s duration_ms:n tool_response.stdout:s +colour': capture.clients.fields
  UNIQUE (client, event, tool, fields)
);
CREATE TABLE session_shapes (            -- when a session's payloads had them: its version may become known later
  session_id TEXT NOT NULL,              -- empty: of a payload that nothing could be made of
  shape_id INTEGER NOT NULL REFERENCES payload_shapes(id),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  payloads INTEGER NOT NULL,
  PRIMARY KEY (session_id, shape_id)
) WITHOUT ROWID;
CREATE TRIGGER session_shapes_gone AFTER DELETE ON sessions BEGIN
  DELETE FROM session_shapes WHERE session_id = old.id;
END;
"""

_IDS = """
CREATE TABLE gone_ids (                  -- an id that was somebody's is never given to another row: people note them
  name TEXT PRIMARY KEY,                 -- prompts observations
  newest INTEGER NOT NULL                -- the highest id that a deleted row had, or that is known to have been given
) WITHOUT ROWID;
INSERT INTO gone_ids VALUES ('prompts', 0), ('observations', 0);
CREATE TRIGGER prompts_gone AFTER DELETE ON prompts BEGIN
  UPDATE gone_ids SET newest = old.id WHERE name = 'prompts' AND newest < old.id;
END;
CREATE TRIGGER observations_gone AFTER DELETE ON observations BEGIN
  UPDATE gone_ids SET newest = old.id WHERE name = 'observations' AND newest < old.id;
END;
"""

MIGRATIONS: tuple[str, ...] = (_BASE, _WINDOWS, _SHAPES, _IDS)


class NewerDatabase(Exception):
    """The database was written by a newer nmem; nothing is touched."""


class ForeignDatabase(DatabaseError):
    """The file is the database of another program; nothing is touched."""


def statements(script: str) -> list[str]:
    """Whole statements of a script: a trigger's body holds semicolons of its own."""
    from sqlite3 import complete_statement  # on use: start-up stays short

    out, start, end = [], 0, script.find(";")
    while end >= 0:
        if complete_statement(script[start : end + 1]):
            out.append(script[start : end + 1])
            start = end + 1
        end = script.find(";", end + 1)
    return out


def check_own(db: Connection) -> None:
    """Raise ForeignDatabase for a database that holds tables, but not nmem's."""
    found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'")
    names = {row[0] for row in found.fetchall()}
    if names and not names >= {"sessions", "prompts", "observations"}:
        raise ForeignDatabase("this is another program's database")


def migrate(db: Connection) -> None:
    """Bring a database to the newest version, each migration in one transaction.

    Raises NewerDatabase when it is newer than this code.
    """
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise NewerDatabase(f"the database has version {version}; this nmem knows {len(MIGRATIONS)}")
    for number in range(version, len(MIGRATIONS)):
        db.execute("BEGIN IMMEDIATE")
        try:
            # another process may have migrated while this one waited for the lock
            if db.execute("PRAGMA user_version").fetchone()[0] == number:
                for statement in statements(MIGRATIONS[number]):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number + 1}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


_MERGE_PAGES = 16
_MERGES = 20
"""The text index is merged in steps so short that no hook gives up waiting for the database."""


def fold(db: Connection, wait: int = 500) -> None:
    """Fold the write-ahead log back and cut it, unless readers are in its midst for `wait` milliseconds."""
    db.execute(f"PRAGMA busy_timeout={wait:d}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def merge(db: Connection) -> None:
    """Merge each text index a little, until there is nothing left to merge, and cut the write-ahead log."""
    for index in ("observations_fts", "prompts_fts"):
        for _ in range(_MERGES):
            before = db.total_changes
            db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('merge', {_MERGE_PAGES})")  # noqa: S608 - our names
            if db.total_changes - before < 2:
                break
    db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()  # the bulk, while others go on writing
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
