"""Holds a project's instructions against its checkout and its records: a Report of findings, each with its evidence.

Given a database (or none), the project and its folder. A finding needs a reason to believe that the line is wrong: a
path must have been there, by git's history or by the records; a decision must be newer than the line. What is sure can
be changed: lines go or have words swapped, written together and undone together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture.project import resolve
from nmem.decisions.find import Rarity
from nmem.errors import NmemError
from nmem.hours import utc
from nmem.learn import places
from nmem.native import mentions, twice
from nmem.native.checkout import Checkout
from nmem.native.documents import ALWAYS, Document, Line, find
from nmem.native.mentions import Named, Told
from nmem.native.records import Records, Statement
from nmem.native.scripts import Missing, Scripts
from nmem.native.twice import says_same, turned_down, uses, varies
from nmem.recall import changes
from nmem.recall.changes import Change
from nmem.store import corrections
from nmem.store.project import called, meant
from nmem.text import fit, printable

PATH, IMPORT, SCRIPT, FAILS = "stale path", "stale import", "stale command", "always fails"
SAYS, REPLACED, TWICE = "contradicted", "superseded", "said twice"
KINDS = (PATH, IMPORT, SCRIPT, FAILS, SAYS, REPLACED, TWICE)
_MONTH = 30 * 86_400_000
_QUOTE = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one line, and what that rests on."""

    kind: str
    file: str
    line: int
    text: str
    """The line as it stands."""
    why: str
    evidence: tuple[str, ...]
    """Commits, rows (obs/12), learnings, decisions, other lines; each quoted."""
    sure: bool = False
    """The line can go, or have its words swapped, without asking what it was for."""
    swap: tuple[str, str] | None = None
    """Words of the line and what they become; None: the line goes."""
    learning: int = 0
    """nmem wrote the line itself: reopening this learning takes it out."""


@dataclass(frozen=True, slots=True)
class Report:
    """The instructions of a project, and what was found in them, by file and line."""

    project: str
    root: str
    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    sessions: int
    """Of the last 30 days."""

    def tokens(self, client: str) -> int:
        """What a client loads when each session begins."""
        return sum(one.tokens for one in self.documents if client in one.clients and one.loaded == ALWAYS)

    @property
    def clients(self) -> tuple[str, ...]:
        """The clients that load one of the files."""
        return tuple(dict.fromkeys(client for one in self.documents for client in one.clients))


def place(db: Connection | None, project: str, here: str) -> tuple[int | None, str, str]:
    """A project's number, where it has records, its name and its folder.

    `project`: its name, key or root, or any folder of it; empty: the project of the folder `here`. Raises NmemError.
    """
    folder = os.path.expanduser(project) or here
    if os.path.isdir(folder) and (db is None or os.sep in project or project in ("", ".") or not _known(db, project)):
        found = resolve(os.path.realpath(folder))
        number, name = places.current(db, found.root) if db is not None else (None, "")
        return number, name if number is not None else called(db, found), found.root
    if db is None:
        raise NmemError(f"there is no folder {printable(project)}, and nothing is recorded yet")
    number, name = places.named(db, project, here)
    return number, name, places.root(db, number, here)


def _known(db: Connection, project: str) -> bool:
    """Whether a project is recorded by a name: a folder of that name is meant only where none is."""
    return meant(db, project) is not None


def review(db: Connection | None, project_id: int | None, name: str, root: str, home: str, now: int) -> Report:
    """Read the instructions of a project and judge them. Raises sqlite3.Error."""
    documents = tuple(find(root, home))
    records = Records(db, project_id) if db is not None and project_id is not None else None
    found = list(_Review(root, documents, records).all())
    order = {one.shown: at for at, one in enumerate(documents)}
    found.sort(key=lambda one: (order[one.file], one.line, KINDS.index(one.kind)))
    return Report(name, root, documents, tuple(found), records.sessions(now - _MONTH) if records else 0)


