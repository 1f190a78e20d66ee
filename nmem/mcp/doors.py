"""Records which clients have nmem's tools, so that hooks need not read the clients' settings.

The line at the start of a session names the tools where they are there, and the commands where they are not.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from sqlite3 import Connection

from capture import cache, files, install
from capture.install import atomic, beside, servers
from capture.install.beside import TOML
from capture.install.settings_file import value_at
from capture.install.targets import PROJECT, USER, home, targets
from nmem.context.ask import SHAPE, doors
from nmem.store.project import with_folders

_PROJECTS = 50
"""Projects looked into, those worked in last first."""
_PLUGIN = f"{servers.NAME}@"


def keep(db_path: str, folders: Iterable[str]) -> None:
    """Look, and keep what there is: for everybody, and in each of these folders."""
    found: dict[str, list[str]] = {}
    for client in beside.CLIENTS:
        there = [folder for folder in ("", *folders) if _served(client, folder)]
        if there:
            found[client] = there
    if found != known(db_path):
        cache.write(doors(db_path), found)


def renew(db_path: str, folder: str) -> None:
    """The same once something was registered or taken out, with this folder beside those that are known."""
    keep(db_path, sorted({folder, *(each for some in known(db_path).values() for each in some if each)}))


def known(db_path: str) -> dict[str, list[str]]:
    """What was kept."""
    found = cache.read(doors(db_path), SHAPE)
    return found if isinstance(found, dict) else {}


def projects(db: Connection) -> list[str]:
    """The folders of the projects worked in last that are there."""
    return [root for _, _, root in with_folders(db)[:_PROJECTS] if Path(root).is_dir()]


def _served(client: str, folder: str) -> bool:
    scope = PROJECT if folder else USER
    places = [(each.path, each.form == TOML) for each in beside.targets(client, scope, folder) if not each.whole]
    if client in servers.SHARED:
        places += [(each.path, False) for each in targets(client, folder) if each.scope == scope]
    return any(servers.is_ours(entry(path, toml)) for path, toml in places) or (
        client == "claude" and not folder and _plugged()
    )


def entry(path: str, toml: bool) -> dict[str, object] | None:
    """What stands under nmem's name among the servers of a file; None where there is none, or it cannot be read."""
    try:
        data = atomic.read(path)
        if data is None:
            return None
        if toml:
            table = tomllib.loads(data.decode("utf-8")).get("mcp_servers")
            found = table.get(servers.NAME) if isinstance(table, dict) else None
        else:
            found = _json(install.text_of(data))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _json(text: str) -> object:
    """What stands under nmem's name; a client's own state is large and plain, and read the quick way."""
    try:
        whole = json.loads(text)
    except ValueError:
        return value_at(text, ("mcpServers", servers.NAME), comments=True)
    listed = whole.get("mcpServers") if isinstance(whole, dict) else None
    return listed.get(servers.NAME) if isinstance(listed, dict) else None


def _plugged() -> bool:
    """Whether Claude Code has the plugin, which brings a server of its own."""
    try:
        found = json.loads(files.read(str(Path(home("claude"), "settings.json"))))
    except (OSError, ValueError):
        return False
    plugins = found.get("enabledPlugins") if isinstance(found, dict) else None
    return isinstance(plugins, dict) and any(on is True and name.startswith(_PLUGIN) for name, on in plugins.items())
