"""Makes versions of facts that are fit to leave, where what is stored has changed or the rules of redaction have.

Every text is redacted whole by the newest rules of its project, and cut only then. Reading and redacting take no lock;
what was purged meanwhile is found by the number of the newest purge, and nothing of that project is written then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from capture.storage.store import called_by, transaction
from capture.text import clean
from nmem.purge.rules import rules
from nmem.share import PLACEHOLDER, Outward
from nmem.team import incoming, local, material, wire
from nmem.team.config import Membership
from nmem.team.material import Material
from nmem.team.wire import Shared, digest, subject
from nmem.teammates.live import state
from nmem.text import json_list, json_object

TITLE, BODY, VALUE, LINE = 200, 8_000, 1_500, 300
"""Characters of a title, a text, a text of the data, and of a list in it; the server takes some more of each."""
_FILES, _LISTED = 60, 12
"""Paths, and texts of a list."""
_BATCH = incoming.CHUNK
LOOK = 3_600_000
"""Milliseconds after which a project is read whole though nothing seems to have changed in it."""
_RULES = "rules"
"""Under which the rules are kept by which all versions were looked at."""

_PART = r"[^\s\\/'\"`:;,()<>|*?\[\]{}]{1,255}"
_BLANK = r"(?:[^\s\\/'\"`:;,.()<>|*?\[\]{}]{1,255} (?=[^\s\\/]{1,255}[\\/]))?"
_BEGINS = r"(?:(?<![\w.~@/\\-])|(?<=-[A-Za-z]))"
"""A part of a path; the beginning of one with a blank in it, which goes on behind; where a path begins."""
_TOPS = (
    "Applications Library System Users Volumes backup backups cygdrive data etc export exports home host hostfs lib"
    " mnt media net nfs nix opt private root rootfs run snap src srv tmp usr var work workspace workspaces"
).replace(" ", "|")
"""Where absolute paths begin; other words behind a slash may be a route or a command, unless it ends like a file."""
_OUTSIDE = re.compile(
    r"\bfile:/+[^\s'\"`<>]+"
    rf"|(?<!\w)[A-Za-z]:(?:[\\/]+{_BLANK}{_PART}){{1,30}}[\\/]*"
    rf"|(?<![\w\\])\\{{2,4}}{_PART}(?:\\{{1,2}}{_BLANK}{_PART}){{1,30}}"
    rf"|{_BEGINS}(?:~|/(?:{_TOPS}))(?:/+{_BLANK}{_PART}){{1,30}}/?"
    rf"|{_BEGINS}/(?:{_BLANK}{_PART}/){{1,30}}{_PART}\.\w{{1,8}}(?!\w)"
)
"""Absolute paths, of whatever system: those within the project are relative by then."""
ELSEWHERE, ANOTHER = "[elsewhere]", "[another project]"

Texts = tuple[str, str, str, str]
"""Title, body, files and data as they leave; the last two are JSON."""


@dataclass(slots=True)
class Made:
    """What a look at the stored facts came to."""

    new: int = 0
    withdrawn: int = 0
    strangers: list[str] = field(default_factory=list)
    """Shared projects that are another one by now: nothing of them leaves."""
    whole: bool = True
    """False: something was purged meanwhile, so not all was looked at; nothing may be sent by this pass."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The newest version by this machine ("" for none), and by any machine of this person."""

    own_id: str
    own: str
    """Digests of the stored material, and of the text as it left."""
    live_id: str
    live: str
    source: str
    """What this machine made it of; "" where it made none."""

    @property
    def raws(self) -> tuple[str, str]:
        """Digests of the material."""
        return self.own.partition(".")[0], self.live.partition(".")[0]

    def saying(self, mark: str) -> str:
        """The id of the version that says the same; "" where none does."""
        said = mark.partition(".")[2]
        return self.live_id if self.live.partition(".")[2] == said else (
            self.own_id if self.own.partition(".")[2] == said else "")  # fmt: skip


class _PurgedMeanwhile(Exception):
    pass


def make(db: Connection, us: Membership, step: Callable[[], None], now: int, *, trusting: bool = False) -> Made:
    """Write the versions that are missing, of every shared project; `step` is called now and then.

    `trusting`: a project in which nothing seems to have changed since it was read last is not read within the hour.
    """
    made, shared = Made(), local.projects(db, us.team)
    made.strangers = [each.name for each in shared if not each.same]
    try:
        _look(db, us, made, shared, step, now)
        for each in filter(lambda one: one.same, shared):
            seen = _seen(db, us, each)
            if not (trusting and _lately(db, each, seen, now)):
                _Project(db, us, each, made, step, now).make()
                local.keep(db, f"{local.LOOKED}{each.project_id}", json.dumps({"at": now, "seen": seen}))
            step()
    except _PurgedMeanwhile:
        made.whole = False
    return made


def _seen(db: Connection, us: Membership, shared: Shared) -> str:
    """A digest of a project's records, of who shares them, and of the redaction rules."""
    return digest(material.stamp(db, shared), us.team, us.member, us.device, rules())


