"""What goes along in an export of tables: data, for those who write one and those who take one in.

Left behind is what belongs to a machine (runs of hooks, counters, places in transcripts, the queue of tasks, what
models cost) and what settling makes again (candidates for context, the search's vocabulary, findings, warnings).
"""

from __future__ import annotations

from dataclasses import dataclass, field

CHOSEN = "(SELECT id FROM temp.chosen)"
_PROJECTS = f"(SELECT project_id FROM src.sessions WHERE id IN {CHOSEN})"
_THREADS = f"(SELECT thread_id FROM src.session_threads WHERE session_id IN {CHOSEN})"
_UNITS = f"(SELECT id FROM src.work_units WHERE session_id IN {CHOSEN})"
_LEARNINGS = f"(SELECT id FROM src.learnings WHERE project_id IN {_PROJECTS})"
_SESSION = f"session_id IN {CHOSEN}"
_PROJECT = f"project_id IN {_PROJECTS}"
_UNIT = f"unit_id IN {_UNITS}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table that goes along."""

    name: str
    where: str
    """Which rows, of the sessions chosen."""
    refs: dict[str, str] = field(default_factory=dict)
    """Columns that are ids of another table: taken anew on the way in."""
    own: bool = False
    """It has an id of its own that others name."""
    optional: tuple[str, ...] = ()
    """Of `refs`, those that may point nowhere; rows whose others do stay behind."""


BY_SESSION = (
    Table("merged_keys", _SESSION, {"observation_id": "observations"}),
    Table("status_lines", _SESSION),
    Table("context_readings", _SESSION),
    Table("session_threads", _SESSION, {"thread_id": "threads"}),
    Table("swept_sessions", _SESSION),
    Table("swept_files", _SESSION),
    Table("swept_traces", _SESSION),
    Table("swept_keys", _SESSION),
    Table(
        "work_units", _SESSION,
        {"thread_id": "threads", "first_prompt_id": "prompts", "last_prompt_id": "prompts", "resumes": "work_units",
         "annotated_prompt": "prompts"},
        own=True, optional=("thread_id", "resumes"),
    ),
    Table("unit_prompts", _UNIT, {"prompt_id": "prompts", "unit_id": "work_units"}),
    Table("narrations", _UNIT, {"unit_id": "work_units"}),
    Table(
        "said_decisions", _SESSION,
        {"prompt_id": "prompts", "asked_id": "prompts", "restated_id": "prompts", "superseded_by": "said_decisions"},
        own=True, optional=("asked_id", "restated_id", "superseded_by"),
    ),
    Table("session_summaries", _SESSION),
    Table("session_signatures", _SESSION),
    Table(
        "injections", _SESSION, {"prompt_id": "prompts", "unit_id": "work_units"},
        own=True, optional=("prompt_id", "unit_id"),
    ),
    Table(
        "injection_items", f"injection_id IN (SELECT id FROM src.injections WHERE {_SESSION})",
        {"injection_id": "injections"},
    ),
)  # fmt: skip
"""Rows of one session, in the order in which they point at each other, after its prompts and observations."""
FACTS = (
    Table("projects", f"id IN {_PROJECTS}", own=True),
    Table("project_folders", _PROJECT, {"project_id": "projects"}),
    Table("sessions", f"id IN {CHOSEN}", {"project_id": "projects"}),
    Table("prompts", _SESSION, own=True),
    Table("observations", _SESSION, {"prompt_id": "prompts"}, own=True, optional=("prompt_id",)),
)
ACROSS = (
    Table("threads", f"id IN {_THREADS}", {"project_id": "projects", "primary_unit_id": "work_units"}, own=True),
    Table("learnings", _PROJECT, {"project_id": "projects"}, own=True),
    Table("learning_evidence", f"learning_id IN {_LEARNINGS} AND {_SESSION}"),
    Table("episode_links", f"earlier_thread_id IN {_THREADS} AND later_thread_id IN {_THREADS}"),
    Table("skills", _PROJECT, {"project_id": "projects"}),
    Table("context_choices", _PROJECT, {"project_id": "projects"}),
    Table("pins_everywhere", _PROJECT, {"project_id": "projects"}),
    Table("context_usefulness", _PROJECT, {"project_id": "projects"}),
    Table("label_models", "1"),
    Table(
        "corrections",
        f"json_extract(payload, '$.session') IN {CHOSEN}"
        f" OR target IN (SELECT 'learning/' || id FROM src.learnings WHERE {_PROJECT})"
        f" OR target IN (SELECT 'thread/' || id FROM src.threads WHERE id IN {_THREADS})"
        f" OR target IN (SELECT 'session/' || id FROM temp.chosen)"
        f" OR target IN (SELECT 'prompt/' || id FROM src.prompts WHERE {_SESSION})"
        f" OR (target LIKE 'obs/%' AND (SELECT session_id FROM src.observations"
        f" WHERE id = CAST(substr(target, 5) AS INTEGER)) IN {CHOSEN})",
    ),
)
ALL = (*FACTS, *BY_SESSION, *ACROSS)
