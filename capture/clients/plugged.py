"""Tells whether a hook of the Claude Code plugin rests: where `nmem init` registered the same event, that one records.

Both would be started for each event, and each event is stored once; but the second would cost as much again, and tell a
session everything twice. The plugin's hooks say `--plugin`; those of `nmem init` name the entry file.
"""

from __future__ import annotations

import os

from capture.files import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WORD = "--plugin"
_LARGEST = 1_000_000
"""Bytes of a settings file that are read."""
_ENTRY, _RUNS, _IS = b"nmem/entry.py", b"[ -x ", b"[ -f "


def stands_back(event: str, environ: Mapping[str, str]) -> bool:
    """Whether Claude Code's settings, the user's or the project's, run nmem for this event; not what is gone."""
    home = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    paths = [os.path.join(home, "settings.json")]
    if project := environ.get("CLAUDE_PROJECT_DIR", ""):
        paths += [os.path.join(project, ".claude", name) for name in ("settings.json", "settings.local.json")]
    return any(_runs(path, event.encode()) for path in paths)


def _runs(path: str, event: bytes) -> bool:
    try:
        data = read(path, _LARGEST)
    except OSError:
        return False
    at = -1
    for ending in (b" ", b'"'):
        at = max(at, data.find(b" claude " + event + ending))
    start = data.rfind(b'"command"', 0, at)
    line = data[start:at] if 0 <= start < at else b""
    return _ENTRY in line.replace(b"\\\\", b"/") and all(_there(line, test) for test in (_RUNS, _IS))


def _there(line: bytes, test: bytes) -> bool:
    """Whether the file of a test in a command exists; one that is quoted in an odd way, or not tested, is taken to."""
    _, found, rest = line.partition(test)
    word = rest.partition(b" ] &&")[0].strip(b"'")
    return not found or b"'" in word or b"\\" in word or os.path.exists(word)