def _lately(db: Connection, shared: Shared, seen: str, now: int) -> bool:
    """Whether the project was read within the hour and had the same digest then."""
    last = json_object(state(db, f"{local.LOOKED}{shared.project_id}"))
    return last.get("seen") == seen and 0 <= now - int(last.get("at", 0)) < LOOK


def look(db: Connection, us: Membership, step: Callable[[], None], now: int) -> Made:
    """What this person said on other machines, by the rules of this one: they may know of more secrets."""
    made = Made()
    try:
        _look(db, us, made, local.projects(db, us.team), step, now)
    except _PurgedMeanwhile:
        made.whole = False
    return made


def _look(
    db: Connection, us: Membership, made: Made, shared: Sequence[Shared], step: Callable[[], None], now: int
) -> None:
    """All that was said, where the rules are others than at the last look; else what has come since."""
    by = rules()
    every = state(db, _RULES) != by
    some = local.to_look_at(db, us.team, us.member)
    for each in local.spoken_of(db, us.team, shared) if every or some else ():
        if every or each.project_id in some:
            _Project(db, us, each, made, step, now).again(every=every)
    if every:
        local.keep(db, _RULES, by)


class _Project:
    """One project in one pass."""

    def __init__(
        self, db: Connection, us: Membership, shared: Shared, made: Made, step: Callable[[], None], now: int
    ) -> None:
        self.db, self.us, self.shared, self.made, self.step, self.now = db, us, shared, made, step, now
        names = called_by(db, shared.project_id)
        ours = [shared.root, *local.roots(db, shared.project_id)]
        self.fit = Fit(Outward(ours, names), _others(db, shared, [*ours, *names]))
        self.purges = local.newest_purge(self.db)

    def make(self) -> None:
        """What is settled and not said yet, or said otherwise."""
        known, there, back = self._known(), set(), local.taken_back(self.db)
        waiting: list[tuple[Material, str, str, Texts]] = []
        for one in material.of(self.db, self.shared):
            self.step()  # also where nothing is new: it is not the server that takes the time
            about = subject(self.us.member, *one.key)
            if about in there:
                continue  # two entries of one name: the first is the one that is found
            there.add(about)
            if about in back:
                continue
            raw = digest(one.title, one.body, json.dumps([one.files, sorted(one.data.items())]))
            had = known.get(about)
            if had and raw in had.raws:
                continue
            waiting.append((one, about, raw, self.fit.texts(one)))
            if len(waiting) == _BATCH:
                self._write(waiting, known)
                waiting = []
        self._write(waiting, known)
        self._vanished({about: had for about, had in known.items() if about not in there})

    def _undisturbed(self) -> None:
        """Inside the transaction that writes. Raises _PurgedMeanwhile."""
        if local.newest_purge(self.db) != self.purges:
            raise _PurgedMeanwhile

    def _known(self) -> dict[str, _Known]:
        """The newest versions by this person, by subject."""
        rows = local.own_versions(self.db, self.us, self.shared.project_id)
        out: dict[str, _Known] = {}
        for about, id_, ours, mark, source in rows:
            before = out.get(about, _Known("", "", "", "", ""))
            out[about] = (
                _Known(id_, mark, id_, mark, source)
                if ours
                else _Known(before.own_id, before.own, id_, mark, before.source)
            )
        return out

    def _write(self, waiting: Sequence[tuple[Material, str, str, Texts]], known: dict[str, _Known]) -> None:
        if not waiting:
            return
        with transaction(self.db):
            self._undisturbed()
            gone = local.gone(self.db, [about for _, about, _, _ in waiting])
            for one, about, raw, said in waiting:
                mark, had = f"{raw}.{digest(*said)}", known.get(about)
                if about in gone:
                    continue  # taken away for ever, whatever became of it here
                same = had.saying(mark) if had else ""
                if not same:
                    self.insert(about, one.kind, one.at, said, (one.session_id, one.source, mark))
                # versions of another machine, or of a backup, are known by what they were made of from now on
                local.originate(self.db, about, (one.source, one.session_id), same, mark)
            local.hold(self.db, [about for _, about, _, _ in waiting])

    def insert(self, about: str, kind: str, at: int, said: Texts, origin: tuple[str | None, str, str]) -> None:
        """A version of one's own that waits to be sent; `origin`: session, source, digest."""
        self.made.new += 1
        us, project, (session, source, mark) = self.us, self.shared.project_id, origin
        local.add(self.db, [(wire.new_id(), us.team, kind, about, project, us.member, us.device, at, None, *said, True,
                             mark, session, source)])  # fmt: skip

    def _vanished(self, known: dict[str, _Known]) -> None:
        """What is no episode, decision, learning or entry any more is withdrawn; its subject may come back."""
        if not any(had.source for had in known.values()):
            return
        kept = {subject(self.us.member, *key) for key in material.unsettled(self.db, self.shared)}
        read = material.readable(self.shared)
        about = [each for each, had in known.items()
                 if had.source and each not in kept and (read or not had.source.startswith("recall"))]  # fmt: skip
        rows = local.made_here(self.db, self.us.device, about)
        for at in range(0, len(rows), _BATCH):
            with transaction(self.db):
                self._undisturbed()
                local.withdraw(self.db, rows[at : at + _BATCH], self.now)
                self.made.withdrawn += len(rows[at : at + _BATCH])

    def again(self, *, every: bool) -> None:
        """Versions that the rules in force would have redacted otherwise go, and come back as the rules want them."""
        rows = local.said(self.db, self.us, self.shared.project_id, every)
        changed, fine = [], []
        for row in rows:
            self.step()
            said = self.fit.again((row[4], row[5], row[6], row[7]))
            if digest(*said) != str(row[11]).partition(".")[2]:
                changed.append((row, said))
            elif str(row[11]).startswith("?."):
                fine.append((f"-{row[11][1:]}", row[0]))
        for at in range(0, len(changed), _BATCH):
            with transaction(self.db):
                self._undisturbed()
                for row, said in changed[at : at + _BATCH]:
                    local.withdraw(self.db, [row[0]], self.now)
                    self.made.withdrawn += 1
                    if not row[8] and self.shared.same:
                        self.insert(row[2], row[1], row[3], said, (row[9], row[10], f"-.{digest(*said)}"))
        for at in range(0, len(fine), _BATCH):
            with transaction(self.db):
                local.mark(self.db, fine[at : at + _BATCH])


