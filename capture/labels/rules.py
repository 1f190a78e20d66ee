"""The published rules: what one would write down in twenty lines about the tool, the command, its outcome and the last
calls. The baseline that the models are measured against, and features of theirs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.labels.calls import Seen

THINKING = frozenset(("read", "search", "see", "explore", "web", "ask", "plan", "skill"))
"""What a call does that is rather thinking than doing."""


def verdicts(seen: Seen) -> tuple[bool, bool, bool, bool, bool]:
    """Act, converge, external, novel, friction."""
    call, previous = seen.call, seen.previous
    role, last = call.role, previous[0] if previous else None
    changed = True in [one.changes for one in previous]
    act = role not in THINKING
    broad = role == "search" and not changed and (not call.heads or "find" in call.heads or "ls" in call.heads)
    reading = role == "read" and len(previous) > 2 and [one.role for one in previous] == ["read"] * len(previous)
    starting = role == "write" and last is not None and last.role == "write"
    diverge = role in ("explore", "web") or broad or reading or starting
    novel = role in ("explore", "web") or (role == "script" and "heredoc" in call.marks)
    friction = call.failed or (last is not None and last.failed)
    return act, not diverge, call.external, novel, friction
