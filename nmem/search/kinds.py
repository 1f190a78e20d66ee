"""The kinds of search hits (prompt, observation, episode, session), their weights, and their stable ids."""

from __future__ import annotations

PROMPT, REASONING, OBSERVATION, MARKER = "prompt", "reasoning", "obs", "marker"
EPISODE, SESSION, LEARNING, TASK = "episode", "session", "learning", "task"
KIND_NAMES = (PROMPT, REASONING, OBSERVATION, MARKER, EPISODE, SESSION, LEARNING, TASK, "recall")

WEIGHTS = {
    PROMPT: 1.1, REASONING: 0.85, EPISODE: 1.2, SESSION: 0.7, LEARNING: 1.25, TASK: 1.0, "recall": 1.2,
    MARKER: 1.5, "git_commit": 1.15, "file_edit": 0.9, "file_write": 0.9, "github": 0.9, "session_compact": 0.3,
    "session_start": 0.3, "session_clear": 0.3, "session_resume": 0.3, "todo": 0.55, "file_read": 0.6, "search": 0.6,
}  # fmt: skip
"""By kind, and for observations by type; what is not named counts `USUAL`."""
USUAL = 0.75
FAILED, PINNED = 1.15, 1.8
"""What a failure and a pin multiply it by."""


def identity(kind: str, ref: object) -> str:
    """`prompt/5`, `obs/12`, `episode/3`, `session/abc`, `task/7`: what is said is a prompt, what is done an obs."""
    return f"{ {REASONING: PROMPT, MARKER: OBSERVATION}.get(kind, kind) }/{ref}"
