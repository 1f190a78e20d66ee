"""Regular expressions without `re`: compiled once, kept as `_sre` code, loaded by every later process.

Importing `re` and compiling the detectors costs a hook more than everything else it does. The cache is keyed by the
interpreter (its tag and `_sre.MAGIC`) and by each pattern's own source, so an entry is never stale; without it, or with
one that cannot be read or written, everything works the slow way.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import marshal
import os
import sys

from capture import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from re import Pattern

    Code = tuple[int, int, dict[str, int], tuple[str | None, ...], bytes]

_MOST = 2000
_ready: dict[str, Pattern[str]] = {}
_stored: dict[str, dict[str, Code]] = {}


def path() -> str:
    """The cache file of this interpreter."""
    return os.path.join(paths.cache(paths.database()), f"rules-{sys.implementation.cache_tag}-{_sre.MAGIC}.bin")


def pattern(source: str) -> Pattern[str]:
    """A compiled pattern. A miss compiles every detector and writes the cache, once.

    Raises re.error when the source is not a regular expression.
    """
    ready = _ready.get(source)
    if ready is None:
        ready = _ready[source] = _from_cache(source) or _compile(source)
    return ready


def _from_cache(source: str) -> Pattern[str] | None:
    entry = _entries().get(source)
    if entry is None:
        return None
    try:
        flags, groups, names, order, code = entry
        words = marshal.loads(code)  # noqa: S302 - our own file, see _read
        found: Pattern[str] = _sre.compile(source, flags, words, groups, names, order)
    except (ValueError, TypeError, EOFError, RuntimeError, OverflowError):
        return None
    return found


def _entries() -> dict[str, Code]:
    file = path()
    entries = _stored.get(file)
    if entries is None:
        entries = _stored[file] = _read(file)
    return entries


def _read(file: str) -> dict[str, Code]:
    try:
        with open(file, "rb") as handle:
            entries = marshal.load(handle)  # noqa: S302 - our own file in a folder that only the user can write
    except (OSError, ValueError, TypeError, EOFError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _compile(source: str) -> Pattern[str]:
    import re

    compiled = re.compile(source)
    from capture.redaction import finders

    build([*finders.sources(), source])
    return compiled


def prepare() -> bool:
    """Write the cache now, so that the first hook need not; True when it is complete."""
    from capture.redaction import finders

    return build(finders.sources())


def build(sources: Iterable[str]) -> bool:
    """Add patterns to the cache file; True when they are all in it. Sources that do not compile are left out."""
    entries = dict(_entries())
    missing = [source for source in dict.fromkeys(sources) if source not in entries]
    if not missing:
        return os.path.exists(path())
    if len(entries) > _MOST:
        entries.clear()
    for source in missing:
        entry = _code(source)
        if entry is not None:
            entries[source] = entry
    file = path()
    _stored[file] = entries
    return write(file, marshal.dumps(entries))


def _code(source: str) -> Code | None:
    import re

    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]

        parsed = _parser.parse(source, 0)
        code = _compiler._code(parsed, 0)
    except (ImportError, AttributeError, re.error, RecursionError, OverflowError):
        return None
    state = parsed.state
    order: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        order[number] = name
    return (
        state.flags,
        state.groups - 1,
        dict(state.groupdict),
        tuple(order),
        marshal.dumps([int(word) for word in code]),
    )


def write(file: str, data: bytes) -> bool:
    part = f"{file}.{os.getpid()}"
    try:
        paths.make(os.path.dirname(file))
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
        os.replace(part, file)
    except OSError:
        return False
    return True
