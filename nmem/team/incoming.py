"""Looks at what came from a server before it is kept: whether it is what it should be, and in which parts it goes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from capture.text import clean
from nmem.team.wire import Came, Fact, Gone, digest
from nmem.teammates.live import KINDS
from nmem.text import json_list, json_object

CHUNK = 500
"""Rows that are written in one transaction where each takes several statements."""
MOST_VERSIONS = 16
"""Versions of another member's fact that are kept: the newest."""
_MOST_FILES = 200
_MOST_TEXT = 1_000_000
"""Characters of what came that are written in one transaction, and some more of its last row."""
_ID, _SUBJECT = re.compile(r"[0-9a-f]{24}"), re.compile(r"[0-9a-f]{12}[.][0-9a-f]{32}")
_NAME = re.compile(r"[\w.@+-]{1,64}")
_LATEST = 1 << 46
"""A moment in the year 4199: no clock is that wrong."""
_LIMITS = 32, 400, 20_000, 40_000, 40_000
"""Characters of device, title, body, files and data; the server that sends them need not be the one that we know."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def _is(pattern: re.Pattern[str], word: object) -> bool:
    return isinstance(word, str) and pattern.fullmatch(word) is not None


def fits(fact: Fact) -> bool:
    """Whether a fact is one: what stands for it is read by programs, and no server has to have looked at it."""
    texts = fact.device, fact.title, fact.body, fact.files, fact.data
    return (
        fact.kind in KINDS
        and all(_is(*each) for each in ((_ID, fact.id), (_SUBJECT, fact.subject), (_NAME, fact.author)))
        and (not fact.device or _is(_NAME, fact.device))
        and (isinstance(fact.at, int) and 0 <= fact.at < _LATEST)
        and all(isinstance(text, str) and len(text) <= most for text, most in zip(texts, _LIMITS, strict=True))
        and bool(clean(fact.title).strip())
    )


def is_gone(gone: Gone) -> bool:
    """Whether it names a subject or a version."""
    return _is(_SUBJECT, gone.subject) or (not gone.subject and _is(_ID, gone.id))


def parts(came: Sequence[Came]) -> Iterator[Sequence[Came]]:
    """What is written in one transaction each."""
    begin = size = 0
    for at, each in enumerate(came, 1):
        size += sum(len(str(text)) for text in (each.fact.body, each.fact.files, each.fact.data))
        if at == len(came) or at - begin == CHUNK or size > _MOST_TEXT:
            yield came[begin:at]
            begin, size = at, 0


def newest_versions(member: str, came: Sequence[Came]) -> list[Came]:
    """Without those of others that would be dropped again at once."""
    later: Counter[tuple[str, str]] = Counter()
    out = []
    for each in reversed(came):
        later[each.fact.subject, each.fact.author] += 1
        if each.fact.author == member or later[each.fact.subject, each.fact.author] <= MOST_VERSIONS:
            out.append(each)
    return out[::-1]


def paths(stored: Iterable[object]) -> list[str]:
    """Those of some texts that are paths within a project."""
    found = [clean(each).strip() for each in stored if isinstance(each, str)]
    return [each for each in found if _inside(unquote(each).replace("\\", "/").strip())][:_MOST_FILES]


def _inside(path: str) -> bool:
    """Whether a path without escapes names something below the folder that it begins at."""
    parts = [each.strip() for each in path.split("/")]
    return path != "" and not path.startswith(("/", "~")) and ".." not in parts and not _SCHEME.match(path)


def plain(found: Mapping[str, object]) -> dict[str, object]:
    """Texts, numbers and lists of texts; nothing deeper."""
    out: dict[str, object] = {}
    for key, value in found.items():
        if isinstance(value, str):
            out[clean(key)] = clean(value)
        elif isinstance(value, bool | int | float):
            out[clean(key)] = value
        elif isinstance(value, list):
            out[clean(key)] = [clean(each) for each in value if isinstance(each, str)]
    return out


def newest(came: Sequence[Came]) -> dict[str, int]:
    """When each author spoke last, by that author's clock."""
    out: dict[str, int] = {}
    for each in came:
        out[each.fact.author] = max(out.get(each.fact.author, 0), each.fact.at)
    return out


def row(team: str, member: str, came: Came, project_id: int) -> tuple[object, ...]:
    """A row of what came: texts without control characters, paths that stay in the project."""
    fact, own = came.fact, came.fact.author == member
    title, body = clean(fact.title), clean(fact.body)
    files = json.dumps(paths(json_list(fact.files)), ensure_ascii=False)
    data = json.dumps(plain(json_object(fact.data)), ensure_ascii=False)
    return (fact.id, team, fact.kind, fact.subject, project_id, fact.author, fact.device, fact.at, came.seq, title,
            body, files, data, own, f"?.{digest(title, body, files, data)}" if own else "", None, "")  # fmt: skip
