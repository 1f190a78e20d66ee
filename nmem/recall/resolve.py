"""Answers a query on decisions: by trigger, `.Heading` or `..file.md`, else ranked; `null` asks for nothing.

`/when trigger`, `/when .Heading`, `/when ..file.md`; where two have one name, `/when ..file.md#Heading`, and where they
are in one file, or the name is a text, `/when ..file.md:12`, its line.
"""

from __future__ import annotations

from nmem.errors import NmemError
from nmem.recall import folder, markdown, words
from nmem.recall.corpus import File
from nmem.recall.index import BY_EXTRA, EXTRAS, FILE, HEADING, LINE, OPERATOR, SECTION, TRIGGER, Index
from nmem.recall.loaded import Recall

_LISTED = 10
_LONGEST = 4_000
"""Characters of a query: what is longer is cut."""


def is_null(query: str) -> bool:
    """Whether nothing is asked, as by a procedure that always asks."""
    return "null" in (query.strip().casefold(), words.bare(query.strip())[1].strip().casefold())


class Resolver:
    """Answers queries about one place; files are read once."""

    def __init__(self, recall: Recall) -> None:
        self.recall = recall
        self._files: dict[str, File] = {}

    def ask(self, query: str, operator: str = "", limit: int = 5) -> Answer:
        """The answer to one query; `operator` is the one it was asked with, where the query has none of its own."""
        query = query.replace("\0", "").strip()[:_LONGEST]
        own, text = words.bare(query)
        text = text.strip()
        if is_null(query):
            return Answer(query, SILENT)
        if text.startswith(".."):
            return self._file(query, text[2:].strip())
        if text.startswith("."):
            return self._section(query, text[1:].strip())
        if not words.normal(text):
            return Answer(query, WRONG, "the query is empty: ask for a trigger, for .A Heading or for ..file.md")
        return self._trigger(query, text, own or operator, limit)

    def all_files(self) -> list[File]:
        """Every file, read."""
        return [found for seen in self.recall.seen if (found := self.file(seen.name))]

    def file(self, name: str) -> File | None:
        """One file, read; None when it cannot be."""
        if name not in self._files:
            try:
                self._files[name] = File(name, markdown.lines_of(folder.read(self.recall.place, name)))
            except NmemError:
                return None
        return self._files[name]

    def _trigger(self, query: str, text: str, operator: str, limit: int) -> Answer:
        index = self.recall.index
        found = exact(index, operator, text)
        if len(found) > 1:
            out = Answer(query, SEVERAL, f"{len(found)} entries have this name; ask for one of them:")
            out.offers = [_offer(index, doc, 1.0) for doc in found[:_LISTED]]
            return out
        if found:
            return self._entry(query, found[0], 1.0)
        from nmem.recall.rank import FLOOR, rank  # on use: mostly the name itself is asked for

        ranked, sure = rank(index, text, operator, limit)
        if ranked and sure >= FLOOR and index.docs[ranked[0].doc][LINE] >= 0:
            return self._entry(query, ranked[0].doc, sure)
        if not ranked:
            more = "" if index.docs else " yet: write one with `nmem recall remember`"
            return Answer(query, NOTHING, f"no decision answers this{more}.")
        out = Answer(
            query, UNSURE, "no decision clearly answers this. If one of these is meant, ask for it:", confidence=sure
        )
        best = ranked[0].score or 1.0
        out.offers = [_offer(index, each.doc, sure * each.score / best) for each in ranked]
        return out

    def _entry(self, query: str, doc: int, sure: float) -> Answer:
        entry = self.recall.index.docs[doc]
        if entry[LINE] < 0:
            return Answer(
                query, WRONG, f"/{entry[OPERATOR]} {entry[TRIGGER]} is in the index (line {entry[6] + 1}), but no"
                f" heading of that name is in {entry[7]}: `nmem recall check` tells more.",
            )  # fmt: skip
        file = self.file(entry[FILE])
        at = next((at for at, each in enumerate(file.headings) if each.line == entry[LINE]), -1) if file else -1
        if file is None or at < 0 or file.headings[at].text != entry[HEADING]:
            return Answer(query, WRONG, f"{entry[FILE]} has just changed: ask again.")
        out = self._told(query, file, at, sure, doc)
        out.entry = f"/{entry[OPERATOR]} {entry[TRIGGER]}"
        return out

    def _told(self, query: str, file: File, at: int, sure: float, doc: int = -1) -> Answer:
        heading = file.headings[at]
        out = Answer(query, ANSWERED, confidence=sure)
        out.heading, out.body, out.file = heading.text, markdown.body(file.lines, heading), file.name
        out.line = heading.line + 1
        out.broader, out.related = around(self.recall.index, file, at, doc)
        return out

    def _section(self, query: str, title: str) -> Answer:
        wanted = words.normal(title)
        if not wanted:
            return Answer(query, WRONG, "a heading follows the dot, as in /when .Some Heading")
        files = self.all_files()
        for highest in (2, 1):
            found = [
                (file, at) for file in files for at, each in enumerate(file.headings)
                if each.level >= highest and words.normal(each.title) == wanted
            ]  # fmt: skip
            if len(found) == 1:
                return self._told(query, *found[0], 1.0)
            if found:
                out = Answer(query, SEVERAL, f"{len(found)} headings have this name; ask for one of them:")
                out.offers = [
                    Offer(section_link(self.recall.index, file, at), file.name) for file, at in found[:_LISTED]
                ]
                return out
        out = Answer(query, WRONG, f"no heading is called “{title}”. The nearest are:")
        every = [(file, at) for file in files for at, each in enumerate(file.headings) if each.level > 1]
        near = _nearest(wanted, [words.normal(file.headings[at].title) for file, at in every])
        out.offers = [Offer(section_link(self.recall.index, *every[place]), every[place][0].name) for place in near]
        return _or_none(out, "there are no headings at all in the decisions folder")

    def _file(self, query: str, text: str) -> Answer:
        name, title, line = _parted(text)
        wanted = name.replace("\\", "/").removeprefix("./")
        names = [seen.name for seen in self.recall.seen]
        chosen = _chosen(wanted, names)
        if chosen is None:
            out = Answer(query, WRONG, f"no decision file is called “{name}”. There are:")
            near = _nearest(words.normal(name), [words.normal(each) for each in names])
            out.offers = [Offer(file_link(names[place]), names[place]) for place in near]
            return _or_none(out, "there are no files in the decisions folder")
        file = self.file(chosen)
        if file is None:
            return Answer(query, WRONG, f"{chosen} cannot be read: {self._why(chosen)}")
        if title or line:
            at = [at for at, each in enumerate(file.headings)
                  if (words.normal(each.title) == words.normal(title) if title else each.line + 1 == line)]  # fmt: skip
            if len(at) == 1:
                return self._told(query, file, at[0], 1.0)
            out = Answer(
                query, WRONG, f"{chosen} has {'no such heading' if not at else 'several such headings'}. It has:"
            )
            places = at or range(len(file.headings))
            out.offers = [
                Offer(f"/when ..{chosen}:{file.headings[each].line + 1}", file.headings[each].text) for each in places
            ][:_LISTED]
            return _or_none(out, f"{chosen} has no headings")
        out = Answer(query, ANSWERED, confidence=1.0)
        out.heading, out.file, out.line = chosen, chosen, 1
        out.body = "\n".join(each.removesuffix("\r") for each in file.lines).strip("\n")
        return out

    def _why(self, name: str) -> str:
        try:
            folder.read(self.recall.place, name)
        except NmemError as error:
            return str(error)
        return "it has just changed"


