"""The registry of tables: says of each one how purge, undo, redaction, export and replay of the past treat it.

A new table or column of text has to be declared here; a test compares the registry with the schema. Foreign keys and
primary keys are read from the schema itself (`nmem.purge.journal.tables`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["fact", "record", "derived", "person"]
FACT: Kind = "fact"
"""What happened, as clients tell it."""
RECORD: Kind = "record"
"""What nmem itself did: runs, losses, injections, sweeps, purges."""
DERIVED: Kind = "derived"
"""Concluded from facts; settling makes these rows anew."""
PERSON: Kind = "person"
"""What a person said or chose."""
BORN = "{at} < {now}"
"""As of a moment, the rows that came before it, by their own time."""
ALWAYS = "1"
"""As of a moment, every row: the table holds no history."""


@dataclass(frozen=True, slots=True)
class Export:
    """How a table goes along in an export of tables."""

    part: Literal["facts", "session", "across"]
    """Entered before sessions, with each session, or after all of them."""
    refs: dict[str, str] = field(default_factory=dict)
    """Columns that hold ids of another table: numbered anew at import."""
    own: bool = False
    """The table has an id of its own that others name."""
    optional: str = ""
    """Of `refs`, the columns that may point nowhere; rows whose others do stay behind."""
    where: str = ""
    """Which rows, where `Table.of` does not say it; {sessions}, {projects}, {threads}, {learnings} are those chosen."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `texts`, `words` and `ids` name its columns that can hold text, separated by blanks."""

    name: str
    kind: Kind
    texts: str = ""
    """Columns of free text: redacted anew when rules change, searched by a purge."""
    words: str = ""
    """Columns of nmem's own vocabulary: a purge by text leaves values that consist of it."""
    ids: str = ""
    """Columns of identifiers, hashes and handles: never redacted in place."""
    packed: str = ""
    """Columns of compressed text: the module that packs them looks into them for a purge, and redacts them."""
    of: Literal["", "session", "unit", "injection", "project"] = ""
    """Whose rows these are: the session, an episode, an injection or a project."""
    at: str = ""
    """The column with the time at which a row came, in milliseconds."""
    noted: bool = True
    """A purge writes down what it changes here; otherwise only while it takes out chosen words."""
    redacted: bool = True
    """Redaction goes over stored rows when its rules change."""
    whole: bool = False
    """A row is of no use without its words: a purge by text deletes the row."""
    remade: bool = False
    """Made of sessions: the undo of a purge replaces all rows of the sessions concerned."""
    numbered: bool = False
    """Row numbers may be used again after a purge: its undo moves newer rows."""
    stays: bool = False
    """The row stays, without its words, when a purge takes the session."""
    candidate: bool = False
    """Candidates for context: emptied by a purge until settling has folded the project again."""
    ever: bool = False
    """What must never be forgotten, as hashes: no purge takes words out of it, no undo takes rows back."""
    asof: str = ""
    """Which rows a view as of {now} shows; "" where nothing reads the table as of a moment."""
    export: Export | None = None
    """None: stays on this machine."""

    def columns(self) -> frozenset[str]:
        """Every declared column of text."""
        return frozenset(f"{self.texts} {self.words} {self.ids}".split())

    def rows_of(self, sessions: str, schema: str = "") -> str:
        """An SQL condition for the rows of sessions; `sessions` is a subquery, `schema` a prefix with its dot."""
        if self.of == "unit":
            return f"unit_id IN (SELECT id FROM {schema}work_units WHERE session_id IN {sessions})"
        if self.of == "injection":
            return f"injection_id IN (SELECT id FROM {schema}injections WHERE session_id IN {sessions})"
        assert self.of == "session", self.name
        return f"session_id IN {sessions}"