class _Review:
    def __init__(self, root: str, documents: tuple[Document, ...], records: Records | None) -> None:
        self.root, self.documents, self.records = root, documents, records
        self.checkout = Checkout(root)
        self.scripts = Scripts(self.checkout)
        rules = records.rules() if records else ()
        self.rules = {rule.text: rule.learning for rule in rules}

    def all(self) -> Iterator[Finding]:
        """Every finding, each once."""
        seen: set[tuple[str, str, int, str]] = set()
        for one in self._found():
            key = (one.kind, one.file, one.line, one.why)
            if key not in seen:
                seen.add(key)
                yield one

    def _found(self) -> Iterator[Finding]:
        yield from self._twice()
        for document in self.documents:
            yield from self._imports(document)
            if not document.everywhere:
                yield from self._paths(document)
                yield from self._commands(document)
        if self.records:
            yield from self._decisions(self.records)

    def _finding(
        self, kind: str, document: Document, line: Line, why: str, evidence: tuple[str, ...], *, sure: bool = False,
        swap: tuple[str, str] | None = None,
    ) -> Finding:  # fmt: skip
        may = not (line.own or document.everywhere or document.leads_out)
        learning = self.rules.get(line.text.strip().lstrip("-*+ "), 0) if line.own else 0
        return Finding(kind, document.shown, line.number, line.text, why, evidence, sure and may, swap, learning)

    # Paths

    def _imports(self, document: Document) -> Iterator[Finding]:
        """Imports that lead nowhere, but for what each person has of their own: in the home folder, or ignored."""
        found = [(number, name, self._inside(document, name)) for number, name in document.missing]
        ignored = self.checkout.ignored([inside for _, _, inside in found if inside])
        for number, name, inside in found:
            if name.startswith("~/") or name.endswith(".local.md") or inside in ignored:
                continue
            line = document.lines[number - 1]
            yield self._finding(IMPORT, document, line, f"@{name} leads to no file", (f"no file {name} beside it",),
                                sure=bool(inside) and line.text.strip() == f"@{name}")  # fmt: skip

    def _inside(self, document: Document, name: str) -> str:
        """What a document calls a file, from the project's folder; empty where it lies outside."""
        inside = os.path.relpath(os.path.join(os.path.dirname(document.path), name), self.root)
        return "" if inside.startswith("..") else inside

    def _paths(self, document: Document) -> Iterator[Finding]:
        beside = os.path.dirname(document.path)
        named = [one for one in mentions.paths(document.told) if not self.checkout.has(one.path, (*one.bases, beside))]
        wanted = list(dict.fromkeys(one.path for one in named))
        ignored = self.checkout.ignored(wanted)
        gone = self.checkout.gone([path for path in wanted if path not in ignored])
        for one in named:
            evidence, renamed = list(self._missed(one.path)), ""
            if one.path in ignored and not evidence:
                continue
            if (took := gone.get(one.path)) is not None:
                renamed = took.renamed
                became = f", now {renamed}" if renamed else ""
                evidence.append(f"commit {took.commit} of {took.day} took it out{became}")
            evidence += () if evidence else self._recorded(one)
            whole = took.whole if took else one.path
            if evidence and not renamed and (renamed := self.checkout.respelled(one.path, whole)):
                evidence.append(f"{renamed} is there")
            if evidence:
                what = f"is {renamed} now" if renamed else "does not exist any more"
                swap = (one.path, renamed) if renamed and one.path in one.line.text else None
                goes = not renamed and one.subject and _alone(document, one.line)
                yield self._finding(PATH, document, one.line, f"{one.path} {what}", tuple(evidence),
                                    sure=bool(took) and (goes or swap is not None), swap=swap)  # fmt: skip

    def _missed(self, path: str) -> Iterator[str]:
        """The learning that a path does not exist."""
        if self.records and (missed := self.records.missed(path)):
            yield f"learning/{missed[0]} “{missed[1]}” in {missed[2]} sessions"

    def _recorded(self, one: Named) -> Iterator[str]:
        """The calls on a path that is not there."""
        if self.records is None or "/" not in one.path.strip("/"):
            return
        touched = self.records.touched(one.path)
        if touched and touched.done:
            yield f"obs/{touched.observation} of {_day(touched.at)}: it was there, read or changed {touched.done} times"
        elif touched and touched.failed:
            yield f"obs/{touched.observation} of {_day(touched.at)}: read in vain, {touched.failed} times"

    # Commands

    def _commands(self, document: Document) -> Iterator[Finding]:
        for told in mentions.commands(document.told):
            missing = self.scripts.missing(told.text)
            if missing is not None:
                yield self._script(document, told, missing)
            elif self.records and (failing := self.records.failing(told.text)):
                evidence = (f"obs/{failing.observation} of {_day(failing.at)}: {fit(printable(failing.said), _QUOTE)}",)
                why = f"{told.text} failed in all {failing.runs} runs, in {failing.sessions} sessions"
                yield self._finding(FAILS, document, told.line, why, evidence)

    def _script(self, document: Document, told: Told, missing: Missing) -> Finding:
        where = missing.files[0] + (f" and {len(missing.files) - 1} more" if len(missing.files) > 1 else "")
        evidence = [f"{where} define {', '.join(missing.defined[:6]) or 'none'}"]
        if missing.gone:
            evidence.append(f"commit {missing.gone.commit} of {missing.gone.day} took “{missing.script}” out")
        sure = told.alone and missing.alone and missing.gone is not None and _alone(document, told.line)
        why = f"no script {missing.script}: {told.text}"
        return self._finding(SCRIPT, document, told.line, why, tuple(evidence), sure=sure)

    # Decisions

    def _decisions(self, records: Records) -> Iterator[Finding]:
        lines = [(document, line) for document in self.documents for line in document.told
                 if line.text.strip() and not line.fence and not line.is_heading]  # fmt: skip
        rarity = Rarity([line.text for _, line in lines])
        for one in records.statements():
            downs = turned_down(one.text)
            for document, line in lines:
                kind, why = self._judged(line, one, downs, rarity)
                if kind and self._older(document, line, one.at):
                    evidence = [f"{one.id} of {_day(one.at)}: “{fit(printable(one.text), _QUOTE)}”"]
                    if kind == REPLACED:
                        evidence.append(f"{one.later}: “{fit(printable(one.later_text), _QUOTE)}”")
                    yield self._finding(kind, document, line, why, tuple(evidence))

    def _judged(
        self, line: Line, one: Statement, downs: list[tuple[str, str]], rarity: Rarity
    ) -> tuple[str, str]:  # fmt: skip
        """What a person's statement makes of a line: the kind of the finding and why, or nothing."""
        if one.later:
            told = says_same(line.text, one.text, rarity)
            return (REPLACED, "it says what was decided and has been replaced") if told else ("", "")
        for old, chosen in downs:
            if uses(line.text, old, chosen, one.about):
                return SAYS, f"you turned down “{old}”" + (f" for “{chosen}”" if chosen else "")
        differs = varies(line.text, one.text, rarity)
        return (SAYS, f"you said {differs} in nearly the same words") if differs else ("", "")

    def _older(self, document: Document, line: Line, at: int) -> bool:
        """Whether a line was written before a time: what was written later knows of what was said then."""
        inside = not os.path.relpath(document.path, self.root).startswith("..")
        written = self.checkout.written(os.path.relpath(document.path, self.root), line.number) if inside else 0
        try:
            written = written or int(os.stat(document.path).st_mtime * 1000)
        except OSError:
            return False
        return written < at

    # Repetitions

    def _twice(self) -> Iterator[Finding]:
        for one in twice.find(self.documents):
            where = f"{one.first.shown}:{one.first_line.number}"
            evidence = (f"{where}: “{fit(printable(one.first_line.text.strip()), _QUOTE)}”",)
            told = "the same" if one.same else "nearly the same"
            yield self._finding(TWICE, one.document, one.line, f"{where} says {told}", evidence,
                                sure=one.sure and _alone(one.document, one.line))  # fmt: skip


