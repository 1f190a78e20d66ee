"""Migrates an index of `Key — description` lines to `/when` entries: keys become situations, and headings follow.

A key and its description become extra triggers, lines that belong to no decision move above the sections, references
among the decision files follow their headings. What went: the text above the sections, which told of the older form;
sections that say of themselves that their rules are loaded already; what loaded the whole index into every session.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from nmem.errors import NmemError
from nmem.llm import Cancel
from nmem.llm.ask import Desk
from nmem.recall import corpus, folder, grammar, mend, situations, words
from nmem.recall.changes import Change
from nmem.recall.corpus import Corpus, File
from nmem.recall.grammar import HEADER
from nmem.recall.index import Index, build
from nmem.recall.rank import rank
from nmem.recall.rewrite import Names, Rewritten, find, rewrite

_SURE = 0.5
"""Confidence from which a key is taken to be of a decision that is called otherwise."""
_LINKED = re.compile(r"\(([^()\s]+\.md)\)")
"""A key that leads to a file: [Database](database.md)."""
_KEPT = "**From the earlier index; no decision was found for these lines:**"


@dataclass(frozen=True, slots=True)
class Renamed:
    """A heading that becomes another, and where else its old words stand (file:line) and are left."""

    file: str
    line: int
    before: str
    after: str
    references: tuple[str, ...] = ()


@dataclass
class Plan:
    """What a migration would do."""

    change: Change
    entries: int = 0
    renamed: list[Renamed] = field(default_factory=list)
    rewritten: list[Rewritten] = field(default_factory=list)
    """Lines of decision files that name a renamed heading, and follow it."""
    unread: int = 0
    """Files of the project that there was no time to look through for old headings."""
    kept: list[str] = field(default_factory=list)
    """Lines that no decision was found for; they stay, above the sections."""
    unknown: list[str] = field(default_factory=list)
    """Of these, the ones in no form that is known."""
    above: set[str] = field(default_factory=set)
    """Lines before the first section that were read: the others told of the older form."""
    gone: list[str] = field(default_factory=list)
    """Lines (file:line, text) of what was always loaded, which are taken out, and of the older header."""
    when: int = 0
    how: int = 0
    """Entries by operator."""
    by_model: int = 0
    """Names that a model gave."""
    problem: str = ""
    """Why a model was not asked on."""


@dataclass
class _Row:
    """An entry to be: the heading it leads to, and what it can be asked by."""

    file: int
    heading: int
    operator: str
    trigger: str
    extras: list[str]
    said: str = ""
    """What the older index says of it."""


def plan(found: Corpus, desk: Desk | None = None, cancel: Cancel | None = None) -> Plan:
    """What would be done; `desk` asks a model for names. Raises NmemError where there is nothing to migrate."""
    if not found.index_lines:
        raise NmemError(f"there is no index to migrate: none of {', '.join(folder.INDEXES)} or index.md with lines"
                        " `Key — description`; --index FILE with --decisions DIR names another")  # fmt: skip
    if not corpus.is_passive(found):
        raise NmemError("the index has /when entries already, or no lines `Key — description`: run `nmem recall check`")
    out = Plan(Change("an older index made one of /when and /how", found.place.root))
    rows = _rows(found, out)
    _named(rows, out, desk, cancel or Cancel())
    texts = _headings(found, rows, out)
    _written(found, rows, out)
    _unloaded(found, out)
    for at, lines in texts.items():
        out.change.put(os.path.join(found.place.folder, found.files[at].name), "\n".join(lines))
    return out


def _rows(found: Corpus, out: Plan) -> dict[tuple[int, int], _Row]:
    """The entries to be, by heading; lines of the old index that belong to none are kept."""
    index, places = _all_headings(found)
    rows: dict[tuple[int, int], _Row] = {}
    section, inside, loaded = "", False, False
    plain = not any(line.startswith("## ") for line in found.index_lines)
    for raw in found.index_lines:
        line = raw.rstrip()
        if line.startswith("## "):
            section, inside = line[3:].strip().strip("`"), True
            unknown = corpus.file_of(found, section) < 0
            loaded = unknown and "already loaded" in section.casefold()
            if unknown and not loaded:
                out.kept.append(f"#{line}")
            continue
        if not line.strip() or (not inside and not _listed(line, plain=plain)):
            continue
        if not inside:
            out.above.add(line)
        if loaded:
            out.gone.append(line)
            continue
        pair = grammar.passive(line)
        place = _place(found, index, places, section, pair) if pair else None
        if pair is None or place is None:
            out.kept.append(line)
            out.unknown += [line] * (pair is None)
            continue
        row = rows.setdefault(place, _row(found, place))
        row.extras += [f"{pair[0]} — {pair[1]}"] if _differ(row.trigger, pair[0]) else [pair[1]]
        row.said = row.said or pair[1]
        out.entries += 1
    _unlisted(found, rows)
    return rows


def _listed(line: str, *, plain: bool) -> bool:
    """Whether a line before the first section is of the list; `plain`: there is no section, all but titles are."""
    if plain:
        return not line.startswith("# ")
    return line.lstrip().startswith(("- ", "* ")) and grammar.passive(line) is not None


def _unlisted(found: Corpus, rows: dict[tuple[int, int], _Row]) -> None:
    """An entry for each decision that the older index does not name."""
    for at, file in enumerate(found.files):
        for heading in _decisions(file):
            if (at, heading) not in rows and not _part_of_other(file, at, heading, rows):
                rows[at, heading] = _row(found, (at, heading))


def _all_headings(found: Corpus) -> tuple[Index, list[tuple[int, int]]]:
    """An index of every heading that may be a decision, as if each were an entry."""
    whole = Corpus(found.place)
    whole.files = found.files
    places: list[tuple[int, int]] = []
    for at, file in enumerate(found.files):
        for place, heading in enumerate(file.headings):
            if heading.level > 1 and not heading.dotted and words.name(heading.text):
                places.append((at, place))
                line = grammar.Line(heading.line, file.name, "when", heading.title, ())
                whole.entries.append(corpus.Entry(line, at, place))
    return build(whole), places


def _place(
    found: Corpus, index: Index, places: list[tuple[int, int]], section: str, pair: tuple[str, str]
) -> tuple[int, int] | None:
    """The heading that a line of the old index is about: by its name, else by its words where they are clear."""
    own = corpus.file_of(found, section)
    link = _LINKED.search(pair[0])
    if own < 0 and (file := corpus.file_of(found, link[1] if link else pair[0])) >= 0:
        return next(((file, heading) for heading in _decisions(found.files[file])), None)
    named = [places[doc] for _, doc in index.names.get(words.name(pair[0]), ())]
    here = [place for place in named if place[0] == own]
    if here or len(named) == 1:
        return (here or named)[0]
    ranked, sure = rank(index, f"{pair[0]} {pair[1]}", "", 12)
    best = next((each for each in ranked if own < 0 or places[each.doc][0] == own), None)
    if best is None or (sure < _SURE if best is ranked[0] and own < 0 else best.cover < _SURE):
        return None
    return places[best.doc]


def _decisions(file: File) -> list[int]:
    """The headings with a text of their own: the others only order."""
    out = []
    for at, heading in enumerate(file.headings):
        below = file.headings[at + 1].line if at + 1 < len(file.headings) else len(file.lines)
        if (
            heading.level > 1
            and not heading.dotted
            and any(line.strip() for line in file.lines[heading.line + 1 : below])
        ):
            out.append(at)
    return out


def _part_of_other(file: File, at: int, place: int, rows: dict[tuple[int, int], _Row]) -> bool:
    up = file.headings[place].parent
    while up >= 0:
        if (at, up) in rows:
            return True
        up = file.headings[up].parent
    return False


def _row(found: Corpus, place: tuple[int, int]) -> _Row:
    """A heading as it stands; without an operator it is still to be named."""
    title = found.files[place[0]].headings[place[1]].title
    operator, rest = words.bare(title)
    return _Row(*place, operator if rest.strip() else "", rest.strip() or title, [])


def _differ(one: str, other: str) -> bool:
    return words.normal(one) != words.normal(other)


def _named(rows: dict[tuple[int, int], _Row], out: Plan, desk: Desk | None, cancel: Cancel) -> None:
    """Titles that ask nothing become situations and procedures; what they were called is an extra trigger."""
    bare = [rows[place] for place in sorted(rows) if not rows[place].operator]
    told, out.problem = situations.asked(desk, [(row.trigger, row.said) for row in bare], cancel)
    out.by_model = len(told)
    for at, row in enumerate(bare):
        title = row.trigger
        row.operator, row.trigger = told.get(at) or situations.of(title)
        if _differ(title, row.trigger):
            row.extras.insert(0, title.replace(",", " "))
    out.how = sum(row.operator == "how" for row in rows.values())
    out.when = len(rows) - out.how


def _headings(found: Corpus, rows: dict[tuple[int, int], _Row], out: Plan) -> dict[int, list[str]]:
    """The lines of the files with headings that ask, names made distinct; what orders only gets its dot."""
    texts: dict[int, list[str]] = {}
    titles: dict[tuple[int, int], str] = {}
    taken: set[str] = set()
    for (at, place), row in sorted(rows.items()):
        heading = found.files[at].headings[place]
        if words.normal(row.trigger) in taken:
            row.trigger = f"{row.trigger} ({found.files[at].stem})"
        while words.name(row.trigger) in taken:
            row.trigger += f" {heading.line + 1}"
        taken.add(words.name(row.trigger))
        asked = words.bare(heading.text)[0]
        title = (
            heading.text
            if asked and words.name(heading.text) == words.name(row.trigger)
            else corpus.heading_of(row.operator, row.trigger)
        )
        titles[at, place] = title
    for at, file in enumerate(found.files):
        for place, heading in enumerate(file.headings):
            if (
                heading.level > 1
                and not heading.dotted
                and (at, place) not in rows
                and not _part_of_other(file, at, place, rows)
            ):
                titles[at, place] = f".{heading.text}"
    for (at, place), title in titles.items():
        _rename(found, texts, at, place, title, out)
    _followed(found, texts, titles, out)
    _references(found, out)
    return texts


def _followed(found: Corpus, texts: dict[int, list[str]], titles: dict[tuple[int, int], str], out: Plan) -> None:
    """Lead the references among the decision files to the new headings."""
    names = Names(found, titles)
    for at, file in enumerate(found.files):
        lines = texts.get(at) or out.change.text(os.path.join(found.place.folder, file.name)).split("\n")
        for number, new in rewrite(names, at, lines):
            out.rewritten.append(Rewritten(file.name, number + 1, lines[number].strip(), new.strip()))
            texts.setdefault(at, lines)[number] = new


def _rename(found: Corpus, texts: dict[int, list[str]], at: int, place: int, title: str, out: Plan) -> None:
    file = found.files[at]
    heading = file.headings[place]
    if heading.text == title:
        return
    if at not in texts:
        texts[at] = out.change.text(os.path.join(found.place.folder, file.name)).split("\n")
    old = texts[at][heading.line]
    begins = old.find(heading.text)
    texts[at][heading.line] = old[:begins] + title + old[begins + len(heading.text) :]
    out.renamed.append(Renamed(file.name, heading.line + 1, heading.text, title))


def _references(found: Corpus, out: Plan) -> None:
    """Note where old headings are spoken of, before they are renamed."""
    follow = {_told(found, each.file, each.line) for each in out.rewritten}
    spoken = find(found.place.root, [each.before for each in out.renamed], found.place.index)
    out.unread = len(spoken.get("", ()))
    out.renamed = [
        Renamed(each.file, each.line, each.before, each.after, tuple(
            where for where in spoken.get(each.before, ())
            if where not in follow and where != _told(found, each.file, each.line)))
        for each in out.renamed
    ]  # fmt: skip


def _told(found: Corpus, file: str, line: int) -> str:
    """A place as references are told: from the project's root."""
    return f"{os.path.relpath(os.path.join(found.place.folder, file), found.place.root)}:{line}"


