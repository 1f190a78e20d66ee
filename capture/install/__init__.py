"""Installs hooks in a client's settings and removes them: planned, previewed, then written.

A plan holds the file's bytes before and after; nothing is written until `carry_out`, and nothing at all when the file
changed in between.
"""

from __future__ import annotations

import os

from capture.clients import PLUGIN
from capture.install import atomic, hook_entries, installed, registered, servers, status_line
from capture.install.installed import Record
from capture.install.jsonc import BadJson
from capture.install.settings_file import remove, value_at
from capture.install.targets import PROJECT, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.install.hook_entries import Left
    from capture.install.servers import Server

_BOM = b"\xef\xbb\xbf"


class SettingsError(Exception):
    """A settings file that is left alone; the text is one line that says why."""


class Plan:
    """What one settings file is to become."""

    __slots__ = ("after", "before", "record", "target")

    def __init__(self, target: Target, before: bytes | None, after: bytes | None, record: Record) -> None:
        self.target = target
        self.before = before
        self.after = after
        """None: the file goes."""
        self.record = record

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after


def text_of(data: bytes | None) -> str:
    """A settings file's text; of none, or of an empty one, the empty object.

    Raises SettingsError's cause, ValueError, when it is not UTF-8.
    """
    text = (data or b"").removeprefix(_BOM).decode("utf-8")
    return text if text.strip() else "{}\n"


def _bytes_of(text: str, before: bytes | None) -> bytes:
    return (_BOM if (before or b"").startswith(_BOM) else b"") + text.encode("utf-8")


def _read(target: Target) -> bytes | None:
    try:
        return atomic.read(target.path)
    except OSError as error:
        raise SettingsError(f"{target.path} cannot be read: {error.strerror}") from None


def _refused(target: Target, error: ValueError) -> SettingsError:
    what = "is not UTF-8" if isinstance(error, UnicodeError) else f"is not JSON as its client reads it ({error})"
    if isinstance(error, BadJson) and not str(error).startswith("line "):
        what = f"has an unexpected shape: {error}"
    return SettingsError(f"{target.path} {what}; it was left as it is")


def plan_install(
    target: Target, db: str, pinned: str = "", line: str = status_line.KEEP, server: Server | None = None
) -> Plan:
    """What registering nmem's hooks makes of a settings file.

    `db` is where the record goes; `pinned` is written into the commands when the database is not the default one;
    `line` is what becomes of the status line: a word of capture.install.status_line, and OFF is remembered until
    ADD; `server` is put in where the client keeps servers beside its hooks. Raises SettingsError.
    """
    before = _read(target)
    record = installed.load(db, target.path)
    fresh = record is None or before is None or installed.digest(before) != record.written
    kept = Record(target.path, target.client, target.scope)
    if record is not None:
        kept.left, kept.folders, kept.added, kept.original = record.left, record.folders, record.added, record.original
        kept.no_line = record.no_line
    kept.no_line = line == status_line.OFF or (kept.no_line and line != status_line.ADD)
    if target.shape == PLUGIN:
        return _plan_plugin(target, before, kept, pinned)
    try:
        text = text_of(before)
        if fresh:
            kept.original = _original(target, before, record)
        after = hook_entries.put(text, target, hook_entries.wanted(target, pinned), kept.left)
        after = status_line.put(after, target, pinned, status_line.OFF if kept.no_line else line, kept.left)
        if server is not None and target.client in servers.SHARED:
            after = servers.beside_hooks(after, target, server, kept.left)
        had = value_at(text, (), target.comments)
    except ValueError as error:
        raise _refused(target, error) from None
    kept.added += [key for key in target.always if isinstance(had, dict) and key not in had]
    return Plan(target, before, before if after == text and before is not None else _bytes_of(after, before), kept)


def _original(target: Target, before: bytes | None, record: Record | None) -> bytes | None:
    """What uninstalling should restore: the file as it is now, without what nmem already has in it."""
    if before is None:
        return None
    text = text_of(before)
    left = record.left if record else {}
    bare = _bare(text, target, left)
    if record is not None and record.original is None and _nothing_but(bare, target):
        return None
    return before if bare == text else _bytes_of(bare, before)