_THREAD_KNOWN = (
    "(SELECT started_at FROM main.sessions WHERE id = t.session_id) < {now}"
    " AND (SELECT created_at FROM main.threads WHERE id = t.thread_id) < {now}"
    " AND NOT EXISTS (SELECT 1 FROM main.corrections c WHERE c.at >= {now} AND c.kind = 'thread'"
    " AND c.target = 'session/' || t.session_id AND c.undone_at IS NULL)"
)
_PROMPT_AND_UNIT = (
    "(SELECT at FROM main.prompts WHERE id = t.prompt_id) < {now}"
    " AND (SELECT started_at FROM main.work_units WHERE id = t.unit_id) < {now}"
)
_SESSION_OVER = "(SELECT last_at FROM main.sessions WHERE id = t.session_id) < {now}"
_INJECTED = "(SELECT at FROM main.injections WHERE id = t.injection_id) < {now}"
_CORRECTIONS = (
    "json_extract(payload, '$.session') IN {sessions}"
    " OR target IN (SELECT 'learning/' || id FROM src.learnings WHERE project_id IN {projects})"
    " OR target IN (SELECT 'thread/' || id FROM src.threads WHERE id IN {threads})"
    " OR target IN (SELECT 'session/' || id FROM temp.chosen)"
    " OR target IN (SELECT 'prompt/' || id FROM src.prompts WHERE session_id IN {sessions})"
    " OR (target LIKE 'obs/%' AND (SELECT session_id FROM src.observations"
    " WHERE id = CAST(substr(target, 5) AS INTEGER)) IN {sessions})"
)

