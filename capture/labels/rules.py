"""The published baseline rules: labels by tool, command, outcome and the last calls, in twenty lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.labels.calls import Seen

_THINKING = ("file_read", "search", "web_fetch", "web_search", "question", "plan", "skill")
_LOOKING = ("ls", "cat", "head", "tail", "grep", "rg", "find", "wc", "sed", "jq", "ps", "which", "git status",
            "git diff", "git log", "git show", "git blame", "gh view", "gh list", "gh diff", "gh checks")  # fmt: skip
_OUTSIDE = ("git push", "git pull", "git fetch", "git clone", "gh", "glab", "curl", "wget", "ssh", "scp", "docker pull",
            "docker push", "aws", "gcloud", "az", "kubectl")  # fmt: skip
_KINDS_OUTSIDE = ("web_fetch", "web_search", "install", "git_push", "github")
_LOCAL_SERVERS = ("mcp__playwright", "mcp__ide", "mcp__acp", "mcp__serena", "mcp__filesystem", "mcp__memory")


def verdicts(seen: Seen) -> tuple[bool, bool, bool, bool, bool]:
    """Act, converge, external, novel, friction."""
    call, last = seen.call, seen.previous[0] if seen.previous else None
    exploring = call.kind == "task_spawn" and call.text.startswith(("Explore", "Find", "Research", "Investigate"))
    looking = bool(call.heads) and all(head in _LOOKING for head in call.heads)
    act = not (call.kind in _THINKING or looking or exploring)
    changed = any(one.changes for one in seen.previous)
    broad = not changed and (call.tool == "Glob" or call.heads[:1] in (("ls",), ("find",)))
    researching = exploring or call.kind in ("web_fetch", "web_search")
    serving = call.kind == "mcp_call" and not call.tool.startswith(_LOCAL_SERVERS)
    reaching = any(head in _OUTSIDE or head.partition(" ")[0] in _OUTSIDE for head in call.heads)
    external = call.kind in _KINDS_OUTSIDE or serving or (reaching and "localhost" not in call.text)
    friction = call.failed or (last is not None and last.failed)
    return act, not (researching or broad), external, researching, friction