def _alone(document: Document, line: Line) -> bool:
    """Whether a line can go without tearing what is around it: nothing hangs on it, and it goes on nothing."""
    at, text = line.number - 1, line.text
    below = document.lines[at + 1].text if at + 1 < len(document.lines) else ""
    above = document.lines[at - 1].text if at else ""
    indent = len(text) - len(text.lstrip())
    if text.rstrip().endswith(":") and not line.fence:
        return False  # what it announces would stand alone
    if line.fence:
        if line.number - 1 == line.opens and below.strip() in ("```", "~~~"):
            return False  # the code block would be empty
        return not below.strip() or len(below) - len(below.lstrip()) <= indent or "──" in text
    if text.lstrip().startswith(("-", "*", "+")):
        return not below.strip() or (len(below) - len(below.lstrip()) <= indent and below.lstrip()[:1] in "-*+#<|")
    return not below.strip() and not above.strip()


def _day(at: int) -> str:
    return f"{utc(at).astimezone():%Y-%m-%d}"


_OF = "instructions"


def plan(report: Report) -> list[Change]:
    """What the files become, a change for each folder that they lie in; nothing where no finding is sure."""
    out: dict[str, Change] = {}
    for document in report.documents:
        found = [one for one in report.findings if one.file == document.shown and one.sure]
        if not found or document.everywhere or document.leads_out:
            continue
        change = out.setdefault(document.root, Change("stale and repeated lines", document.root, of=_OF))
        if change.text(document.path).encode("utf-8", "surrogateescape") != document.data:
            raise NmemError(f"{document.shown} changed in the meantime: look again")
        change.put(document.path, edited(document, found))
    return [change for change in out.values() if change.changed]


def edited(document: Document, found: Sequence[Finding]) -> str:
    """A file's text with the lines of findings gone or changed; every other byte stays."""
    rows = document.data.decode("utf-8", "surrogateescape").split("\n")
    goes = {one.line for one in found if one.swap is None}
    for one in found:
        if one.swap is not None and one.line not in goes:
            old, new = one.swap
            rows[one.line - 1] = re.sub(rf"(?<![\w/.-]){re.escape(old)}(?![\w-]|[./]\w)", lambda _: new,  # noqa: B023
                                        rows[one.line - 1])  # fmt: skip
    left: list[str] = []
    for number, row in enumerate(rows, 1):
        if number not in goes:
            blank = not row.strip() and number - 1 in goes and (not left or not left[-1].strip())
            left += [] if blank and number < len(rows) else [row]
    return "\n".join(left)


def diff(changes_: Sequence[Change]) -> list[str]:
    """All of it as one unified diff, printable, a line each."""
    return [row for change in changes_ for row in change.diff().split("\n")]


def apply(db: Connection, changes_: Sequence[Change], now: int) -> int:
    """Write them; how many files. Raises NmemError; what was not written then is as it was."""
    with corrections.together():
        return sum(changes.apply(db, change, now + at) for at, change in enumerate(changes_))