class Fit:
    """Makes texts of one project fit to leave; the same paths come again and again."""

    def __init__(self, out: Outward, others: re.Pattern[str] | None = None) -> None:
        """`others`: what other projects are called."""
        self._out, self._others = out, others
        self._paths: dict[str, str] = {}

    def texts(self, one: Material) -> Texts:
        """What leaves of a thing: redacted whole, then cut; a secret that one of its texts gives away goes from all."""
        said = self._texts(one)
        if any(PLACEHOLDER in each for each in said):
            told = (text for value in one.data.values() for text in _list(value))
            for each in (one.title, one.body, *one.files, *told):
                self._out.learn(each)
            self._paths.clear()
            said = self._texts(one)
            self._out.forget()
            self._paths.clear()
        return said

    def again(self, said: Texts) -> Texts:
        """What left once, by the rules in force."""
        data: dict[str, object] = {}
        for key, value in json_object(said[3]).items():
            many = isinstance(value, list)
            data[key] = [self._text(str(each)) for each in value] if many else (
                self._text(value) if isinstance(value, str) else value)  # fmt: skip
        return _formed(_outside(self._out.line(said[0])), self._text(said[1]), self._relative(json_list(said[2])), data)

    def _texts(self, one: Material) -> Texts:
        data: dict[str, object] = {key: self._value(value) for key, value in one.data.items()}
        title, body = self._named(_outside(self._out.line(one.title, TITLE))), self._named(self._text(one.body, BODY))
        return _formed(title, body, self._relative(one.files), data)

    def _value(self, value: str | tuple[str, ...]) -> str | list[str]:
        if isinstance(value, str):
            return self._named(self._text(value, VALUE))
        return [self._named(self._text(each, LINE)) for each in value[:_LISTED]]

    def _named(self, text: str) -> str:
        return self._others.sub(ANOTHER, text) if self._others else text

    def _text(self, text: str, limit: int = 0) -> str:
        return _outside(self._out.text(text, limit)) if text else ""

    def _relative(self, files: Iterable[object]) -> list[str]:
        """Paths in the project; what lies elsewhere is nobody's business."""
        return incoming.paths([self._path(each) for each in files if isinstance(each, str)])[:_FILES]

    def _path(self, path: str) -> str:
        if path not in self._paths:
            self._paths[path] = self._out.path(path)
        return self._paths[path]


def _outside(text: str) -> str:
    """Without paths that lead out of the project."""
    return _OUTSIDE.sub(ELSEWHERE, text) if "/" in text or "\\" in text else text


def _others(db: Connection, shared: Shared, ours: Sequence[str]) -> re.Pattern[str] | None:
    """What other recorded projects are called: folders, remotes, and names that are no plain words."""
    own = {shared.shared_as, *ours, *(part for each in (shared.shared_as, *ours) for part in each.split("/"))}
    called = set()
    for name, *places in local.other_projects(db, shared.project_id):
        called |= {one for each in places if (one := each.rstrip("/")).count("/") > 1 and not _OUTSIDE.fullmatch(one)}
        called |= {name} if len(name) > 3 and re.search(r"[\W\d_]", name) else set()
    words = sorted(called - own, key=len, reverse=True)
    if not words:
        return None
    return re.compile(rf"(?<![\w.~/-])(?:{'|'.join(map(re.escape, words))})(?:/{_PART})*(?![\w-])", re.IGNORECASE)


def _list(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _formed(title: str, body: str, files: list[str], data: dict[str, object]) -> Texts:
    """As it is stored on every side, so that two of one text have one digest."""
    plain = incoming.plain(data)
    return clean(title), clean(body), json.dumps(files, ensure_ascii=False), json.dumps(plain, ensure_ascii=False)
