"""Tools of an editor's own server (`acp/Edit`, `acp/Bash`) -> the actions they stand for."""

from __future__ import annotations

import re
from dataclasses import replace

from capture.shell import parse
from nmem.episodes.narrate.records import FAILED, OK, UNKNOWN, Action

_CALL = re.compile(r"[\w.-]+/(Edit|Write|MultiEdit|Read|Bash) (?:file_path|path|command|argument)=(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"\s(?:old_string|new_string|content|timeout|description|edits|offset|limit|replace_all)=")
_MADE = re.compile(r"\[([^\]\n]+) ([0-9a-f]{7,40})\] (.*)")
_ENDED = re.compile(r"Exited with code (\d+)|Timed out")
_TYPES = {"Edit": "file_edit", "MultiEdit": "file_edit", "Write": "file_write", "Read": "file_read"}


def adopt(action: Action, root: str = "") -> Action:
    """The action as if the client's own tool had done it; any other action as it is. `root`: the project's folder."""
    found = _CALL.match(action.content) if action.obs_type == "mcp_call" else None
    if not found:
        return action
    tool, value = found[1], _ARGUMENT.split(found[2], maxsplit=1)[0].strip()
    if tool != "Bash":
        path = value.removeprefix(root.rstrip("/") + "/") if root else value
        return replace(action, obs_type=_TYPES[tool], tool_name=tool, file_path=path, content="")
    command = parse(value)
    told = dict(action.metadata)
    if command.obs_type == "git_commit" and (made := _MADE.search(action.response)):
        told["commit"] = {"branch": made[1], "hash": made[2], "subject": made[3]}
    ended = _ENDED.match(action.response)
    outcome = action.outcome
    if ended:
        outcome = UNKNOWN if ended[1] is None else OK if ended[1] == "0" else FAILED
    return replace(action, outcome=outcome, obs_type=command.obs_type, tool_name="Bash", content=value, metadata=told)
