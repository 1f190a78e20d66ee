"""Adds, updates and removes the MCP server entry in a client's JSON settings.

Like nmem's hooks it works on text: the user's own servers keep their characters. What stands under its name but starts
something else is not touched.
"""

from __future__ import annotations

import os

from capture.install.jsonc import parse
from capture.install.settings_file import Path, find, insert, remove, replace, value_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.hook_entries import Left
    from capture.install.targets import Target

NAME = "nmem"
Server = dict[str, object]
"""command, args, and env where the database is not the default one."""

_KEY = "mcpServers"
_ENTRY: Path = (_KEY, NAME)
DATABASE = "NMEM_DB"
"""What an environment of ours names."""
SHARED = ("gemini",)
"""Clients that keep servers in the same file as hooks."""


class Foreign(ValueError):
    """Somebody else's server has nmem's name."""


def is_ours(entry: object) -> bool:
    """Whether a server's entry starts this program, wherever its interpreter and package were."""
    if not isinstance(entry, dict):
        return False
    command, args = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or args[-1:] != ["mcp"]:
        return False
    words = [str(arg).replace("\\", "/") for arg in args]
    by_name = os.path.basename(command).lower() in ("nmem", "nmem.exe") and len(words) == 1
    return by_name or words[-3:-1] == ["-m", "nmem"] or any(word.endswith("nmem/own_process.py") for word in words)


def merged(have: object, server: Server) -> Server:
    """An entry brought up to date; what else its owner set for it stays."""
    if have is not None and not is_ours(have):
        raise Foreign(f"the file has another server called {NAME} that is not this one")
    old = dict(have) if isinstance(have, dict) else {}
    before = old.get("env")
    env = {key: value for key, value in before.items() if key != DATABASE} if isinstance(before, dict) else {}
    wanted = server.get("env")
    if isinstance(wanted, dict):
        env |= wanted
    out = {**old, **server}
    if env:
        out["env"] = env
    else:
        out.pop("env", None)
    return out


def put(text: str, target: Target, server: Server, left: Left) -> str:
    """The text with nmem's server; notes in `left` what was empty. Raises BadJson, or Foreign."""
    comments = target.comments
    have = value_at(text, _ENTRY, comments)
    wanted = merged(have, server)
    if have is not None:
        return replace(text, _ENTRY, wanted, comments)
    _remember(text, (), left, comments)
    if find(parse(text, comments), (_KEY,)) is None:
        return insert(text, (), _KEY, {NAME: wanted}, comments)
    _remember(text, (_KEY,), left, comments)
    return insert(text, (_KEY,), NAME, wanted, comments)


def beside_hooks(text: str, target: Target, server: Server, left: Left) -> str:
    """The same in a file of hooks, which go in whoever has the name. Raises BadJson."""
    try:
        return put(text, target, server, left)
    except Foreign:
        return text


def _remember(text: str, path: Path, left: Left, comments: bool) -> None:
    node = find(parse(text, comments), path)
    if node is not None and node.kind != "scalar" and not node.items:
        left.setdefault(path, text[node.start : node.end])


def take_out(text: str, target: Target, left: Left) -> str:
    """The text without nmem's server, and without the object that was only there for it. Raises BadJson."""
    comments = target.comments
    if not is_ours(value_at(text, _ENTRY, comments)):
        return text
    servers = find(parse(text, comments), (_KEY,))
    alone = servers is not None and len(servers.items) == 1 and (_KEY,) not in left
    path = (_KEY,) if alone else _ENTRY
    return remove(text, path, left.get(path[:-1]), comments)