def _offer(index: Index, doc: int, score: float) -> Offer:
    entry = index.docs[doc]
    return Offer(entry_link(index, doc), entry[FILE] or entry[SECTION], score, ", ".join(entry[EXTRAS]))


def _or_none(out: Answer, otherwise: str) -> Answer:
    if not out.offers:
        out.said = f"{out.said.rsplit('. ', 1)[0]}: {otherwise}."
    return out


def _parted(text: str) -> tuple[str, str, int]:
    """file.md#Heading and file.md:12 in their parts."""
    for ending in (".md", ".markdown"):
        for mark in ("#", ":"):
            name, found, rest = text.partition(ending + mark)
            if found and mark == "#":
                return name + ending, rest, 0
            if found and rest.isascii() and rest.isdecimal() and len(rest) < 9:
                return name + ending, "", int(rest)
    return text, "", 0


def _chosen(wanted: str, names: list[str]) -> str | None:
    """The file of a name: as it is listed, without its ending, or by its last part where that is its own."""
    for each in (wanted, f"{wanted}.md"):
        if each in names:
            return each
    if "/" in wanted:
        return None
    found = [
        name for name in names if name.rpartition("/")[2].casefold() in (wanted.casefold(), f"{wanted}.md".casefold())
    ]
    return found[0] if len(found) == 1 else None


def _nearest(wanted: str, names: list[str]) -> list[int]:
    """Places of the names that are most like one: by words in common, then by letters."""
    own = set(wanted.split())
    stems = {words.stem(word) for word in own}

    def like(place: int) -> tuple[float, int]:
        found = {words.stem(word) for word in names[place].split()}
        shared = len(found & stems) * 2.0 / (len(found) + len(stems) or 1)
        slips = words.distance(wanted[:60], names[place][:60], 4)
        return (-shared - (0.5 - slips / 10 if slips <= 4 else 0), place)

    return sorted(range(len(names)), key=like)[:_LISTED]


