"""Registers the MCP server and the skills for `nmem init`, and records which clients have the tools.

The line at the start of a session names the tools where they are there, and the commands where they are not.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from sqlite3 import Connection

from capture import cache, files, install, paths
from capture.install import Plan, SettingsError, atomic, beside, registered, servers
from capture.install.beside import TOML, Beside
from capture.install.servers import NAME, Server
from capture.install.settings_file import value_at
from capture.install.targets import LOCAL, PROJECT, USER, home, targets, title
from nmem import own_process, setup
from nmem.context.ask import SHAPE, doors
from nmem.store.store import with_folders

_HERE = Path(__file__).resolve().parent


def server() -> Server:
    """How a client starts the server: this very nmem, whatever folder it runs in.

    Clients may start servers without the person's environment, so a database elsewhere is named.
    """
    python = str(Path(sys.executable).absolute()) if os.name == "nt" else registered.interpreter()
    out: Server = {"command": python, "args": [*own_process.words()[1:], "mcp"]}
    if database := setup.pinned() or (paths.database() if os.environ.get("XDG_DATA_HOME") else ""):
        out["env"] = {"NMEM_DB": database}
    return out


def plugin() -> Path:
    """The plugin's folder: inside the installed package, or at the top of a checkout."""
    installed = _HERE.parent / "plugin"
    return installed if installed.exists() else _HERE.parents[1] / "plugin"


def skill(name: str = NAME) -> str:
    """A skill's text."""
    return (plugin() / "skills" / name / "SKILL.md").read_text("utf-8")


def text(target: Beside) -> str:
    """What a file that is nmem's own shall hold; "" of one that only holds a server."""
    if not target.whole:
        return ""
    return command(target.name) if target.form == beside.COMMAND else skill(target.name)


def command(name: str) -> str:
    """A skill as a command of Gemini CLI: TOML, with what is typed after it where the skill has its arguments."""
    _, head, body = skill(name).split("---\n", 2)
    says = next(line for line in head.splitlines() if line.startswith("description: ")).partition(": ")[2]
    prompt = body.strip().replace("$ARGUMENTS", "{{args}}")
    return f"# {beside.OF_SKILL}\ndescription = '{says}'\nprompt = '''\n{prompt}\n'''\n"


def plans(clients: tuple[str, ...], scope: str, folder: str, db: str) -> tuple[list[Plan], list[str]]:
    """One plan a file, and one line for each that is left alone."""
    made: list[Plan] = []
    refused: list[str] = []
    for target in [each for client in clients for each in beside.targets(client, scope, folder)]:
        try:
            made.append(beside.plan_install(target, db, server(), text(target)))
        except SettingsError as error:
            refused.append(str(error))
    return made, refused


def notes(target: Beside) -> list[str]:
    """What a person should know about one of these files, one line each."""
    if target.scope != PROJECT or target.whole:
        return []
    out = [f"{target.path} names this machine's {registered.interpreter()}: keep it out of version control."]
    if target.client == "claude":
        out.append("Claude Code asks before it starts a project's server for the first time.")
    return out


def left_out(clients: tuple[str, ...], scope: str) -> list[str]:
    """Which of these clients get no server, and what to do about it."""
    unknown = [title(name) for name in clients if name not in beside.CLIENTS]
    out = [f"Tools for {', '.join(unknown)}: let it start the server `nmem mcp` (docs/mcp.md)."] if unknown else []
    if scope == LOCAL and "claude" in clients:
        out.append("The tools are not registered for one project alone: `nmem init --scope user` does it for all.")
    return out


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
        client == "claude" and not folder and bool(plugged())
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


def plugged() -> str:
    """What Claude Code calls nmem's plugin, as nmem@nmem, where it is on; else ""."""
    try:
        found = json.loads(files.read(str(Path(home("claude"), "settings.json"))))
    except (OSError, ValueError):
        return ""
    plugins = found.get("enabledPlugins") if isinstance(found, dict) else None
    every = plugins.items() if isinstance(plugins, dict) else ()
    return next((str(name) for name, on in every if on is True and name.startswith(_PLUGIN)), "")
