"""Finds every registration of nmem's hooks: settings of all scopes, plugins, another client's files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from capture import install, paths
from capture.clients import CLIENTS, PLUGIN
from capture.clients.plugged import WORD
from capture.files import read
from capture.install import atomic, hook_entries, registered, targets
from capture.install.hook_entries import Entry
from capture.install.targets import Target
from nmem.audit import OK, WRONG, Finding
from nmem.mcp.registration import plugged
from nmem.text import printable

_DEEPEST = 7
_LARGEST = 1_000_000


def entries(target: Target) -> list[Entry]:
    """nmem's handlers in one settings file; none where it is absent.

    Raises ValueError or OSError when it cannot be read.
    """
    data = atomic.read(target.path)
    if data is None:
        return []
    if target.shape == PLUGIN:
        return [Entry((command.event,), command.event, command, {}) for command in registered.plugin_commands(data)]
    return hook_entries.entries(install.text_of(data), target)


def all_of(client: str, folder: str) -> Iterator[tuple[Target, list[Entry]]]:
    """The settings files of a client that hold hooks of nmem's."""
    for target in targets.targets(client, folder):
        try:
            found = entries(target)
        except (ValueError, OSError):
            continue  # said by the check of the file itself
        if found:
            yield target, found


def elsewhere(target: Target, folder: str) -> list[str]:
    """Other files from which the same client would run nmem's hooks as well."""
    here = Path(target.path).resolve()
    out = [other.path for other, _ in all_of(target.client, folder) if Path(other.path).resolve() != here]
    if target.client == "claude":
        out += [str(path) for path in _plugins(Path(targets.home("claude")) / "plugins")]
    if target.client == "codex":
        config = Path(targets.home("codex")) / "config.toml"
        out += [str(config)] if _names_us(config) else []
    return out


def _plugins(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Hook files of installed plugins that run nmem."""
    if depth > _DEEPEST:
        return
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for path in inside:
        if path.is_dir() and not path.is_symlink():
            yield from _plugins(path, depth + 1)
        elif path.name == "hooks.json" and _names_us(path):
            yield path


def _names_us(path: Path) -> bool:
    try:
        if path.stat().st_size > _LARGEST:
            return False
        text = read(str(path), _LARGEST).decode("utf-8", "replace")
    except OSError:
        return False
    if f" {WORD} " in text:
        return False  # our plugin's stand back
    return any(mark in text for mark in ("nmem/entry.py", "capture/entry.py", "nmem-hook"))


def problem(target: Target) -> str:
    """Why nmem's hooks cannot be put into a settings file; nothing when they can, or it does not exist."""
    try:
        if atomic.read(target.path) is not None:
            install.plan_install(target, paths.database())
    except install.SettingsError as error:
        return str(error).removesuffix("; it was left as it is")
    except OSError as error:
        return f"{target.path} cannot be read: {error.strerror}"
    return ""


CHECK = "hooks"
UNCONNECTED = Finding(CHECK, WRONG, "no coding client has nmem's hooks: nothing is recorded", "nmem init")


def by_plugin() -> list[Finding]:
    """Where Claude Code has the plugin: whether the program that its hooks name is found."""
    name = printable(plugged())
    if not name:
        return []
    if shutil.which("nmem-hook"):
        return [
            Finding(CHECK, OK, f"Claude Code's plugin {name} brings hooks; where settings have them too, its own rest")
        ]
    mend = f"put the folder of nmem-hook on your PATH, or: claude plugin disable {name}, then nmem init"
    return [Finding(CHECK, WRONG, f"Claude Code's plugin {name} records nothing: nmem-hook is not on your PATH", mend)]


def unconnected(folder: str) -> tuple[Finding, ...]:
    """That nothing is recorded, where no client has nmem's hooks; a file that cannot be read may have some."""
    if plugged():
        return tuple(each for each in by_plugin() if each.severity == WRONG)
    for client in CLIENTS:
        for target in targets.targets(client, folder):
            try:
                if entries(target):
                    return ()
            except (ValueError, OSError):
                return ()
    return (UNCONNECTED,)
