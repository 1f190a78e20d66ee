"""Has each episode told from its records alone, or by a language model where one is set up; stores the story.

A model's story replaces an extractive one of the same records, never the other way round. When the records have
changed, the old story tells of something else: it is replaced by whatever tells the new ones.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from sqlite3 import Connection
from typing import NamedTuple

from capture.redaction import redact, settings
from capture.storage.store import called, transaction
from capture.text import clean
from nmem.database import garbled
from nmem.episodes import material, narrate, narrations, reading
from nmem.episodes.narrate import narrator
from nmem.episodes.narrate.records import Narrative
from nmem.episodes.narrations import EXTRACTIVE, Story
from nmem.episodes.overrule import overrule
from nmem.episodes.store import FAR
from nmem.llm import Cancel, Failure
from nmem.llm.ask import Desk
from nmem.llm.session_prompt import tell
from nmem.llm.story import Story as Told

ABOUT_THE_PLACE = frozenset(("unreachable", "timeout", "cap", "cancelled", "redirect", "status", "command"))
"""Failures that say nothing about the episode: it is asked again another time."""
_KNOWN_LINES = 4_096
_PATIENCE = 2
"""Such failures in a row after which a run asks no more."""
Failing = Callable[[int, Exception], None]
"""Is told which episode cannot be told, and why."""


class Worded(NamedTuple):
    """An episode's story, and of which records it tells."""

    unit_id: int
    of: str
    story: Story


def milliseconds() -> int:
    """Now, in ms."""
    return int(time.time() * 1000)


@dataclass
class Teller:
    """Tells episodes of one database; keep it for one run."""

    db: Connection
    desk: Desk | None = None
    cancel: Cancel = field(default_factory=Cancel)
    clock: Callable[[], int] = milliseconds
    no_model: str = ""
    """Why no model is asked although one should be: said beside each story that one could have told."""
    examples: tuple[str, ...] = ()
    """How the person divided earlier work: lines for the question about a session."""
    word: Callable[[int], Worded | None] | None = None
    """Words an episode from its records alone; None: this process does, from its database."""
    extractive: int = 0
    by_model: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    _in_a_row: int = 0

    def extract(self, unit_id: int, *, force: bool = False) -> bool:
        """Tell an episode from its records alone; False when it is gone or is told better already."""
        told = self.word(unit_id) if self.word else worded(self.db, unit_id)
        return told is not None and self._keep(told.unit_id, told.of, told.story, force=force)

    def renew(self, unit_id: int) -> bool:
        """Tell an episode that was told from these very records in today's words; False where it says that already."""
        records = reading.read(self.db, unit_id)
        if records is None:
            return False
        told = narrator.narrate(records.episode)
        with transaction(self.db):
            known = narrations.known(self.db, unit_id)
            if known is None or known.by_model or known.told_of != records.of:
                return False
            story = _story(told, fallback=known.fallback)
            if narrations.says(self.db, unit_id, story):
                narrations.settle_end(self.db, unit_id, frozenset(told.marks))
                return False
            return narrations.store(self.db, unit_id, records.of, story, self.clock(), force=True)

    def ask(self, unit_id: int) -> bool:
        """Have a model tell one episode; upon a failure the extractive story stands, with why. Raises sqlite3.Error."""
        records = reading.read(self.db, unit_id)
        if records is None or self.desk is None or not self.asking:
            return False
        held = narrations.prompts(self.db, unit_id)
        try:
            turns = material.read(self.db, records.session_id, held).turns
            with settings.Within(called(self.db, records.session_id)):
                answer = tell(self.desk, turns, self.cancel)
        except Failure as failure:
            self.failed(failure, f"episode/{unit_id}", records.of)
            self._keep(unit_id, records.of, _story(narrator.narrate(records.episode), fallback=str(failure)))
            return False
        self.answered()
        return self._tell(records, answer.value, answer.model)

    def keep_told(self, unit_id: int, told: Told, model: str) -> bool:
        """Keep a model's story of an episode, as far as its records allow. Raises sqlite3.Error."""
        records = reading.read(self.db, unit_id)
        return records is not None and self._tell(records, told, model)

    def _tell(self, records: reading.Told, told: Told, model: str) -> bool:
        model = model or (self.desk.backend.label if self.desk else "")
        known = narrator.narrate(records.episode)
        story, dropped = overrule(known, told, f"model {model}" if model == EXTRACTIVE else model)
        return self._keep(records.unit_id, records.of, _story(story, by_model=True, dropped=dropped), force=True)

    def says_why(self, unit_id: int, reason: str, *, again: bool = False) -> None:
        """Say beside an episode's story why no model's is kept. `again`: its records may be asked about anew."""
        with transaction(self.db):
            if not again:
                of = narrations.holds(self.db, unit_id)
                narrations.attempted(self.db, f"episode/{unit_id}", of, reason, self.clock())
            narrations.say_fallback(self.db, unit_id, _safe_line(reason))

    @property
    def asking(self) -> bool:
        """Whether it is worth asking the model about another episode."""
        return self.desk is not None and self._in_a_row < _PATIENCE and not self.cancel.is_set()

    def answered(self) -> None:
        """The place answers."""
        self._in_a_row = 0

    def failed(self, failure: Failure, subject: str, of: str) -> None:
        """Count a failure; one that says something about the subject is kept, so that it is not asked about again."""
        self.failures[failure.kind] = self.failures.get(failure.kind, 0) + 1
        self.no_model = str(failure)
        if failure.kind in ("cap", "cancelled"):
            self._in_a_row = _PATIENCE
        elif failure.kind in ABOUT_THE_PLACE:
            self._in_a_row += 1
        else:
            with transaction(self.db):
                narrations.attempted(self.db, subject, of, str(failure), self.clock())

    def _keep(self, unit_id: int, of: str, story: Story, *, force: bool = False) -> bool:
        with transaction(self.db):
            known = narrations.known(self.db, unit_id)
            if known and known.told_of == of and not story.by_model and not known.by_model and not force:
                narrations.say_fallback(self.db, unit_id, story.fallback)
                return False
            kept = narrations.store(self.db, unit_id, of, story, self.clock(), force=force)
        if kept:
            self.by_model += story.by_model
            self.extractive += not story.by_model
        return kept


