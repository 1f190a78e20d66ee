"""Parses what is typed in the search box into words and filters, no input is an error; writes options as typed text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from capture.event import OBS_TYPES
from nmem.search.kinds import KIND_NAMES
from nmem.search.text import fold, humps, tokens, unspaced

LONGEST = 20_000
"""Characters of a query that are read: an issue or a stack trace may be pasted whole."""
MOST_WORDS = 24
"""Words that rows are looked for by; episodes are ranked by all of them."""
_PASTED = 500
"""A text of several lines that is longer than this was pasted: nothing in it is a filter."""
STATES = ("failed", "pinned")
TIMES = "30m, 12h, 7d, 4w, today, yesterday, 2026-01, 2026-01-31 or 2026-01-31T10:00"
MEANT = {
    "is": "is:failed or is:pinned",
    "type": "type:test, type:git, type:prompt, type:episode ...",
    "since": f"since: with {TIMES}",
    "until": f"until: with {TIMES}",
    "before": f"before: with {TIMES}",
}
"""What may stand behind the filters that not every word can stand behind."""
_TOLD = 4
_STAMPS = ("%Y-%m-%d", "%Y-%m-%dt%H:%M", "%Y-%m-%dt%H:%M:%S", "%Y-%m")
_CHUNK = re.compile(r'(!?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))')
_SPAN = re.compile(r"(\d{1,5})([mhdw])\Z")
_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


@dataclass(frozen=True, slots=True)
class Word:
    """One word, or several in quotation marks that must follow each other."""

    text: str
    """Folded, as typed."""
    tokens: tuple[str, ...]
    """As the index cuts it: login-bug is two. Empty for an emoji or punctuation."""
    camel: tuple[str, ...] = ()
    """The parts of getUserId, when it has several."""
    quoted: bool = False
    no: bool = False
    """`!word`: must not occur."""
    open: bool = False
    """The last word typed: it may go on."""
    exact: bool = False
    """It holds signs that the index drops, as C++ does: worth looking at the text itself."""
    unspaced: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """What hits must be, besides matching the words. Empty: anything."""

    project: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    """Whole names of observation types and of kinds."""
    file: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds."""
    until: int | None = None
    """Milliseconds; what was then is no longer wanted."""
    failed: bool = False
    pinned: bool = False

    def __bool__(self) -> bool:
        return bool(self.project or self.type or self.file or self.client or self.failed or self.pinned
                    or self.since is not None or self.until is not None)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Query:
    """Words and filters."""

    text: str = ""
    words: tuple[Word, ...] = ()
    filters: Filters = field(default_factory=Filters)
    about: str = ""
    """All words that must occur, as typed, without the filters."""
    cut: bool = False
    """More was typed than is looked for."""
    mistaken: tuple[str, ...] = ()
    """What looks like a filter and says nothing that could be: each in words, and taken as a word."""

    @property
    def wanted(self) -> tuple[Word, ...]:
        """The words that must occur."""
        return tuple(word for word in self.words if not word.no)

    @property
    def unwanted(self) -> tuple[Word, ...]:
        return tuple(word for word in self.words if word.no)

    def __bool__(self) -> bool:
        return bool(self.words) or bool(self.filters)


def parse(text: str, now: int) -> Query:
    """The query that a text is; `now` in milliseconds is what `since:7d` counts from."""
    read = _readable(text[:LONGEST])
    found: dict[str, list[str]] = {}
    words = dict[tuple[str, bool], Word]()
    mistaken = []
    about = []
    pasted = len(read) > _PASTED and "\n" in read
    for no, name, value, quoted, whole in _chunks(read):
        kept = _filter(name, value, now, whole=quoted) if name and value and not no and not pasted else None
        if kept is not None:
            found.setdefault(name, []).extend(kept)
            continue
        if name in MEANT and value and not pasted:
            mistaken.append(f"{whole} is not a filter, so it was taken as a word; there is {MEANT[name]}")
        if len(words) <= MOST_WORDS:
            word = _word(value if quoted and not name else whole, quoted=quoted and not name, no=no and not pasted)
            if word is not None:
                words.setdefault((word.text, word.no), word)
        if not no or pasted:
            about.append(whole)
    ordered = list(words.values())
    cut = len(text) > LONGEST or len(ordered) > MOST_WORDS
    ordered = ordered[:MOST_WORDS]
    if ordered and not cut and _unfinished(read, ordered[-1]):
        ordered[-1] = _opened(ordered[-1])
    whole = read if pasted else " ".join(about)
    return Query(text[:LONGEST], tuple(ordered), _filters(found), whole, cut, tuple(dict.fromkeys(mistaken))[:_TOLD])


