"""Tables for reading sessions and summarizing projects, beside those of nmem.schema.

Imported only when a database is new or old.
"""

from __future__ import annotations

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
