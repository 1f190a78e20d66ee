"""Redaction settings from the user's config.toml, without reading TOML in a hook.

    [redaction]
    sensitivity = "normal"
    words = ["a name that nobody shall read"]
    patterns = [{ name = "ticket", regex = "TCK-[0-9]{8}" }]
    allow = ["a literal that is no secret", { regex = "demo-.*" }]

    [redaction.projects.shop]
    sensitivity = "strict"

A project's words and patterns come beside those of all; its sensitivity stands instead. Secrets are redacted at each.

The parsed form is cached beside the database, keyed by the file's time and size. A config that cannot be read keeps the
last good form, or none of the user's patterns; the built-in detectors never depend on it.
"""

from __future__ import annotations

import os
from _thread import _local
from time import monotonic

from capture import cache, paths
from capture.files import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    Own = tuple[list[tuple[str, str]], str]
    Form = tuple[list[tuple[str, str]], list[str], list[str], str, dict[str, Own], list[str]]
    Kept = tuple[str, tuple[int, int], Form]

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


NORMAL, STRICT = LEVELS = ("normal", "strict")
SHORTEST = 3
"""Characters of a word of the person's own."""
WORD = "word"
"""The kind of what a person's own words find."""


class Settings:
    """The user's patterns (kind, regular expression), what to leave alone, and what is wrong with the file."""

    __slots__ = ("_made", "allow", "allow_patterns", "patterns", "problems", "projects", "strict")

    def __init__(self, patterns: list[tuple[str, str]], allow: list[str], allow_patterns: list[str],
                 level: str = NORMAL, projects: dict[str, Own] | None = None,
                 problems: list[str] | None = None) -> None:  # fmt: skip
        self.patterns = patterns
        self.allow = frozenset(allow)
        self.allow_patterns = allow_patterns
        self.problems = problems or []
        self.strict = level == STRICT
        self.projects: dict[str, Own] = projects or {}
        """By name, root folder or remote: patterns, and the sensitivity, "" where it is that of all."""
        self._made: dict[tuple[tuple[str, ...], bool], Settings] = {}

    def of(self, names: tuple[str, ...], strict: bool = False) -> Settings:
        """The same for a project, by what it is called; `strict` whatever it says."""
        made = self._made.get((names, strict))
        if made is None:
            patterns, level = list(self.patterns), STRICT if self.strict else NORMAL
            own = [self.projects[name] for name in dict.fromkeys(names) if name in self.projects]
            for further, said in own:
                patterns += further
                level = said or level
            made = self
            if own or strict:
                level = STRICT if strict else level
                made = Settings(patterns, list(self.allow), self.allow_patterns, level)
            self._made[names, strict] = made
        return made

    def allows(self, found: str) -> bool:
        """Does the user say that this is no secret?"""
        if found in self.allow:
            return True
        if not self.allow_patterns:
            return False
        from capture.redaction import deadline  # on use: start-up stays short

        return bool(deadline.matches(self.allow_patterns, found, whole=True))

    def sources(self) -> list[str]:
        """The regular expressions in it, and those that its sensitivity needs."""
        own = [source for patterns, _ in self.projects.values() for _, source in patterns]
        if self.strict or any(level == STRICT for _, level in self.projects.values()):
            from capture.redaction import strict  # on use: few are that strict

            own += strict.SOURCES
        return [source for _, source in self.patterns] + self.allow_patterns + own


class _Here(_local):
    """What the running thread redacts for."""

    names: tuple[str, ...] = ()
    strict = False


_here = _Here()


class Within:
    """Inside, a thread redacts by the rules of a project, by what it is called; `strict` whatever these say."""

    __slots__ = ("_before", "_now")

    def __init__(self, names: tuple[str, ...], strict: bool = False) -> None:
        self._now = names, strict
        self._before: tuple[tuple[str, ...], bool] = ((), False)

    def __enter__(self) -> None:
        self._before = _here.names, _here.strict
        _here.names, _here.strict = self._now

    def __exit__(self, *_: object) -> None:
        _here.names, _here.strict = self._before


def named() -> bool:
    """Whether the thread redacts by the rules of a project."""
    return bool(_here.names)


def everywhere() -> Within:
    """Inside, a thread redacts by the rules of every project: for what may quote any of them."""
    known = base()
    strict = known.strict or any(level == STRICT for _, level in known.projects.values())
    return Within(tuple(known.projects), strict)


