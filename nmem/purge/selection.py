"""Parses what to purge (ids, texts, projects, times) into a selection, and matches stored texts against it.

Between different means everything given must hold (a text in one session); of the same means one is enough. A session,
thread or project goes as a whole when nothing narrower is said beside it. Case makes no difference in a `text`; JSON is
looked into as it is written and as it reads.

    read('"sk-live" project:shop since:7d', now, zone)
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property

from nmem.errors import NmemError
from nmem.purge import needles
from nmem.purge.needles import Needles
from nmem.text import printable

_QUOTES = str.maketrans(dict.fromkeys(needles.QUOTES, "'"))
KINDS = ("obs", "prompt", "episode", "session", "thread", "learning", "task")
"""What an id can name: obs/12, prompt/5, episode/3, session/ID, thread/4, learning/2, task/7."""
LEAST = 3
"""Characters of a text: a shorter one would be everywhere."""


@dataclass(frozen=True)
class Selection:
    """What shall go."""

    ids: tuple[tuple[str, str], ...] = ()
    """(kind, the rest)."""
    sessions: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    """Names, roots or keys."""
    files: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()
    before: int | None = None
    """Milliseconds."""
    since: int | None = None
    """Milliseconds."""

    def __post_init__(self) -> None:
        if not self.how:
            raise NmemError(
                "nothing selected: use --id, --session, --project, --file, --text, --regex, --before or --since"
            )
        for text in self.texts:
            if len(text.strip()) < LEAST:
                raise NmemError(f"--text needs {LEAST} characters or more: shorter texts match almost everything")
        for source in self.regexes:
            _compiled(source)

    @property
    def how(self) -> list[str]:
        """By which means it is chosen, never what."""
        kinds = dict.fromkeys(f"id {kind}" for kind, _ in self.ids)
        given = {"session": self.sessions, "project": self.projects, "file": self.files, "text": self.texts,
                 "regex": self.regexes, "before": self.before is not None, "since": self.since is not None}  # fmt: skip
        return [*kinds, *(name for name, said in given.items() if said)]

    @property
    def by_words(self) -> bool:
        """Whether it is chosen by what it says."""
        return bool(self.texts or self.regexes)

    @property
    def narrow(self) -> bool:
        """Whether single rows are chosen out of sessions."""
        return bool(self.files or self.by_words or self.by_time)

    @property
    def by_time(self) -> bool:
        """Whether it is chosen by when it was."""
        return self.before is not None or self.since is not None

    @property
    def everywhere(self) -> bool:
        """Whether words are to be gone from everywhere: nothing else says where."""
        return self.by_words and not (self.ids or self.sessions or self.projects or self.files or self.by_time)

    @cached_property
    def matcher(self) -> Matcher:
        """Tells what says the chosen words."""
        return Matcher(self.texts, self.regexes)


def parse(written: str) -> tuple[str, str]:
    """An id as a person writes it. Raises NmemError."""
    kind, slash, rest = written.partition("/")
    kind = "obs" if kind == "observation" else kind
    if not slash or kind not in KINDS or not rest or (kind != "session" and not rest.isdecimal()):
        said = "obs/12, prompt/5, episode/3, session/ID, thread/4, learning/2 or task/7"
        raise NmemError(f"{printable(written)} is not an id: {said}")
    return kind, rest


def _compiled(source: str) -> re.Pattern[str]:
    try:
        found = re.compile(source)
    except (re.error, RecursionError, OverflowError) as error:
        raise NmemError(f"--regex is not a regular expression: {error}") from None
    if found.match(""):
        raise NmemError("--regex matches the empty text, so everything")
    return found


class Matcher:
    """Recognises the chosen words in a value as it is stored."""

    def __init__(self, texts: tuple[str, ...], regexes: tuple[str, ...]) -> None:
        self._blanks = any(text != "".join(text.split()) for text in texts)
        self._quotes = any(text != text.translate(_QUOTES) for text in texts)
        self._texts = tuple(self._fold(text) for text in texts)
        self._regexes = tuple(_compiled(source) for source in regexes)

    def __call__(self, value: object) -> bool:
        """Whether a value says it: plainly, or within JSON."""
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str) or not value:
            return False
        return self._in(value) or ("\\" in value and self._in(_read(value)))

    def _in(self, value: str) -> bool:
        folded = self._fold(value) if self._texts else ""
        return any(text in folded for text in self._texts) or any(one.search(value) for one in self._regexes)

    def _fold(self, value: str) -> str:
        """Without case, where it matters with one sort of blanks and of quotes: titles and quotations change them."""
        folded = needles.fold(value)
        if self._quotes:
            folded = folded.translate(_QUOTES)
        return " ".join(folded.split()) if self._blanks else folded

    def sql(self, column: str) -> str:
        """The test of a column as SQL, where a connection knows `purge_says`: most values are told by LIKE alone.

        The longest run of plain letters and digits in a text stands in every form of it, JSON's as well, but where
        letters of others are folded to them.
        """
        runs = [needles.run(text) for text in self._texts]
        if self._regexes or not all(len(run) >= LEAST for run in runs):
            return f"purge_says({column})"
        tests = [f"{column} LIKE '%{run}%'" for run in runs] + [f"instr({column}, char(0))"]
        if any(map(needles.twofold, runs)):
            foreign = f"length({column}) != length(CAST({column} AS BLOB)) AND {column} GLOB '*[{needles.FOREIGN}]*'"
            tests += [f"instr({column}, '\\u')", f"({foreign})"]
        return f"(({' OR '.join(tests)}) AND purge_says({column}))"

    def found(self, value: object) -> set[str]:
        """What regular expressions find in a value, as it stands there: must be nowhere afterwards."""
        if not self._regexes or not isinstance(value, str) or not value:
            return set()
        forms = (value, _read(value)) if "\\" in value else (value,)
        return {hit[0] for form in forms for one in self._regexes for hit in one.finditer(form)}

    def needles(self, found: set[str]) -> Needles:
        """What is looked for in files: the texts, and what was found by regular expressions."""
        return Needles(self._texts, found)


def _read(value: str) -> str:
    """The strings of a JSON value, or a text with its escapes read."""
    if value[:1] in '[{"':
        try:
            return "\n".join(_strings(json.loads(value)))
        except (ValueError, RecursionError):
            pass
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _escape, value)


_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _escape(found: re.Match[str]) -> str:
    said = found[1]
    return chr(int(said[1:], 16)) if len(said) == 5 else _ESCAPES.get(said, found[0])


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value, *([_read(value)] if "\\" in value else [])]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (*_strings(key), *_strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []


_SPANS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r'(project|file|session|since|before|until|re):(?:"([^"]*)"|(\S+))|"([^"]+)"|(\S+)')
_ID = re.compile(rf"(?:{'|'.join((*KINDS, 'observation'))})/\S+")


def read(typed: str, now: int, zone: tzinfo | None = None) -> Selection:
    """What was typed. Raises NmemError where it says nothing, or something that cannot be understood."""
    given: dict[str, list[str]] = {}
    words: list[str] = []
    ids: list[tuple[str, str]] = []
    for name, quoted, plain, phrase, word in _PART.findall(typed):
        if name and not (quoted or plain):
            raise NmemError(f"{name}: add a value after the colon")
        if name:
            given.setdefault("before" if name == "until" else name, []).append(quoted or plain)
        elif _ID.fullmatch(word):
            ids.append(parse(word))
        else:
            words.append(phrase or word)
    if not typed.strip():
        raise NmemError("type what to purge: words, an id, or a place and time")
    times = {name: _moment(name, given.get(name, []), now, zone) for name in ("before", "since")}
    return Selection(
        ids=tuple(ids), sessions=tuple(given.get("session", ())), projects=tuple(given.get("project", ())),
        files=tuple(given.get("file", ())), texts=(" ".join(words),) if words else (),
        regexes=tuple(given.get("re", ())), before=times["before"], since=times["since"],
    )  # fmt: skip


def _moment(name: str, said: list[str], now: int, zone: tzinfo | None) -> int | None:
    """`7d`, `12h`, `14:20` of today, `2026-01-31`, `2026-01-31T10:00` in milliseconds; the last one said."""
    if not said:
        return None
    text = said[-1]
    try:
        if text[-1:] in _SPANS and not text.startswith("-"):
            return now - int(float(text[:-1]) * _SPANS[text[-1]])
        if re.fullmatch(r"\d{1,2}:\d\d", text):
            hour, minute = map(int, text.split(":"))
            day = datetime.fromtimestamp(now / 1000, zone)
            return int(day.replace(hour=hour, minute=minute, second=0, microsecond=0).timestamp() * 1000)
        when = datetime.fromisoformat(text)
        return int((when if when.tzinfo else when.replace(tzinfo=zone)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise NmemError(
            f"{name}: invalid time {printable(text)!r}: use 7d, 12h, 30m, 14:20, 2026-01-31 or 2026-01-31T10:00"
        ) from None
