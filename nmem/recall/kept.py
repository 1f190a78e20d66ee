"""Names of a project's decisions for hooks: a compact list, cached beside the index, valid while no file changes.

On the hook's path, and never made there: `nmem.recall.loaded` and settling write them.

A prompt is no question, so what counts is how much of an entry's name it says. Standard library only, and cheap.
"""

from __future__ import annotations

import marshal
import os

from capture import cache, paths
from nmem.errors import NmemError
from nmem.recall import NAMES, config, folder, words
from nmem.recall.folder import Place, Seen
from nmem.recall.words import STOP

TYPE_CHECKING = False

if TYPE_CHECKING:
    from nmem.recall.index import Index

    Form = tuple[list[tuple[str, str, str]], list[tuple[int, float]], dict[str, list[int]], dict[str, float], str]

VERSION = 2
_SHAPE = (int, str, str, [(str, int, int)])


def place(cwd: str) -> Place | None:
    """Where the decisions of a folder's project are; None where there are none. Never raises."""
    if not os.path.isabs(cwd):
        return None  # of another system, or not known: not what this process happens to stand in
    try:
        return folder.find(cwd, *config.load())
    except NmemError:
        return None


def seen(where: Place) -> list[Seen]:
    """The decision files of a place."""
    return folder.files(where)[0]


def read(where: Place) -> Form | None:
    """The names (nmem.recall.kept.Form); None when they are not kept, or a file is another. Never raises."""
    found = cache.read(file(where), (_SHAPE, bytes))
    if not isinstance(found, tuple) or found[0] != _stamp(where, folder.files(where)[0]):
        return None
    try:
        form: Form = marshal.loads(found[1])  # noqa: S302 - ours alone, as the file that it was in
    except (ValueError, TypeError, EOFError):
        return None
    return form


def write(where: Place, seen: list[Seen], form: Form) -> None:
    """Keep the names of a place whose files were as `seen`."""
    # as bytes: looking at the shape of thousands of names would take longer than reading them
    cache.write(file(where), (_stamp(where, seen), marshal.dumps(form)))


def file(where: Place) -> str:
    """Where they are kept."""
    from zlib import crc32  # on use: start-up stays short

    number = crc32(where.folder.encode("utf-8", "replace"))
    return os.path.join(paths.cache(paths.database()), f"recall-{number:08x}{NAMES}")


def _stamp(where: Place, seen: list[Seen]) -> tuple[int, str, str, list[tuple[str, int, int]]]:
    try:
        found = os.stat(where.index) if where.index else None
    except OSError:
        found = None
    own = ("", found.st_mtime_ns, found.st_size) if found else ("", 0, 0)
    return VERSION, where.folder, where.index, [own, *((each.name, each.stamp, each.size) for each in seen)]


FLOOR = 0.85
"""The share of a name's weight that a prompt must say for its entry to be offered."""
_LEAST = 2
"""Words of a name that must be said."""
_ASKED = 3
"""Words with a meaning that a prompt has at least: `commit` bears on too much."""
_EXTRA = 4
"""Words of an extra trigger up to which it is a name, and no description."""
_LONGEST = 2_000
_NEAR = 8
"""Words with a meaning among which a name is looked for."""


class Offered:
    """An entry to offer: how to ask for it, its heading, its file, and how sure it is that it bears on the prompt."""

    __slots__ = ("confidence", "file", "heading", "link")

    def __init__(self, link: str, heading: str, file: str, confidence: float) -> None:
        self.link, self.heading, self.file, self.confidence = link, heading, file, confidence


def form(index: Index) -> Form:
    """Entries (link, heading, file), names (entry, weight), words -> names, what each word weighs; and what of the
    index's file is not searched."""
    from nmem.recall.index import EXTRAS, FILE, HEADING, LINE, OPERATOR, TRIGGER  # on use: start-up stays short
    from nmem.recall.rank import wanted

    entries: list[tuple[str, str, str]] = []
    named: list[tuple[int, float]] = []
    held: dict[str, list[int]] = {}
    weights: dict[str, float] = {}
    for doc in index.docs:
        if doc[LINE] < 0:
            continue
        for name in (doc[TRIGGER], *(extra for extra in doc[EXTRAS] if len(extra.split()) <= _EXTRA)):
            own = {index.surface.get(word) or words.stem(word) for word in wanted(name)}
            if len(own) < _LEAST:
                continue
            for stem in own:
                held.setdefault(stem, []).append(len(named))
                weights[stem] = index.idf.get(stem, index.unheard())
            named.append((len(entries), sum(weights[stem] for stem in own)))
        entries.append((f"/{doc[OPERATOR]} {doc[TRIGGER]}", doc[HEADING], doc[FILE]))
    return entries, named, held, weights, index.fault


def best(names: Form, prompt: str, limit: int = 2) -> list[Offered]:
    """The entries that a prompt, or the text of a failure, speaks of, surest first; mostly none."""
    sure: dict[int, float] = {}
    for part in _parts(prompt[:_LONGEST]):
        _named(names, part, sure)
    found = sorted((-share, entry) for entry, share in sure.items() if share >= FLOOR)[:limit]
    return [Offered(*names[0][entry], -share) for share, entry in found]


def _parts(prompt: str) -> list[set[str]]:
    """The words of each sentence, a few at a time: words that are far apart name nothing together."""
    out: list[set[str]] = []
    for line in prompt.replace("? ", "\n").replace("! ", "\n").replace(". ", "\n").replace("; ", "\n").split("\n"):
        said = [words.stem(word) for word in words.words(line) if word not in STOP]
        if len(set(said)) >= _ASKED:
            out += [set(said[at : at + _NEAR]) for at in range(0, max(1, len(said) - _NEAR // 2), _NEAR // 2)]
    return out


def _named(names: Form, said: set[str], sure: dict[int, float]) -> None:
    """Into `sure`, for each entry, the largest share of the weight of one of its names that is said."""
    _, named, held, weights, _ = names
    much: dict[int, float] = {}
    count: dict[int, int] = {}
    for stem in said:
        for number in held.get(stem, ()):
            much[number] = much.get(number, 0.0) + weights[stem]
            count[number] = count.get(number, 0) + 1
    for number, weight in much.items():
        if count[number] >= _LEAST:
            entry, whole = named[number]
            sure[entry] = max(sure.get(entry, 0.0), min(1.0, weight / (whole or 1.0)))
