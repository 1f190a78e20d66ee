"""Loads regular expressions without `re`: compiled once to `_sre` code, and cached.

Importing `re` and compiling the detectors costs a hook more than everything else it does. The cache is keyed by the
interpreter (its tag and `_sre.MAGIC`) and by each pattern's own source, so an entry is never stale; without it, or with
one that cannot be read or written, everything works the slow way.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import marshal
import os
import sys

from capture import cache, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from re import Pattern

    Code = tuple[int, int, dict[str, int], tuple[str | None, ...], bytes]

_ready: dict[str, Pattern[str]] = {}
_stored: dict[str, dict[str, Code | None]] = {}
"""By cache file: the code of each source, None where this interpreter's cannot be kept."""

builtin: Callable[[], Iterable[str]] = tuple
"""The sources of every built-in pattern: `finders` sets it when it is loaded, and nothing here imports a detector."""


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
    found = entry and made(source, entry)
    if entry and not found:
        del _entries()[source]  # whoever compiles it writes it anew
    return found or None


def made(source: str, entry: Code) -> Pattern[str] | None:
    """A pattern from its code; None where this interpreter does not take it."""
    try:
        flags, groups, names, order, words = entry
        found: Pattern[str] = _sre.compile(source, flags, marshal.loads(words), groups, names, order)  # noqa: S302 - from a file that is ours alone, see cache.read
    except (ValueError, TypeError, EOFError, RuntimeError, OverflowError):
        return None
    return found


def _entries() -> dict[str, Code | None]:
    file = path()
    entries = _stored.get(file)
    if entries is None:
        found = cache.read(file, dict)
        entries = _stored[file] = found if isinstance(found, dict) else {}
    return entries


def _compile(source: str) -> Pattern[str]:
    import re  # on use: start-up stays short

    compiled = re.compile(source)
    build([source])
    return compiled


def build(own: Iterable[str]) -> bool:
    """See that the cache file holds the built-in patterns and these; True when it does.

    What it must gain costs a rewrite, and what no nmem of this version asks for is left out then. A source whose code
    cannot be kept is marked, so that nobody tries again.
    """
    entries = _entries()
    shipped = dict.fromkeys(builtin())
    wanted = {**shipped, **dict.fromkeys(own)}
    if any(source not in entries for source in wanted):
        upgraded = any(source not in entries for source in shipped)
        kept = wanted if upgraded else {**entries, **wanted}
        entries = {source: entries[source] if source in entries else code(source) for source in kept}
        _stored[path()] = entries
        if not cache.write(path(), entries):
            return False
    return all(entries[source] for source in wanted) and os.path.exists(path())


def forget() -> None:
    """Read the file anew: what was not to be written earlier may be now."""
    _stored.pop(path(), None)


def holds(sources: Iterable[str]) -> bool:
    """Whether the cache file, as it stands, spares a hook compiling the built-in patterns and these."""
    found = cache.read(path(), dict)
    entries: dict[object, object] = found if isinstance(found, dict) else {}
    return all(entries.get(source) for source in (*builtin(), *sources))


def code(source: str) -> Code | None:
    """What the interpreter compiles a source to, as `made` takes it; None where that cannot be kept."""
    import re  # on use: start-up stays short

    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]  # on use: not every interpreter has them

        parsed = _parser.parse(source, 0)
        words = _compiler._code(parsed, 0)
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
        marshal.dumps([int(word) for word in words]),
    )
