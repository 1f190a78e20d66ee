"""Default lifetimes by type of record, and types without one."""

from __future__ import annotations

PROMPT, REASONING, NOTIFICATION = "prompt", "reasoning", "notification"
SAYINGS = (PROMPT, REASONING, NOTIFICATION)
"""What was said: by the person, by the agent, by machines."""

DAYS: dict[str, float] = {
    "git_commit": 730, "git_push": 730,
    "file_edit": 365, "file_write": 365, "plan": 365, "question": 365,
    "session_start": 365, "session_resume": 365, "session_clear": 365, "session_compact": 365,
    "command": 180, "test": 180, "build": 180, "lint": 180, "install": 180, "git_other": 180, "github": 180,
    "file_read": 90, "search": 90, "web_fetch": 90, "web_search": 90, "mcp_call": 90, "task_spawn": 90, "skill": 90,
    "todo": 90, "tool_other": 90,
    PROMPT: 365, REASONING: 90, NOTIFICATION: 90,
}  # fmt: skip
"""Type -> days. Markers (notes, decisions, points to come back to) have no lifetime; nor has a type not named here."""

TYPES = tuple(DAYS)
FOREVER = 0.0
"""As a number of days: kept for ever."""
LEAST_DAYS = 7.0
"""Nothing is forgotten sooner, whatever is configured or mediated."""