def own() -> bool:
    """Whether the person has rules that what is stored may be older than."""
    known = base()
    return bool(known.patterns or known.projects or known.strict)


RECHECK = 0.5
"""Seconds for which a process trusts what it has read."""

_loaded: dict[tuple[str, str, int, int], Settings] = {}
_recent: list[tuple[tuple[str | None, ...], float, Settings]] = []


def load() -> Settings:
    """The settings for what the running thread redacts for; never raises, never fails."""
    found = base()
    if found.projects or _here.strict:
        return found.of(_here.names, _here.strict)
    return found


def base() -> Settings:
    """The settings for all projects as they stand, or stood half a second ago."""
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
        found = _loaded[key] = _cached(file, stamp) if any(stamp) else Settings([], [], [])
    return found


def problems() -> list[str]:
    """What is wrong with the config file, one line each."""
    return list(base().problems)


def _cache() -> str:
    return os.path.join(paths.cache(paths.database()), "settings.bin")


_SHAPE = (str, (int, int), ([(str, str)], [str], [str], str, {str: ([(str, str)], str)}, [str]))


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
        trouble = [f"{file}: {error}; the last good patterns stay in force"]
        form = (*(last or ([], [], [], NORMAL, {}))[:5], trouble)
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
        return [], [], [], NORMAL, {}, [f"{file}: [redaction] is not a table"]
    own, level = _own(section, f"{file}: redaction", ("allow", "projects"), trouble)
    allow: list[str] = []
    allowed: list[str] = []
    for number, item in enumerate(_list(section, "allow", f"{file}: redaction", trouble)):
        regex = item.get("regex") if isinstance(item, dict) else None
        if isinstance(item, str):
            allow.append(item)
        elif _compiles(regex, f"{file}: redaction.allow[{number}]", trouble):
            allowed.append(str(regex))
    projects: dict[str, Own] = {}
    tables = section.get("projects", {})
    for name, table in tables.items() if isinstance(tables, dict) else [("", tables)]:
        if isinstance(table, dict):
            projects[name] = _own(table, f"{file}: redaction.projects.{name}", (), trouble)
        else:
            trouble.append(f"{file}: redaction.projects{'.' * bool(name)}{name} is not a table")
    return own, allow, allowed, level or NORMAL, projects, trouble


def _own(section: dict[str, object], where: str, others: tuple[str, ...], trouble: list[str]) -> Own:
    """The patterns and words of a table, and its sensitivity."""
    known = ("patterns", "sensitivity", "words", *others)
    trouble += [f"{where}.{key} is not known" for key in section if key not in known]
    own: list[tuple[str, str]] = []
    for number, item in enumerate(_list(section, "patterns", where, trouble)):
        name, regex = (item.get("name"), item.get("regex")) if isinstance(item, dict) else (None, None)
        if not isinstance(name, str) or not name or not set(name) <= _NAME_CHARS:
            trouble.append(f"{where}.patterns[{number}] needs a name of a-z, 0-9, - and _")
        elif _compiles(regex, f"{where}.patterns[{number}]", trouble):
            own.append((name, str(regex)))
    for number, word in enumerate(_list(section, "words", where, trouble)):
        if isinstance(word, str) and len(word.strip()) >= SHORTEST:
            own.append((WORD, _spelt(word.strip())))
        else:
            trouble.append(f"{where}.words[{number}] is no text of at least {SHORTEST} characters")
    level = section.get("sensitivity")
    if level is None or level in LEVELS:
        return own, str(level or "")
    trouble.append(f"{where}.sensitivity must be one of {', '.join(LEVELS)}")
    return own, STRICT  # whoever wrote it wanted something: more is hidden than need be, until it is mended


def _spelt(word: str) -> str:
    """A word as a pattern: whole, and in whatever case."""
    import re  # on use: start-up stays short

    first = r"(?<![^\W_])" if word[0].isalnum() else ""
    last = r"(?![^\W_])" if word[-1].isalnum() else ""
    return f"(?i:{first}{re.escape(word)}{last})"


def _list(section: dict[str, object], key: str, where: str, trouble: list[str]) -> list[object]:
    found = section.get(key, [])
    if isinstance(found, list):
        return found
    trouble.append(f"{where}.{key} is not a list")
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
    return rules_cache.build(base().sources())


def complete() -> bool:
    """Whether the cache of compiled rules, as it stands, spares a hook all compiling."""
    from capture.redaction import rules_cache  # on use: start-up stays short

    return rules_cache.holds(base().sources())
