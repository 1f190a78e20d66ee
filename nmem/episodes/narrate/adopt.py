"""What a call stands for: tools of an editor's own server (`acp/Edit`, `acp/Bash`), commands that write files."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def written(action: Action, root: str = "") -> Iterator[Action]:
    """An action, and an edit of each file that its command writes by a script or `sed -i` without telling so."""
    yield action
    if action.file_path or action.obs_type not in _COMMANDS or action.outcome == FAILED or action.halted:
        return
    text = action.content[:_READ]
    if not any(mark in text for mark in _MARKS) or not _WRITES.search(text):
        return
    folder = found[1].rstrip("/") + "/" if (found := _FOLDER.match(text)) else ""
    named = dict(_NAMED.findall(text))
    paths = [one[0] or one[1] for one in _OPENED.findall(text)]
    paths += [named.get(one[0] or one[1], "") for one in _BY_NAME.findall(text)]
    paths += [one for line in _IN_PLACE.findall(text) for one in line.split() if _FILE.fullmatch(one)]
    for path in dict.fromkeys(paths):
        if path and not temporary(path) and not any(mark in path for mark in "$*{"):
            whole = path if path.startswith(("/", "~")) else folder + path
            whole = whole.removeprefix(root.rstrip("/") + "/") if root else whole
            yield replace(action, obs_type="file_edit", file_path=whole, content="", tool_name="", metadata={})


def temporary(path: str) -> bool:
    """Whether a path lies in a folder for temporary files."""
    return bool(_TEMPORARY.search(path))


_COMMANDS = frozenset(("command", "file_edit", "file_write"))
_READ = 6_000
_MARKS = ("write", "open(", "sed -i")
"""Words that a command has which writes so: most have none of them."""
_WRITES = re.compile(
    r"\.write_(?:text|bytes)\(|\bwriteFileSync\(|\bopen\([^)\n]{1,200},\s*['\"][wa]\+?b?['\"]|\bsed -i"
)
_FOLDER = re.compile(r"\s*cd ([\w./~@+-]+) *(?:&&|;|\n)")
_OPENED = re.compile(
    r"\bopen\(\s*['\"]([^'\"\n]{1,200})['\"]\s*,\s*['\"][wa]"
    r"|(?:writeFileSync\(|\bPath\()\s*['\"]([^'\"\n]{1,200})['\"](?=\)\.write_|\s*,)"
)
_NAMED = re.compile(r"\b(\w+)\s*=\s*(?:[\w.]*Path\()?['\"]([^'\"\n]{1,200}\.\w{1,8})['\"]")
_BY_NAME = re.compile(r"(?:\bopen\(|writeFileSync\()\s*(\w+)\s*,\s*(?=['\"][wa]|\w)|\b(\w+)\.write_(?:text|bytes)\(")
_IN_PLACE = re.compile(r"\bsed -i[^\n]*['\"] +([^'\";&|\n]+)")
_FILE = re.compile(r"[\w./@+-]*\w\.\w{1,8}")
_TEMPORARY = re.compile(r"^(?:/private)?/(?:tmp|var/folders|var/tmp)/|[\\/]AppData[\\/]Local[\\/]Temp[\\/]|^\$TMP")
