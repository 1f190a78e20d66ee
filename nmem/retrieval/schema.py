"""Tables of the retrieval index: a document for each narrated episode of a project, and postings by word.

Everything here is derived from the records and can be made again. A document that changes gets a new number in place of
the old one, which stays in the postings of words that the document has no more; no row answers to it.
"""

from __future__ import annotations

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
