"""Computes classifier features from a session's previous tool calls: repeats, failures, the same file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from capture.labels.calls import Call

THINKING = frozenset(("read", "search", "see", "explore", "web", "ask", "plan", "skill"))
"""What a call does that is rather thinking than doing."""
_FULL = 4
"""Entries of a session's past from which on it is not its beginning; a failed call counts twice, with what it said."""
_NEAR = 2
"""Calls after a failure that may still be about it."""
_ALIKE = 100
"""Characters by which two commands are compared."""


def before(call: Call, calls: Sequence[Call], first: str) -> list[str]:
    """Words about the last calls, newest first; `first` is what the prompt wishes first."""
    role = call.role
    if not calls:
        out = ["before:0", f"{role}+before:0", f"opens+{first}"]
        return [*out, "broad"] if _broad(call) else out
    roles = [one.role for one in calls]
    last = roles[0]
    out = [f"last:{last}", f"{role}<{last}", f"last+{calls[0].kind}"]
    if len(calls) > 1:
        out += (f"last2:{roles[1]}", f"{role}<<{roles[1]}")
    kinds = set(roles)
    out += ["had:" + one for one in kinds]
    if kinds <= THINKING:
        out += (f"{role}+looking",) if role in THINKING else (f"{role}+looking", "looking")
    if True in [one.external for one in calls]:
        out.append("away")
    failures = [one.failed for one in calls]
    out += _runs(call, calls, roles, len(calls) + sum(failures))
    out += _after_failure(call, calls, failures.index(True) + 1) if True in failures else ("calm",)
    if "changed" not in out and _broad(call):
        out.append("broad")
    if call.path:
        out += _same_file(call, calls)
    elif call.heads:
        out += _same_command(call, calls)
    return out


def _broad(call: Call) -> bool:
    """Whether it asks what there is: files by name, or a pattern by a search tool."""
    return call.role == "search" and (not call.heads or "find" in call.heads or "ls" in call.heads)


def _runs(call: Call, calls: Sequence[Call], roles: list[str], many: int) -> list[str]:
    """How long it has been doing the same, and since when something was changed."""
    role, run = call.role, 0
    for one in roles:
        if one != role:
            break
        run += 1
    out = [f"run:{role}{run}"] if run else []
    if many < _FULL - 1:
        out += (f"before:{many}", f"{role}+before:{many}")
    changes = [one.changes for one in calls]
    if True in changes:
        out += ("changed", f"{role}+changed", f"{role}+changed{changes.index(True) + 1}")
    else:
        out += ("unchanged", f"{role}+unchanged" if many < _FULL else f"{role}+unchanged long")
    return out


def _after_failure(call: Call, calls: Sequence[Call], at: int) -> list[str]:
    failed, role = calls[at - 1], call.role
    out = [f"after:{at}", f"{role}+after:{at}", f"{role}+failed:{failed.role}"]
    if sum(one.failed for one in calls) > 1:
        out.append("failures")
    if at <= _NEAR:
        out += _into(call, failed)
    if not any(one.changes for one in calls[: at - 1]):
        out += ("unrepaired", f"{role}+unrepaired", f"{role}+failed:{failed.role}+unrepaired")
        if role == failed.role:
            out.append("retry")
    out += _like(call, failed)
    if role == failed.role:
        out.append("role>failed")
        if at == 1:
            out.append("role>failed1")
    return out


def _like(call: Call, failed: Call) -> list[str]:
    """How far a call is the one that failed."""
    out = ["same>failed"] if call.path and failed.path == call.path else []
    if call.heads and failed.heads:
        if call.text[:_ALIKE] == failed.text[:_ALIKE]:
            out.append("again>failed")
        elif set(call.heads) & set(failed.heads):
            out.append("like>failed")
    return out


def _into(call: Call, failed: Call) -> list[str]:
    """What may be about a failure that is at most one call away."""
    out = [f"{call.role}+failed:{failed.role}+near"]
    if call.path and failed.path == call.path:
        out.append("same>failed+near")
    elif call.heads and _kin(call, failed):
        out.append("kin>failed+near")
    return out


def _kin(call: Call, failed: Call) -> bool:
    """Whether two commands run the same thing, however it is spelled: `npx vitest`, `pnpm vitest run`."""
    mine = {head.rpartition(" ")[2] for head in call.heads}
    return any(head.rpartition(" ")[2] in mine for head in failed.heads)


def _same_file(call: Call, calls: Sequence[Call]) -> list[str]:
    role = call.role
    out = []
    for at, one in enumerate(calls, 1):
        if one.path == call.path:
            out = [f"same>{one.role}", f"{role}>{one.role}", f"{role}>same{at}"]
            break
    else:
        out.append(f"{role}>new")
    if any(one.folder == call.folder for one in calls if one.path):
        out.append(f"{role}>near")
    elif any(one.path for one in calls):
        out.append(f"{role}>far")
    return out


def _same_command(call: Call, calls: Sequence[Call]) -> list[str]:
    text = call.text[:_ALIKE]
    for at, one in enumerate(calls, 1):
        if one.text[:_ALIKE] == text:
            return ["again", f"again{at}"]
    mine = set(call.heads)
    return ["like"] if any(mine.intersection(one.heads) for one in calls) else ["unlike", f"{call.role}+unlike"]