def _written(found: Corpus, rows: dict[tuple[int, int], _Row], out: Plan) -> None:
    """The new index: its title, how to ask, what was kept, and a section for each file."""
    path = found.place.index
    raw = out.change.text(path).split("\n")
    end = "\r" if raw[0].endswith("\r") else ""
    start = next((number for number, line in enumerate(raw) if line.startswith("## ")), len(raw))
    top = [line.removesuffix("\r") for line in raw[:start]]
    title = 1 if top and top[0].startswith("# ") else 0
    lines = [*top[:title], "", *HEADER.splitlines()]
    out.gone += [line for line in top[title:] if line.strip() and line.rstrip() not in out.above]
    while lines and not lines[-1].strip():
        lines.pop()
    if out.kept:
        lines += ["", _KEPT, "", *out.kept]
    for at in range(len(found.files)):
        own = sorted((place, row) for (file, place), row in rows.items() if file == at)
        if own:
            lines += ["", f"## {mend.named(found, at)}", ""]
            lines += [
                grammar.written(row.operator, grammar.trigger_of(row.trigger), tuple(row.extras)) for _, row in own
            ]
    out.change.put(path, "".join(f"{line}{end}\n" for line in lines))


GUIDES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md")
"""Files of a project that clients load into every session."""
_POINTER = "Decisions are written down: ask `nmem when <words>` or `nmem how <words>` before you decide anew."
_COPIED = 3
"""Lines of the index that a file must repeat for them to be a copy of it."""