_LONGEST_LINK = 200
"""Characters of a name that is told as it is."""
_MOST = 40
"""Entries beside one that are told, those nearest to it."""


def file_link(name: str) -> str:
    """A whole file."""
    return f"/when ..{name}"


def section_link(index: Index, file: File, at: int) -> str:
    """A section by its heading."""
    title, line = file.headings[at].title, file.headings[at].line
    wanted = words.normal(title)
    if not wanted or len(title) > _LONGEST_LINK:
        return _in_file(file.name, title, line, once=False)
    if index.titles.get(wanted) == 1 and file.headings[at].level > 1:
        return f"/when .{title}"
    return _in_file(file.name, title, line, sum(words.normal(each.title) == wanted for each in file.headings) == 1)


def _in_file(name: str, title: str, line: int, once: bool) -> str:
    return f"/when ..{name}#{title}" if once else f"/when ..{name}:{line + 1}"


def entry_link(index: Index, doc: int) -> str:
    """An entry by its trigger; by its place where another has the same operator and trigger."""
    entry = index.docs[doc]
    link = f"/{entry[OPERATOR]} {entry[TRIGGER]}"
    if entry[LINE] < 0 or (len(link) <= _LONGEST_LINK and exact(index, *words.bare(link)) == [doc]):
        return link
    return _in_file(entry[FILE], entry[HEADING], entry[LINE], once=False)


def exact(index: Index, operator: str, text: str) -> list[int]:
    """The entries of a name: by trigger before heading before extra trigger, the asked operator's before others'."""
    key = words.normal(text)
    found = index.names.get(key) or index.names.get(words.name(text)) or []
    if not found and key.startswith("to "):
        found = index.names.get(key[3:], [])
    best = min((kind for kind, _ in found), default=BY_EXTRA)
    docs = [doc for kind, doc in found if kind == best]
    own = [doc for doc in docs if index.docs[doc][OPERATOR] == operator]
    return own or docs


def around(index: Index, file: File, at: int, doc: int = -1) -> tuple[list[str], list[str]]:
    """Broader links of a section, the nearest last but for the file; and the entries under the same heading."""
    ups = markdown.ancestors(file.headings, at)
    broader = [section_link(index, file, up) for up in ups] + [file_link(file.name)]
    parent = file.headings[at].parent
    same = {each.line for each in file.headings if each.parent == parent}
    line = file.headings[at].line
    beside = [
        other for other, entry in enumerate(index.docs)
        if other != doc and entry[FILE] == file.name and entry[LINE] in same and entry[LINE] != line
    ]  # fmt: skip
    if len(beside) > _MOST:
        near = sorted(beside, key=lambda other: abs(index.docs[other][LINE] - line))[:_MOST]
        beside = sorted(near)
    return broader, [entry_link(index, other) for other in beside]


ANSWERED, SEVERAL, UNSURE, NOTHING, WRONG, SILENT = "answered", "several", "unsure", "nothing", "wrong", "silent"
"""One decision; several of one name; none sure enough; none at all; a place that is not there; `null` was asked."""


class Offer:
    """An entry that may be meant: how to ask for it, the file it is in, how far it fits (1: as well as can be)."""

    __slots__ = ("extras", "file", "link", "score")

    def __init__(self, link: str, file: str, score: float = 0.0, extras: str = "") -> None:
        self.link, self.file, self.score, self.extras = link, file, score, extras


class Answer:
    """The answer to one query. Empty where something does not apply."""

    __slots__ = ("body", "broader", "confidence", "entry", "file", "heading", "kind", "line", "offers", "query",
                 "related", "said")  # fmt: skip

    def __init__(self, query: str, kind: str, said: str = "", *, confidence: float = 0.0) -> None:
        self.query, self.kind, self.said, self.confidence = query, kind, said, confidence
        self.heading = self.body = self.file = self.entry = ""
        self.line = 0
        self.broader: list[str] = []
        self.related: list[str] = []
        self.offers: list[Offer] = []

    @property
    def good(self) -> bool:
        """Whether it holds what was asked for."""
        return self.kind in (ANSWERED, SILENT)

    def form(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return {
            "query": self.query, "outcome": self.kind, "confidence": round(self.confidence, 3), "entry": self.entry,
            "heading": self.heading, "file": self.file, "line": self.line, "body": self.body, "broader": self.broader,
            "related": self.related, "said": self.said,
            "offers": [{"link": each.link, "file": each.file, "score": round(each.score, 3)} for each in self.offers],
        }  # fmt: skip
