"""Adds a decision: a section in a file, and its entry in the index. Checks the name.

Its words come from a person, or from what an episode learned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from nmem.episodes.text import runs
from nmem.errors import NmemError
from nmem.recall import corpus, folder, grammar, markdown, mend, words
from nmem.recall.changes import Change
from nmem.recall.corpus import Corpus
from nmem.recall.folder import Place
from nmem.recall.grammar import NEW
from nmem.recall.index import Index, build
from nmem.recall.rank import FLOOR, rank
from nmem.recall.words import STOP

LEAST, MOST = 2, 8
"""Words of a trigger: fewer say too little, more are a sentence."""
_MARGIN = 2
"""Tokens by which a text may be longer than its own entry and still better stand where it is always read."""
_ODD = frozenset("-_./:@#`*\"'()[]{}<>|")
FOLDER, INDEX, FILE = "agents/decisions", "agents/memory-index.md", "decisions.md"
"""Where the first decision of a project goes."""


@dataclass
class Plan:
    """What would be written, under which entry, and what to know before."""

    change: Change
    entry: str
    file: str
    remarks: list[str] = field(default_factory=list)


def place(cwd: str, folders: tuple[str, ...], index: str) -> Place:
    """Where a project's decisions are, or where the first of them goes."""
    try:
        found = folder.find(cwd, folders, index)
    except NmemError:
        root = next(
            (each for each in folder.upwards(os.path.abspath(cwd)) if os.path.lexists(os.path.join(each, ".git"))),
            os.path.abspath(cwd),
        )
        own = os.path.join(root, os.path.expanduser(folders[0] if folders else FOLDER))
        return Place(root, own, "")
    return found


def plan(
    found: Corpus, trigger: str, text: str, *, operator: str = "", extras: tuple[str, ...] = (), file: str = "",
    under: str = "",
) -> Plan:  # fmt: skip
    """What would be written. Raises NmemError for a name that cannot be one, or is another's."""
    said, name = words.bare(" ".join(trigger.split()))
    name, operator = " ".join(name.split()), operator or said or "when"
    _named(name)
    if operator == "how" and name.split()[0].lower().endswith("ing"):
        raise NmemError(f"its heading would read “{corpus.heading_of('how', name)}”: name the action, as in "
                        "“roll back a release”, or write it as --when")  # fmt: skip
    if not text.strip():
        raise NmemError("the decision's text is empty: give it with --text, on standard input, or by --episode")
    index = build(found)
    out = Plan(Change(f"remembered “{name}”", found.place.root), grammar.written(operator, name, extras), "")
    out.remarks = remarks(index, name, text, out.entry)
    target = _target(found, file, index, name)
    out.file = target
    _section(found, out, target, corpus.heading_of(operator, name), text, under)
    _entry(found, out, target)
    return out


def _named(name: str) -> None:
    if "|" in name or "\n" in name or name.startswith("."):
        raise NmemError("a trigger is plain words: no |, no dot at its beginning")
    said = [word for word in words.normal(name).split() if word not in STOP]
    if len(said) < LEAST:
        raise NmemError(f"“{name}” is too vague to be found: a trigger has at least {LEAST} words of content")
    if len(name.split()) > MOST:
        raise NmemError(
            f"a trigger has at most {MOST} words, this has {len(name.split())}: what would somebody type to find it?"
        )


def remarks(index: Index, name: str, text: str, entry: str) -> list[str]:
    """What to know of a name and a text. Raises NmemError when another decision is called the same."""
    taken = index.names.get(words.name(name))
    if taken:
        other = index.docs[taken[0][1]]
        raise NmemError(
            f"/{other[0]} {other[1]} exists already ({other[3] or other[7]}): take another trigger, or edit it"
        )
    out: list[str] = []
    if odd := sorted({char for char in name if char in _ODD}):
        out.append(f"plain words are found best: the trigger has {' '.join(odd)}")
    ranked, sure = rank(index, name, "", 1)
    if ranked and sure >= FLOOR:
        other = index.docs[ranked[0].doc]
        out.append(f"/{other[0]} {other[1]} matches it already ({sure:.2f}): perhaps edit that one")
    if ambient(text, entry):
        out.append(
            "its text is hardly longer than its entry: put it into CLAUDE.md or AGENTS.md, where it is always read"
        )
    return out


def ambient(text: str, entry: str) -> bool:
    """Whether a text costs no more than its own entry in an index: then it is better always there."""
    return tokens(text) <= tokens(entry) + _MARGIN


def promoted(found: Corpus) -> list[str]:
    """Entries whose decision is hardly longer than the entry itself: CLAUDE.md or AGENTS.md is the place for those."""
    out = []
    for entry in found.entries:
        if entry.file >= 0 and entry.heading >= 0:
            file = found.files[entry.file]
            line = grammar.written(entry.operator, entry.trigger, entry.extras)
            if ambient(markdown.body(file.lines, file.headings[entry.heading]), line):
                out.append(f"/{entry.operator} {entry.trigger}")
    return out