def _bare(text: str, target: Target, left: Left) -> str:
    """A settings text without anything of nmem's."""
    text = status_line.take_out(hook_entries.take_out(text, target, left), target, left)
    return servers.take_out(text, target, left) if target.client in servers.SHARED else text


def _nothing_but(text: str, target: Target) -> bool:
    """Whether a file says nothing but what nmem itself would put there."""
    value = value_at(text, (), target.comments)
    comments = "//" in text or "/*" in text
    return not comments and isinstance(value, dict) and all(target.always.get(key) == value[key] for key in value)


def _plan_plugin(target: Target, before: bytes | None, record: Record, pinned: str) -> Plan:
    if before is not None and not registered.is_plugin(before):
        raise SettingsError(f"{target.path} exists and is not nmem's; it was left as it is")
    record.original = None
    return Plan(target, before, registered.plugin_source(pinned), record)


def plan_uninstall(target: Target, db: str) -> Plan:
    """What taking nmem's hooks out makes of a settings file.

    Raises SettingsError.
    """
    before = _read(target)
    record = installed.load(db, target.path) or Record(target.path, target.client, target.scope)
    if before is None:
        return Plan(target, None, None, record)
    if record.written and installed.digest(before) == record.written:
        return Plan(target, before, record.original, record)
    if target.shape == PLUGIN:
        return Plan(target, before, None if registered.is_plugin(before) else before, record)
    try:
        text = text_of(before)
        after = _bare(text, target, record.left)
        if after != text:
            for key in record.added:
                after = remove(after, (key,), record.left.get(()), target.comments)
        empty = after != text and _nothing_but(after, target)
    except ValueError as error:
        raise _refused(target, error) from None
    ours = (record.written and record.original is None) or os.path.basename(target.path).startswith("nmem.")
    if empty and ours:
        return Plan(target, before, None, record)
    return Plan(target, before, before if after == text else _bytes_of(after, before), record)


def carry_out(plan: Plan) -> None:
    """Write what was planned; the copy of the original is safe before the settings change.

    Raises SettingsError when the file changed since, or cannot be written.
    """
    if not plan.changes:
        return
    path = plan.target.path
    try:
        if plan.after is None:
            atomic.delete(os.path.realpath(path), plan.before or b"")
        else:
            atomic.replace(path, plan.after, plan.before, 0o644 if plan.target.scope == PROJECT else 0o600)
    except atomic.Changed:
        raise SettingsError(f"{path} changed in the meantime; nothing was written: run the command again") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from None


def install(plan: Plan, db: str) -> None:
    """Carry out an installation and remember how to undo it; a choice is remembered also where nothing changes."""
    if plan.after is None or not (plan.changes or plan.record.no_line):
        return
    record = plan.record
    record.written = installed.digest(plan.after)
    try:
        record.folders += make_folders(os.path.dirname(os.path.realpath(plan.target.path)), plan.target.scope)
        installed.save(db, record, plan.before)
    except OSError as error:
        raise SettingsError(f"{error.filename or plan.target.path} cannot be written: {error.strerror}") from None
    carry_out(plan)


def uninstall(plan: Plan, db: str) -> None:
    """Carry out a removal, with the folders that were made for the file and are empty again."""
    carry_out(plan)
    for folder in reversed(plan.record.folders if plan.after is None else []):
        try:
            os.rmdir(folder)
        except OSError:
            break  # something else lives in it by now
    installed.forget(db, plan.target.path)


def make_folders(folder: str, scope: str) -> list[str]:
    """Make a settings file's folder; returns those that did not exist, outermost first."""
    made: list[str] = []
    at = folder
    while not os.path.isdir(at):
        made.insert(0, at)
        at = os.path.dirname(at)
    for path in made:
        os.mkdir(path, 0o755 if scope == PROJECT else 0o700)
    return made