def worded(db: Connection, unit_id: int) -> Worded | None:
    """An episode's story from its records alone, which are only read; None when it is gone."""
    records = reading.read(db, unit_id)
    return None if records is None else Worded(unit_id, records.of, _story(narrator.narrate(records.episode)))


def attempt(tell: Callable[[int], bool], unit_id: int, failed: Failing | None) -> bool:
    """Tell one episode; where `failed` hears of it, one that cannot be told by what it holds is in no other's way."""
    try:
        return tell(unit_id)
    except Exception as error:  # a boundary: what is wrong with the database is no episode's fault
        if failed is None or (isinstance(error, sqlite3.Error) and not garbled(error)):
            raise
        failed(unit_id, error)
        return False


def retell(db: Connection, unit_ids: Iterable[int], now: int) -> None:
    """Tell episodes anew from their records after a correction: milliseconds, and what is read next is true.

    A model's story stands until it is asked for again; that it tells of what was is said beside it.
    """
    teller = Teller(db, clock=lambda: now)
    for unit_id in unit_ids:
        known = narrations.known(db, unit_id)
        if known is None or not known.by_model:
            teller.extract(unit_id)


def tell_all(
    teller: Teller, unit_ids: Iterable[int], enough: Callable[[], bool] = lambda: False, failed: Failing | None = None
) -> None:
    """Tell episodes from their records, then have the model tell those that are worth it, until `enough`."""
    for unit_id in unit_ids:
        if enough():
            return
        attempt(teller.extract, unit_id, failed)
    for unit_id in narrations.tellable(teller.db, alone=True) if teller.desk else ():
        if enough() or not teller.asking:
            break
        attempt(teller.ask, unit_id, failed)
    if teller.no_model and not teller.asking:
        with transaction(teller.db):
            for unit_id in narrations.tellable(teller.db):
                narrations.say_fallback(teller.db, unit_id, _safe_line(teller.no_model))


def _story(told: Narrative, *, by_model: bool = False, fallback: str = "", dropped: int = 0) -> Story:
    """The narrative fit to be stored: redacted once more, with the summary that stands for it in a list."""
    safe = _safe(told)
    return Story(safe, summary(safe), by_model, _safe_line(fallback), dropped)


def summary(told: Narrative) -> str:
    """What an episode was for, how it ended and what stood in its way, in up to three sentences."""
    parts = [told.intent, told.outcome, f"Obstacle: {told.obstacle}" if told.obstacle else ""]
    return " ".join(
        part if part.endswith((".", "!", "?", "…", "。", "！", "？")) else f"{part}." for part in parts if part
    )


def _safe(told: Narrative) -> Narrative:
    _remember_by(settings.load())
    return replace(
        told,
        **{
            name: [line for one in value if (line := _line(one))] if isinstance(value, list) else _line(str(value))
            for name, value in asdict(told).items()
        },  # type: ignore[arg-type]
    )


_lines: dict[str, str] = {}
_lines_by: list[settings.Settings] = []
"""By which of the person's settings these lines were made safe."""


def _remember_by(known: settings.Settings) -> None:
    """Forget the lines that were made safe by other settings."""
    if _lines_by != [known] or len(_lines) >= _KNOWN_LINES:
        _lines.clear()
        _lines_by[:] = [known]


def _safe_line(text: str) -> str:
    """One line without secrets, by the settings of this moment."""
    _remember_by(settings.load())
    return _line(text)


def _line(text: str) -> str:
    """One line without secrets; the paths of a project come again in story after story."""
    found = _lines.get(text)
    if found is None:
        found = _lines[text] = redact(" ".join(clean(text).split())) if text else ""
    return found


MOST = 200
"""Stories that are looked at in one run."""


def renew(
    db: Connection, stopped: Callable[[], bool] = lambda: False, most: int = MOST, failed: Failing | None = None,
    told: Container[int] = (),
) -> int:  # fmt: skip
    """Go on with it, outside a transaction; how many stories read otherwise now. Raises sqlite3.Error.

    `told`: episodes that were told in today's words a moment ago.

    A row of `upkeep` keeps for which wording stories were looked at, and down to which episode; one that cannot be
    told is passed over, and its old words stay.
    """
    at, before = narrations.reached(db)
    below = at if before == narrate.WORDING else FAR
    if not below or before > narrate.WORDING:
        return 0
    due = list(islice((number for number in narrations.worded_before(db, below) if number not in told), most))
    renewed = 0
    for number in due:
        if stopped():
            break
        renewed += attempt(Teller(db, clock=partial(narrations.after_session, db, number)).renew, number, failed)
        below = number
    else:
        below = below if len(due) == most else 0
    with transaction(db):
        narrations.reach(db, below, narrate.WORDING)
    return renewed