def tokens(text: str) -> int:
    """About how many tokens a text costs: words in pieces of six letters, and signs."""
    return (
        sum(-(-len(word) // 6) for word in runs(text))
        + len([char for char in text if not (char.isalnum() or char.isspace())]) // 2
    )


def _target(found: Corpus, file: str, index: Index, name: str) -> str:
    """The file to write into: the one named, else the one with the decision that is nearest, else the first."""
    if file:
        wanted = file if file.endswith((".md", ".markdown")) else f"{file}.md"
        own = found.place.folder
        # an offer names a file from the project's root; a shell completes one from where it stands
        whole = [path for base in (found.place.root, os.getcwd()) if _within(path := os.path.join(base, wanted), own)]
        path = whole[0] if whole else os.path.join(own, wanted)
        if not _within(path, own):
            raise NmemError(f"{file} is outside the decisions folder {own}: decisions go into its own files")
        return os.path.relpath(os.path.realpath(path), os.path.realpath(own)).replace(os.sep, "/")
    ranked, _ = rank(index, name, "", 1)
    if ranked and index.docs[ranked[0].doc][3]:
        return index.docs[ranked[0].doc][3]
    return found.files[0].name if found.files else FILE


def _within(path: str, own: str) -> bool:
    return folder.inside(os.path.realpath(path), os.path.realpath(own))


def _section(found: Corpus, out: Plan, target: str, heading: str, text: str, under: str) -> None:
    path = os.path.join(found.place.folder, target)
    before = out.change.text(path)
    end = "\r\n" if "\r\n" in before else "\n"
    at = next((place for place, file in enumerate(found.files) if file.name == target), -1)
    lines = before.split("\n")
    line, level = len(lines), 2
    if under:
        place = (
            next(
                (
                    p
                    for p, each in enumerate(found.files[at].headings)
                    if words.normal(each.title) == words.normal(under)
                ),
                -1,
            )
            if at >= 0
            else -1
        )
        if place < 0:
            raise NmemError(f"{target} has no heading “{under}”: `nmem when ..{target}` shows the file")
        above = found.files[at].headings[place]
        line, level = above.end, min(above.level + 1, 6)
    if not before:
        title = target.rpartition("/")[2].rpartition(".")[0].replace("-", " ").replace("_", " ").capitalize()
        lines, line = [f"# {title}", ""], 2
    body = [f"{'#' * level} {heading}", "", *_deeper(text.strip().splitlines(), level), ""]
    head, tail = lines[:line], lines[line:]
    while head and not head[-1].strip():
        head.pop()
    new = [each.removesuffix("\r") for each in head] + [""] + body + [each.removesuffix("\r") for each in tail]
    while new and not new[-1].strip():
        new.pop()
    out.change.put(path, end.join(new) + end)


def _deeper(lines: list[str], level: int) -> list[str]:
    """A text whose own headings stand below the one that it gets."""
    heads = {each.line: each.level for each in markdown.headings(lines)}
    shift = max(0, level + 1 - min(heads.values(), default=7))
    return [f"{'#' * min(6 - heads[at], shift)}{line}" if at in heads else line for at, line in enumerate(lines)]


def _entry(found: Corpus, out: Plan, target: str) -> None:
    """The entry's line at the end of its section; a new section, or a new index, where there is none."""
    if not found.place.index:
        if found.files:
            return  # without an index each heading that asks is an entry: one new line must not end that
        path = os.path.join(os.path.dirname(found.place.folder), "memory-index.md")
        out.change.put(path, f"{NEW}\n## {mend.like(found, target)}\n\n{out.entry}\n")
        return
    path = found.place.index
    text = out.change.text(path)
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    at = next((place for place, file in enumerate(found.files) if file.name == target), -1)
    starts = [number for number, _ in found.sections]
    own = next((number for number, name in found.sections if at >= 0 and corpus.file_of(found, name) == at), -1)
    if own < 0:
        name = mend.like(found, target)
        while lines and not lines[-1].strip():
            lines.pop()
        lines += ["", f"## {name}", "", out.entry, ""]
    else:
        stop = next((number for number in starts if number > own), len(lines))
        while stop > own + 1 and not lines[stop - 1].strip():
            stop -= 1
        lines[stop:stop] = [out.entry] if stop > own + 1 else ["", out.entry]
    out.change.put(path, end.join(lines))


def learned(narrative: dict[str, object]) -> str:
    """What an episode learned and noted, as the text of a decision."""
    said = [str(each) for name in ("learned", "notes") for each in _list(narrative.get(name)) if str(each).strip()]
    return "\n".join(f"- {line}" for line in dict.fromkeys(said))


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else [value] if value else []