# fmt: off
TABLES = (
    # Facts, as hooks, imports and transcripts tell them.
    Table("projects", FACT, texts="key name root remote", at="created_at", asof=ALWAYS,
          export=Export("facts", own=True, where="id IN {projects}")),
    Table("project_folders", FACT, texts="folder root", of="project", asof=ALWAYS,
          export=Export("facts", {"project_id": "projects"})),
    Table("sessions", FACT, texts="cwd branch model client_version transcript_path",
          words="client permission_mode source state end_reason origin", ids="id parent_id", of="project",
          at="started_at", asof="started_at <= {now}",
          export=Export("facts", {"project_id": "projects"}, where="id IN {sessions}")),
    Table("prompts", FACT, texts="content", words="source kind", ids="session_id native_id agent_id dedup_key",
          of="session", at="at", numbered=True, asof=BORN, export=Export("facts", own=True)),
    Table("observations", FACT, texts="tool_name file_path content metadata label_model", words="obs_type outcome",
          ids="session_id tool_use_id agent_id dedup_key", of="session", at="at", numbered=True, asof=BORN,
          export=Export("facts", {"prompt_id": "prompts"}, own=True, optional="prompt_id")),
    Table("merged_keys", FACT, ids="session_id dedup_key", of="session",
          export=Export("session", {"observation_id": "observations"})),
    Table("status_lines", FACT, texts="model", ids="session_id", of="session", at="at", export=Export("session")),
    Table("context_readings", FACT, ids="session_id", of="session", at="at", export=Export("session")),
    Table("model_usage", FACT, texts="model", ids="session_id", of="session", at="at", export=Export("session")),
    Table("usage_places", RECORD, texts="state", ids="path session_id head", of="session", stays=True),
    # Records of capture itself: its runs, counters and what clients send.
    Table("transcript_cursors", RECORD, texts="state", ids="path session_id head", of="session", at="updated_at",
          stays=True),
    Table("hook_runs", RECORD, words="client event result", ids="session_id", of="session", at="at", whole=True,
          numbered=True),
    Table("counters", RECORD, words="name", noted=False, redacted=False),
    Table("redactions", RECORD, words="day kind", noted=False, redacted=False),
    Table("payload_drift", RECORD, texts="field client_version", words="client event", at="first_at"),
    Table("payload_shapes", RECORD, texts="tool fields", words="client event"),
    Table("session_shapes", RECORD, ids="session_id", of="session", at="first_at"),
    Table("gone_ids", RECORD, words="name"),
    Table("session_threads", DERIVED, words="how", ids="session_id", of="session", remade=True, asof=_THREAD_KNOWN,
          export=Export("session", {"thread_id": "threads"})),
    # Records of retention: what a sweep took, and the traces that stand for it.
    Table("sweep_journal", RECORD, texts="why policy done skipped", of="project", at="started_at"),
    Table("sweep_counts", RECORD, words="type", of="project"),
    Table("swept_sessions", RECORD, ids="session_id", of="session", at="at", asof=ALWAYS, export=Export("session")),
    Table("swept_files", RECORD, texts="file_path", ids="session_id", of="session", at="first_at",
          export=Export("session")),
    Table("swept_traces", RECORD, texts="trace", ids="session_id", of="session", export=Export("session")),
    Table("swept_keys", RECORD, ids="session_id keys", of="session", export=Export("session")),
    # Episodes, and what is concluded of them.
    Table("work_units", DERIVED,
          texts="intent title cut_reason hot_files phase_signature fingerprint outcomes commits obs_trace checkpoint"
          " client_summary summary learned completed next_steps notes files_read files_edited agent_title heading",
          words="state cut_by narrator", ids="session_id", of="session", at="started_at", remade=True, asof=BORN,
          export=Export("session", {"thread_id": "threads", "first_prompt_id": "prompts", "last_prompt_id": "prompts",
                                        "resumes": "work_units", "annotated_prompt": "prompts"},
                        own=True, optional="thread_id resumes")),
    Table("unit_prompts", DERIVED, texts="reason", words="label decided_by", of="unit", remade=True,
          asof=_PROMPT_AND_UNIT, export=Export("session", {"prompt_id": "prompts", "unit_id": "work_units"})),
    Table("narrations", DERIVED, texts="fallback outcome obstacle marks", words="told_of", of="unit", whole=True,
          remade=True, export=Export("session", {"unit_id": "work_units"})),
    Table("said_decisions", DERIVED, texts="wording", words="kind state", ids="session_id", of="session", at="at",
          remade=True, asof=BORN,
          export=Export("session", {"prompt_id": "prompts", "asked_id": "prompts", "restated_id": "prompts",
                                        "superseded_by": "said_decisions"},
                        own=True, optional="asked_id restated_id superseded_by")),
    Table("decided_units", DERIVED, words="told_of", of="unit", remade=True),
    Table("session_summaries", DERIVED,
          texts="intent learned completed next_steps files_read files_edited notes signature", words="narrator",
          ids="session_id", of="session", at="at", remade=True, asof=_SESSION_OVER, export=Export("session")),
    Table("session_signatures", DERIVED, texts="signature fingerprint", ids="session_id", of="session", at="at",
          remade=True, export=Export("session")),
    Table("llm_attempts", RECORD, texts="failure", words="told_of", ids="subject", at="at", whole=True),
    Table("llm_ledger", RECORD, texts="day backend purpose", words="result", at="at", redacted=False),
    # Threads and learnings.
    Table("threads", DERIVED, texts="title clients micro meso macro", words="state", of="project", at="created_at",
          asof=BORN,
          export=Export("across", {"project_id": "projects", "primary_unit_id": "work_units"}, own=True,
                        where="id IN {threads}")),
    Table("thread_choices", PERSON, of="project", at="at", asof=BORN),
    Table("learnings", DERIVED, texts="key title files remedy rule", words="kind state state_by", of="project",
          at="first_at", whole=True, asof=BORN, export=Export("across", {"project_id": "projects"}, own=True)),
    Table("learning_evidence", DERIVED, texts="excerpt", words="role", ids="session_id", of="session", at="at",
          whole=True, remade=True, asof=BORN,
          export=Export("across", where="learning_id IN {learnings} AND session_id IN {sessions}")),
    Table("episode_links", DERIVED, texts="components llm_reasoning summary",
          words="decision certainty outcome outcome_by", at="at", asof=BORN,
          export=Export("across", where="earlier_thread_id IN {threads} AND later_thread_id IN {threads}")),
    Table("learned_sessions", DERIVED, words="told_of", ids="session_id mark", of="session", at="at", remade=True),
    Table("learned_projects", DERIVED, ids="episodes", of="project"),
    Table("learning_findings", DERIVED, texts="key data", words="kind", ids="session_id", of="session", at="at",
          whole=True, remade=True),
    Table("unit_warnings", DERIVED, texts="reason", of="unit", at="at", remade=True, asof=BORN),
    Table("tuning_history", RECORD, texts="subject before after reason metrics", at="at", redacted=False),
    # What sessions are told.
    Table("injections", RECORD, texts="text reason", words="event client", ids="session_id", of="session", at="at",
          asof=BORN,
          export=Export("session", {"prompt_id": "prompts", "unit_id": "work_units"}, own=True,
                        optional="prompt_id unit_id")),
    Table("injection_items", RECORD, texts="item reason text files used_how", words="kind", of="injection",
          asof=_INJECTED, export=Export("session", {"injection_id": "injections"})),
    Table("context_choices", PERSON, texts="item", words="choice", of="project", at="at", asof=BORN,
          export=Export("across", {"project_id": "projects"})),
    Table("pins_everywhere", PERSON, texts="item", of="project", at="at", asof=BORN,
          export=Export("across", {"project_id": "projects"})),
    Table("context_usefulness", DERIVED, texts="item", of="project",
          export=Export("across", {"project_id": "projects"})),
    Table("context_projects", DERIVED, texts="roots", words="told_of", of="project", noted=False),
    Table("context_files", DERIVED, texts="path", of="project", noted=False, candidate=True),
    Table("context_turns", DERIVED, texts="edited read", of="project", at="at", noted=False, candidate=True),
    Table("context_terms", DERIVED, texts="term turns", of="project", noted=False, candidate=True),
    Table("context_names", DERIVED, texts="word files", of="project", noted=False, candidate=True),
    Table("context_branches", DERIVED, texts="word", of="project", noted=False, candidate=True),
    Table("context_sessions", DERIVED, texts="branch edited read", ids="session_id facts", of="session",
          candidate=True),
    Table("context_learnings", DERIVED, texts="phrases names words files told", of="project", candidate=True),
    Table("checkout_heads", DERIVED, texts="root", ids="head", of="project", at="at"),
    Table("moved_files", DERIVED, texts="root path name", words="change", ids="hash", of="project", at="at",
          whole=True, asof=BORN),
    # Search, retrieval and recall.
    Table("search_state", RECORD, words="source", noted=False, redacted=False),
    Table("search_terms", DERIVED, texts="term", noted=False, redacted=False),
    Table("search_blocks", DERIVED, texts="projects clients", words="source", noted=False, redacted=False),
    Table("search_docs", DERIVED, texts="title body", words="kind", ids="ref session_id", of="session", at="at",
          redacted=False, whole=True),
    Table("retrieval_projects", DERIVED, texts="rules", of="project", noted=False, asof=ALWAYS),
    Table("retrieval_docs", DERIVED, words="result", of="project", at="at", noted=False, asof=BORN),
    Table("retrieval_postings", DERIVED, texts="word postings", of="project", noted=False, asof=ALWAYS),
    Table("unit_themes", DERIVED, texts="label", of="project", noted=False),
    Table("recall_calls", RECORD, texts="place query entry file", words="origin outcome", ids="session_id",
          of="session", at="at"),
    # A person's own: corrections, tasks, reviews; and records of purges and upkeep.
    Table("label_models", RECORD, texts="card", words="source", ids="name", at="at", redacted=False,
          export=Export("across", where="1")),
    Table("session_marks", PERSON, texts="name tags", ids="session_id", of="session", at="at",
          export=Export("session")),
    Table("transcript_copies", RECORD, texts="path", words="state rules", ids="session_id",
          packed="packed", of="session", at="at"),
    Table("corrections", PERSON, texts="payload before", words="kind", ids="target", at="at", whole=True,
          numbered=True, asof=BORN, export=Export("across", where=_CORRECTIONS)),
    Table("tasks", PERSON, texts="prompt project cwd target reason worktree_path branch output",
          words="client source state how", ids="quiet_hours runner process socket pane session_id", of="session",
          at="created_at", whole=True, stays=True),
    Table("task_needs", PERSON),
    Table("task_events", PERSON, texts="what text", words="state", at="at", whole=True),
    Table("redaction_reviews", PERSON, texts="found_by day verdict", words="source kind", at="drawn_at"),
    Table("purges", RECORD, words="how counts state", at="at", noted=False, redacted=False),
    Table("purged_keys", RECORD, ids="session_id dedup_key", of="session", at="at", noted=False),
    Table("history_redactions", RECORD, words="rules upto counts", at="at", noted=False, redacted=False),
    # What a team shares.
    Table("team_facts", RECORD, texts="title body files data", words="kind",
          ids="id team subject author device session_id source digest refused", of="project", at="at", whole=True),
    Table("team_gone", RECORD, words="origin", ids="id subject refused", at="at", noted=False, redacted=False,
          ever=True),
    Table("team_members", PERSON, ids="team author role"),
    Table("team_projects", PERSON, texts="shared_as key remote root", ids="team", of="project", at="at"),
    Table("team_state", RECORD, words="key value", noted=False, redacted=False, ever=True),
    Table("upkeep", RECORD, words="name told", at="at"),
)
# fmt: on
BY_NAME = {table.name: table for table in TABLES}
SCHEMA = "nmem_schema"
"""The table that counts migrations: no rows of anybody."""


def exported(part: str = "") -> list[Table]:
    """The tables that go along in an export, in the order in which their rows refer to each other."""
    return [table for table in TABLES if table.export and part in ("", table.export.part)]


def names(which: Callable[[Table], object]) -> frozenset[str]:
    """The names of the tables of which this is true."""
    return frozenset(table.name for table in TABLES if which(table))
