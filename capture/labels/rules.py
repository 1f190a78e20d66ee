"""The published rules: what a person would write down in twenty lines. The baseline, and features of the models."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.labels.calls import Seen

_THINKING = frozenset(("read", "search", "see", "explore", "web", "ask", "plan", "skill"))
_UNKNOWN = ("why", "investigat", "debug", "root cause", "find out", "what is wrong", "not working", "doesn't work",
            "analy", "problem", "weird", "strange")  # fmt: skip


def verdicts(seen: Seen) -> tuple[bool, bool, bool, bool, bool]:
    """Act, converge, external, novel, friction."""
    call, previous, prompt = seen.call, seen.previous, seen.prompt.lower()
    role, before = call.role, previous[0] if previous else None
    changed = any(one.changes for one in previous)
    unknown = any(word in prompt for word in _UNKNOWN)
    act = role not in _THINKING
    if role in ("check", "run", "script", "serve", "mcp"):
        act = changed or not unknown
    looking = role in ("search", "read") and not changed
    broad = call.kind == "search" and ("*" in call.text or call.tool in ("Glob", "LS") or "find" in call.heads)
    diverge = role in ("explore", "web") or (looking and broad)
    diverge = diverge or (role == "read" and len(previous) > 2 and all(one.role == "read" for one in previous))
    diverge = diverge or (role == "write" and bool(before) and before is not None and before.role != "write")
    novel = role in ("explore", "web") or (unknown and not act) or (role == "script" and "heredoc" in call.marks)
    retry = before is not None and before.failed
    return act, not diverge, call.external, novel, call.failed or retry