def _unloaded(found: Corpus, out: Plan) -> None:
    """Take out of the files that are always loaded what loads the index or decisions, and copies of its lines."""
    root = found.place.root
    seen: set[str] = set()
    for name in GUIDES:
        path = os.path.realpath(os.path.join(root, name))
        if path in seen or not os.path.isfile(path) or not folder.inside(path, os.path.realpath(root)):
            continue  # one of them is often a link to another
        seen.add(path)
        lines = out.change.text(path).split("\n")
        kept = _without(found, os.path.dirname(path), lines)
        if kept == lines:
            continue
        out.gone += [f"{name}:{at + 1}  {lines[at].strip()}" for at in _changed(lines, kept)]
        first = next(iter(_changed(lines, kept)))
        end = "\r" * lines[first].endswith("\r")
        texts = [*kept[:first], _POINTER + end, *kept[first:]]
        out.change.put(path, "\n".join(text for text in texts if text is not None))


def _changed(lines: list[str], kept: list[str | None]) -> list[int]:
    return [at for at, (before, after) in enumerate(zip(lines, kept, strict=True)) if before != after]


def _without(found: Corpus, base: str, lines: list[str]) -> list[str | None]:
    """The lines of a file without what loads decisions: None where a line goes; within one an import becomes a name."""
    indexed = {line.strip() for line in found.index_lines if grammar.passive(line)}
    copies = sum(line.strip() in indexed for line in lines) >= _COPIED
    out: list[str | None] = []
    for line in lines:
        if _loads(found, base, line) or (copies and line.strip() in indexed):
            out.append(None)
        else:
            out.append(" ".join(word[1:] if _loads(found, base, word) else word for word in line.split(" ")))
    return out


def _loads(found: Corpus, base: str, line: str) -> bool:
    """Whether a line is nothing but an import of the index or of a decision file: `@agents/memory-index.md`."""
    bare = line.strip().removeprefix("- ").removeprefix("* ").strip().strip("`")
    if not bare.startswith("@") or " " in bare:
        return False
    path = os.path.realpath(os.path.join(base, os.path.expanduser(bare[1:])))
    inner = os.path.realpath(found.place.folder)
    return path == os.path.realpath(found.place.index) or (folder.inside(path, inner) and path.endswith(".md"))
