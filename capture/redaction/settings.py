"""Redaction settings from the user's config.toml, without reading TOML in a hook.

    [redaction]
    patterns = [{ name = "ticket", regex = "TCK-[0-9]{8}" }]
    allow = ["a literal that is no secret", { regex = "demo-.*" }]

The parsed form is cached beside the database, keyed by the file's time and size. A config that cannot be read keeps the
last good form, or none of the user's patterns; the built-in detectors never depend on it.
"""

from __future__ import annotations

import os
from time import monotonic

from capture import cache, paths
from capture.files import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    Form = tuple[list[tuple[str, str]], list[str], list[str], list[str]]
    Kept = tuple[str, tuple[int, int], Form]

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class Settings:
    """The user's patterns (kind, regular expression), what to leave alone, and what is wrong with the file."""

    __slots__ = ("allow", "allow_patterns", "patterns", "problems")

    def __init__(self, patterns: list[tuple[str, str]], allow: list[str], allow_patterns: list[str],
                 problems: list[str]) -> None:  # fmt: skip
        self.patterns = patterns
        self.allow = frozenset(allow)
        self.allow_patterns = allow_patterns
        self.problems = problems

    def allows(self, found: str) -> bool:
        """Does the user say that this is no secret?"""
        if found in self.allow:
            return True
        if not self.allow_patterns:
            return False
        from capture.redaction import deadline  # on use: start-up stays short

        return bool(deadline.matches(self.allow_patterns, found, whole=True))

    def sources(self) -> list[str]:
        """The regular expressions in it."""
        return [source for _, source in self.patterns] + self.allow_patterns


RECHECK = 0.5
"""Seconds for which a process trusts what it has read."""

_loaded: dict[tuple[str, str, int, int], Settings] = {}
_recent: list[tuple[tuple[str | None, ...], float, Settings]] = []


def load() -> Settings:
    """The settings as they stand, or stood half a second ago; never raises, never fails."""
    asked = (os.environ.get("NMEM_CONFIG"), os.environ.get("NMEM_DB"), os.environ.get("HOME"))
    now = monotonic()
    if _recent and _recent[0][0] == asked and now - _recent[0][1] < RECHECK:
        return _recent[0][2]
    found = _load()
    _recent[:] = [(asked, now, found)]
    return found


def _load() -> Settings:
    file = paths.config()
    try:
        stat = os.stat(file)
        stamp = (stat.st_mtime_ns, stat.st_size)
    except OSError:
        stamp = (0, 0)
    key = (file, _cache(), *stamp)
    found = _loaded.get(key)
    if found is None:
        _loaded.clear()
        found = _loaded[key] = _cached(file, stamp) if any(stamp) else Settings([], [], [], [])
    return found


def problems() -> list[str]:
    """What is wrong with the config file, one line each."""
    return list(load().problems)


def _cache() -> str:
    return os.path.join(paths.cache(paths.database()), "settings.bin")


_SHAPE = (str, (int, int), ([(str, str)], [str], [str], [str]))


def _cached(file: str, stamp: tuple[int, int]) -> Settings:
    kept: Kept | None = cache.read(_cache(), _SHAPE)  # type: ignore[assignment]
    if kept is None or kept[0] != file:
        return _read(file, stamp, None)
    if kept[1] == stamp:
        return Settings(*kept[2])
    return _read(file, stamp, kept[2])


def _read(file: str, stamp: tuple[int, int], last: Form | None) -> Settings:
    import tomllib  # on use: start-up stays short

    from capture.redaction.rules_cache import build  # on use: start-up stays short

    try:
        with open(file, "rb", opener=regular) as handle:
            document = tomllib.load(handle)
    except (OSError, ValueError) as error:
        patterns, allow, allowed, _ = last or ([], [], [], [])
        form = (patterns, allow, allowed, [f"{file}: {error}; the last good patterns stay in force"])
    else:
        form = _form(file, document)
    found = Settings(*form)
    build(found.sources())
    cache.write(_cache(), (file, stamp, form))
    _say(found.problems)
    return found


def _form(file: str, document: dict[str, object]) -> Form:
    trouble: list[str] = []
    section = document.get("redaction", {})
    if not isinstance(section, dict):
        return [], [], [], [f"{file}: [redaction] is not a table"]
    trouble += [f"{file}: redaction.{key} is not known" for key in section if key not in ("patterns", "allow")]
    own: list[tuple[str, str]] = []
    for number, item in enumerate(_list(section, "patterns", file, trouble)):
        name, regex = (item.get("name"), item.get("regex")) if isinstance(item, dict) else (None, None)
        if not isinstance(name, str) or not name or not set(name) <= _NAME_CHARS:
            trouble.append(f"{file}: redaction.patterns[{number}] needs a name of a-z, 0-9, - and _")
        elif _compiles(regex, f"{file}: redaction.patterns[{number}]", trouble):
            own.append((name, str(regex)))
    allow: list[str] = []
    allowed: list[str] = []
    for number, item in enumerate(_list(section, "allow", file, trouble)):
        regex = item.get("regex") if isinstance(item, dict) else None
        if isinstance(item, str):
            allow.append(item)
        elif _compiles(regex, f"{file}: redaction.allow[{number}]", trouble):
            allowed.append(str(regex))
    return own, allow, allowed, trouble


def _list(section: dict[str, object], key: str, file: str, trouble: list[str]) -> list[object]:
    found = section.get(key, [])
    if isinstance(found, list):
        return found
    trouble.append(f"{file}: redaction.{key} is not a list")
    return []


def _compiles(regex: object, where: str, trouble: list[str]) -> bool:
    import re  # on use: start-up stays short

    if not isinstance(regex, str) or not regex:
        trouble.append(f"{where} needs a regex")
        return False
    try:
        matches_nothing = re.compile(regex).match("") is None
    except (re.error, RecursionError, OverflowError) as error:
        trouble.append(f"{where} is not a regular expression: {_what(error)}")
        return False
    if not matches_nothing:
        trouble.append(f"{where} matches the empty text")
    return matches_nothing


def _what(error: Exception) -> str:
    """What is wrong with a regular expression, but none of it: it may describe a secret, and the log repeats this."""
    said = str(getattr(error, "msg", "") or type(error).__name__).partition(" '")[0]
    at = getattr(error, "pos", None)
    return said if at is None else f"{said} at position {at}"


def _say(trouble: list[str]) -> None:
    """One line each in the log; this runs only when the file has changed, so they are not repeated."""
    if not trouble:
        return
    from capture import log  # on use: start-up stays short

    for line in trouble:
        log.note(paths.database(), f"config: {line}")


def prepare() -> bool:
    """Write the cache of compiled rules now, so that the first hook need not; True when it is complete."""
    from capture.redaction import rules_cache  # on use: start-up stays short

    rules_cache.forget()
    return rules_cache.build(load().sources())


def complete() -> bool:
    """Whether the cache of compiled rules, as it stands, spares a hook all compiling."""
    from capture.redaction import rules_cache  # on use: start-up stays short

    return rules_cache.holds(load().sources())
