"""Registers the MCP server and the skills (when to ask, /when, /how) for `nmem init`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from capture import paths
from capture.install import Plan, SettingsError, beside, registered
from capture.install.beside import Beside
from capture.install.servers import NAME, Server
from capture.install.targets import LOCAL, PROJECT, title
from nmem import setup

_HERE = Path(__file__).resolve().parent


def server() -> Server:
    """How a client starts the server: this very nmem, whatever folder it runs in.

    Clients may start servers without the person's environment, so a database elsewhere is named.
    """
    from nmem import own_process

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
