"""Installs nmem's MCP server entry, and the skills or slash commands that use it, in a client's settings.

Planned, shown and written like hooks. No copy is kept of a file that holds the client's own state: an edit here is
taken back by its own reverse, and a file goes only when nmem made it.
"""

from __future__ import annotations

import os

from capture.install import (
    Plan,
    SettingsError,
    atomic,
    carry_out,
    installed,
    make_folders,
    servers,
    text_of,
    toml_servers,
)
from capture.install.installed import Record
from capture.install.settings_file import value_at
from capture.install.targets import LOCAL, PROJECT, SCOPES, USER, Target, home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.servers import Server

JSON, TOML, SKILL, COMMAND = "json", "toml", "skill", "command"
CLIENTS = ("claude", "codex", "gemini")
"""Those whose settings of servers and skills are known."""
OF_SKILL = "from: nmem"
"""A line by which nmem's own skill, or command, is known again."""
ASKED = ("when", "how")
"""What a person types to be told a decision: a skill each, and where skills are no commands, a command each."""
_COMMANDS = tuple(f"{name}.toml" for name in ASKED)
_FOLDERS = {"claude": ".claude", "codex": ".codex", "gemini": ".gemini"}


class Beside(Target):
    """A file that holds a server, or is a skill or a command; `name` is the skill's or the command's."""

    __slots__ = ("form",)

    def __init__(self, client: str, scope: str, path: str) -> None:
        super().__init__(client, scope, path)
        self.form = _form(path)
        self.comments = False
        self.always = {}

    @property
    def holds(self) -> str:
        """What a person is told that it holds."""
        return self.form if self.whole else "server"

    @property
    def whole(self) -> bool:
        """Whether all of the file is nmem's."""
        return self.form in (SKILL, COMMAND)

    @property
    def name(self) -> str:
        """What a skill or a command is called by."""
        return os.path.basename(os.path.dirname(self.path) if self.form == SKILL else self.path.rpartition(".")[0])


def _form(path: str) -> str:
    name = os.path.basename(path)
    if name in _COMMANDS:
        return COMMAND
    return {"SKILL.md": SKILL, ".claude.json": JSON, ".mcp.json": JSON, "config.toml": TOML}.get(name, "")


def of(record: Record) -> Beside | None:
    """The file of a record, where it is one of these."""
    return Beside(record.client, record.scope, record.path) if _form(record.path) else None


def targets(client: str, scope: str, folder: str) -> list[Beside]:
    """The files beside the hooks of a scope; none of a client that is not known, or of one project for you alone."""
    if client not in CLIENTS or scope == LOCAL:
        return []
    base = home(client) if scope == USER else os.path.join(os.path.abspath(folder), _FOLDERS[client])
    skills = (servers.NAME,) if client == "gemini" else (servers.NAME, *ASKED)
    paths = [os.path.join(base, "skills", name, "SKILL.md") for name in skills]
    if client == "gemini":  # its skills are commands only where a person sits in front of it
        paths += [os.path.join(base, "commands", name) for name in _COMMANDS]
    if client == "claude":
        paths.insert(0, _claude(scope, folder))
    elif client == "codex":
        paths.insert(0, os.path.join(base, "config.toml"))
    return [Beside(client, scope, path) for path in paths]


def _claude(scope: str, folder: str) -> str:
    """Its own state of the user holds servers too, and lies beside its folder unless that was moved."""
    if scope == PROJECT:
        return os.path.join(os.path.abspath(folder), ".mcp.json")
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    return os.path.join(os.path.abspath(moved) if moved else os.path.expanduser("~"), ".claude.json")


def everywhere(client: str, folder: str) -> list[Beside]:
    """The same of every scope."""
    return [each for scope in SCOPES for each in targets(client, scope, folder)]


def _read(target: Target) -> tuple[bytes | None, str]:
    try:
        before = atomic.read(target.path)
        return before, (before or b"").removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except OSError as error:
        raise SettingsError(f"{target.path} cannot be read: {error.strerror}") from None
    except UnicodeError:
        raise SettingsError(f"{target.path} is not UTF-8; it was left as it is") from None


def _bytes(text: str, before: bytes | None) -> bytes:
    mark = b"\xef\xbb\xbf"
    return (mark if (before or b"").startswith(mark) else b"") + text.encode("utf-8")


def plan_install(target: Beside, db: str, server: Server, skill: str) -> Plan:
    """What registering nmem makes of a file; what stands there already is brought up to date. Raises SettingsError.

    `skill` is the text of a file that is a skill or a command.
    """
    before, text = _read(target)
    record = installed.load(db, target.path) or _fresh(target, before)
    if target.whole:
        if before is not None and OF_SKILL not in text:
            raise SettingsError(f"{target.path} exists and is not nmem's; it was left as it is")
        if before is None and (own := _taken(target)):
            raise SettingsError(f"you have a command /{target.name} of your own, {own}: nmem did not write its own")
        return Plan(target, before, skill.encode("utf-8"), record)
    try:
        if target.form == TOML:
            after = toml_servers.put(text, server, record.left)
        else:
            after = servers.put(text_of(before), target, server, record.left)
    except ValueError as error:
        raise SettingsError(f"{target.path} cannot be edited: {error}; it was left as it is") from None
    return Plan(target, before, before if after == text and before is not None else _bytes(after, before), record)


def _taken(target: Beside) -> str:
    """The person's own command that a skill of ours would hide."""
    if target.client != "claude" or target.form != SKILL:
        return ""
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(target.path))), "commands", f"{target.name}.md")
    return own if os.path.exists(own) else ""


def _fresh(target: Target, before: bytes | None) -> Record:
    record = Record(target.path, target.client, target.scope)
    record.original = None if before is None else b""  # that there was a file, not what it held
    return record


def plan_uninstall(target: Beside, db: str) -> Plan:
    """What taking nmem out makes of a file. Raises SettingsError."""
    before, text = _read(target)
    record = installed.load(db, target.path) or _fresh(target, before)
    if before is None:
        return Plan(target, None, None, record)
    if target.whole:
        return Plan(target, before, None if OF_SKILL in text else before, record)
    try:
        if target.form == TOML:
            after = toml_servers.take_out(text, record.left)
            empty = not after.strip()
        else:
            after = servers.take_out(text_of(before), target, record.left)
            empty = value_at(after, (), False) == {}
    except ValueError as error:
        raise SettingsError(f"{target.path} cannot be edited: {error}; it was left as it is") from None
    changed = after != (text if target.form == TOML else text_of(before))
    if changed and empty and record.original is None:
        return Plan(target, before, None, record)
    return Plan(target, before, _bytes(after, before) if changed else before, record)


def install(plan: Plan, db: str) -> None:
    """Carry out an installation and remember that it was nmem's. Raises SettingsError."""
    if not plan.changes or plan.after is None:
        return
    record = plan.record
    record.written = installed.digest(plan.after)
    try:
        folder = os.path.dirname(os.path.realpath(plan.target.path))
        made = [*_made(db, folder), *record.folders, *make_folders(folder, plan.target.scope)]
        record.folders = sorted(dict.fromkeys(made), key=len)
        installed.save(db, record, None)
    except OSError as error:
        raise SettingsError(f"{error.filename or plan.target.path} cannot be written: {error.strerror}") from None
    carry_out(plan)


def _made(db: str, folder: str) -> list[str]:
    """Folders above a file that nmem made for another: whichever of the files goes last takes them along."""
    whole = folder + os.sep
    return [each for record in installed.everything(db) for each in record.folders if whole.startswith(each + os.sep)]
