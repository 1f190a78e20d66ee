"""Reads a project's decisions: the lines of its Markdown index, each linked to its heading in a decision file.

Where there is no index, each heading that begins with When or How is an entry; of a file without such headings, and
without others that are marked as structure, its title.
"""

from __future__ import annotations

from nmem.errors import NmemError
from nmem.recall import folder, grammar, markdown, words
from nmem.recall.folder import Place, Seen
from nmem.recall.markdown import Heading


class File:
    """A decision file: its name in the folder, its lines and headings."""

    __slots__ = ("headings", "lines", "name", "stem")

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name, self.lines = name, lines
        self.headings = markdown.headings(lines)
        self.stem = name.rpartition("/")[2].rpartition(".")[0]


class Entry:
    """A decision: what it is called, and where it stands (`file` -1: nowhere; `heading` -1: its heading is missing)."""

    __slots__ = ("extras", "file", "heading", "number", "operator", "section", "trigger")

    def __init__(self, line: grammar.Line, file: int, heading: int) -> None:
        self.operator, self.trigger, self.extras = line.operator, line.trigger, line.extras
        self.section, self.number = line.section, line.number
        self.file, self.heading = file, heading


class Corpus:
    """Everything that was read, and what could not be."""

    __slots__ = ("entries", "faults", "files", "index_lines", "place", "sections", "warnings")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.files: list[File] = []
        self.entries: list[Entry] = []
        self.faults: list[grammar.Fault] = []
        self.sections: list[tuple[int, str]] = []
        self.index_lines: list[str] = []
        self.warnings: list[str] = []


def read(place: Place, seen: list[Seen] | None = None) -> Corpus:
    """Read a project's decisions. What cannot be read is a warning; a missing or broken index is none at all."""
    corpus = Corpus(place)
    if seen is None:
        seen, corpus.warnings = folder.files(place)
    for each in seen:
        try:
            corpus.files.append(File(each.name, markdown.lines_of(folder.read(place, each.name))))
        except NmemError as error:
            corpus.warnings.append(f"{error}; left out")
    if place.index:
        try:
            corpus.index_lines = markdown.lines_of(folder.text_of(place.index, place.index))
        except NmemError as error:
            corpus.warnings.append(str(error))
    corpus.entries = _indexed(corpus) if corpus.index_lines else _unindexed(corpus)
    return corpus


def is_passive(found: Corpus) -> bool:
    """Whether an index is of the older form."""
    return bool(found.index_lines) and not found.entries and any(grammar.passive(line) for line in found.index_lines)


def _indexed(corpus: Corpus) -> list[Entry]:
    lines, corpus.faults, corpus.sections = grammar.parse(corpus.index_lines)
    files = {section: file_of(corpus, section) for _, section in corpus.sections}
    names = [_names(file) for file in corpus.files]
    out: list[Entry] = []
    for line in lines:
        file, key = files[line.section], words.name(line.trigger)
        heading = names[file].get(key, -1) if file >= 0 else -1
        if heading < 0:  # in another file than its section says: found all the same, and told by the check
            elsewhere = [(at, each[key]) for at, each in enumerate(names) if key in each]
            if len(elsewhere) == 1:
                file, heading = elsewhere[0]
        out.append(Entry(line, file, heading))
    return out


def _names(file: File) -> dict[str, int]:
    """The first heading of each name; the ones of decisions go before those of structure."""
    out: dict[str, int] = {}
    for at, heading in enumerate(file.headings):
        if heading.level > 1 and not heading.dotted:
            out.setdefault(words.name(heading.text), at)
    return out


def file_of(corpus: Corpus, section: str) -> int:
    """The file that a section of the index names: by its path, or by its bare name; -1 when there is none."""
    wanted = section.replace("\\", "/").strip("/").removeprefix("./")
    ends = [wanted, f"{wanted}.md"]
    best = -1
    for at, file in enumerate(corpus.files):
        if any(end == file.name or end.endswith(f"/{file.name}") for end in ends):
            return at
        if best < 0 and file.name.rpartition("/")[2] in {end.rpartition("/")[2] for end in ends}:
            best = at
    return best


def _unindexed(corpus: Corpus) -> list[Entry]:
    out: list[Entry] = []
    for at, file in enumerate(corpus.files):
        own = [place for place, heading in enumerate(file.headings) if heading.level > 1 and asks(heading)]
        if not own and file.name.lower() == folder.PLAIN:
            continue  # it lists decisions, and is none
        if not own and file.headings and not any(heading.dotted for heading in file.headings):
            own = [0]
        for place in own:
            operator, trigger = words.bare(file.headings[place].title)
            line = grammar.Line(file.headings[place].line, file.name, operator or "when", trigger.strip(), ())
            out.append(Entry(line, at, place))
    return out


def asks(heading: Heading) -> bool:
    """Whether a heading is a decision's by its words: When or How, and something after it."""
    operator, rest = words.bare(heading.text)
    return bool(operator and rest) and not heading.dotted


def heading_of(operator: str, trigger: str) -> str:
    """How the heading of a trigger begins and reads, as one would write it."""
    if operator == "when" and trigger.startswith("before "):
        return f"B{trigger[1:]}"
    return f"{'How to' if operator == 'how' else 'When'} {trigger}"