def _readable(text: str) -> str:
    """Without what neither a database nor a terminal takes: NUL, lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _chunks(text: str) -> Iterator[tuple[bool, str, str, bool, str]]:
    """(no, name before the colon, value, in quotation marks, the whole as typed without `!`)."""
    for found in _CHUNK.finditer(text):
        bang, name, quoted, plain = found.groups()
        value = plain if quoted is None else quoted
        whole = found.group(0)
        no = bool(bang) and any(map(str.isalnum, whole))
        yield no, name or "", value, quoted is not None, whole[1:] if no else whole


def _word(text: str, *, quoted: bool, no: bool) -> Word | None:
    text = text.strip("\"'`’“”") or text
    folded = fold(text).strip()
    if not folded:
        return None
    cut = tuple(tokens(folded))
    parts = tuple(part for piece in tokens(text) for part in humps(piece))
    bare = folded.strip(".,;:!?…()[]{}<>\"'`’“”")
    return Word(folded, cut, parts if len(parts) > len(cut) else (), quoted, no,
                exact=bool(cut) and not quoted and bare != "" and not (bare[0].isalnum() and bare[-1].isalnum()),
                unspaced=unspaced(folded))  # fmt: skip


def _unfinished(text: str, last: Word) -> bool:
    """Whether the last thing typed is a word that may go on."""
    return bool(last.tokens) and not last.quoted and not last.no and fold(text).endswith(last.tokens[-1])


def _opened(word: Word) -> Word:
    return Word(word.text, word.tokens, word.camel, word.quoted, word.no, True, word.exact, word.unspaced)


def _filter(name: str, value: str, now: int, *, whole: bool) -> list[str] | None:
    """The values of a filter; None when it is none, or says nothing that could be. Quotation marks hold one name."""
    values = [value] if whole and name in ("project", "file", "client") else [one for one in value.split(",") if one]
    if name in ("project", "file", "client"):
        return values or None
    if name == "is":
        states = [state for one in values for state in STATES if state.startswith(fold(one))]
        return states if states and len(states) >= len(values) else None
    if name == "type":
        return [kind for one in values for kind in _types(fold(one))] or None
    if name in ("since", "until", "before"):
        at = since(value, now)
        return None if at is None else [str(at)]
    return None


def _types(value: str) -> list[str]:
    """Types and kinds of a name, or that begin with it: `git` is git_commit, git_push and git_other."""
    known = (*KIND_NAMES, *sorted(OBS_TYPES))
    return [value] if value in known else [name for name in known if name.startswith(value)]


def since(value: str, now: int) -> int | None:
    """30m, 12h, 7d, 4w, today, yesterday, 2026-01 or 2026-01-31T10:00 as milliseconds; None when it is no time.

    Days begin where the person is.
    """
    value = value.lower()
    if span := _SPAN.match(value):
        return max(0, now - int(span[1]) * _MS[span[2]])
    if value in ("today", "yesterday"):
        today = datetime.fromtimestamp(now / 1000, UTC).astimezone().date()
        value = str(today - timedelta(days=value == "yesterday"))
    for stamp in _STAMPS:
        try:
            return int(datetime.strptime(value, stamp).astimezone().timestamp() * 1000)
        except (ValueError, OverflowError):
            continue
    return None


def _filters(found: dict[str, list[str]]) -> Filters:
    def unique(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(found.get(name, ())))

    states, times = unique("is"), unique("since")
    ends = (*unique("until"), *unique("before"))
    return Filters(
        project=unique("project"), type=unique("type"), file=unique("file"), client=unique("client"),
        since=max(map(int, times)) if times else None, until=min(map(int, ends)) if ends else None,
        failed="failed" in states, pinned="pinned" in states,
    )  # fmt: skip


_NAMED = re.compile(r"!?[a-z]+:(?=.*\s)")
_STANDS = re.compile(r'!?(?:[a-z]+:)?(?:"[^"]*"|\S+)')
"""A word, a phrase or a filter of a query."""


def filters(name: str, values: Sequence[str], now: int) -> list[str]:
    """Filters as typed. Raises ValueError, with the value, for one that would be taken for a word."""
    out = []
    for value in values:
        typed = f'{name}:"{value}"' if re.search(r"\s", value) else f"{name}:{value}"
        if '"' in value or parse(typed, now).words or not parse(typed, now).filters:
            raise ValueError(value)
        out.append(typed)
    return out


def typed_words(arguments: Sequence[str]) -> str:
    """A shell's arguments as one line: project:"my shop" lost its quotation marks on the way, and gets them back.

    One argument alone is the whole query, as it would be typed.
    """
    if len(arguments) == 1:
        return arguments[0]
    return " ".join(map(_requoted, arguments))


def _requoted(argument: str) -> str:
    named = _NAMED.match(argument)
    if '"' in argument or not re.search(r"\s", argument):
        return argument
    at = named.end() if named else 0
    return f'{argument[:at]}"{argument[at:]}"'


def standing(text: str) -> list[str]:
    """The filters that stand in a query, each as it was typed."""
    return [found[0] for found in _STANDS.finditer(text) if _is_filter(found[0])]


def toggled(text: str, one: str) -> str:
    """A query with a filter put in, or taken out where it stands already; another of its name gives way to it."""
    pieces = [found[0] for found in _STANDS.finditer(text)]
    name, _, value = one.partition(":")
    kept, there = list[str](), False
    for piece in pieces:
        if not piece.startswith(f"{name}:") or not _is_filter(piece):
            kept.append(piece)
        elif piece == one:
            there = True
        elif name == "is":  # failed and pinned stand side by side
            kept.append(piece)
    if not there and value:
        kept.append(one)
    return " ".join(kept)


def _is_filter(piece: str) -> bool:
    read = parse(piece, 0)
    return bool(read.filters) and not read.words
