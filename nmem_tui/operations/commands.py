"""Builds the changes that keys make (split, pin, accept, purge, undo): functions (connection, time) -> toast text.

They call nmem's own corrections, which keep what was before; `undo` takes the newest back, also after a restart.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from functools import wraps
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec

from nmem import database, settle_start
from nmem.errors import NmemError
from nmem.text import printable
from nmem_tui.model import actions
from nmem_tui.model.figures import date, several
from nmem_tui.store.access import Change

if TYPE_CHECKING:
    from nmem.audit.review import Verdict
    from nmem.learn.accept import Plan, Withdrawal
    from nmem.llm.chosen import Offer
    from nmem.purge.selection import Selection
    from nmem.recall import remember
    from nmem.recall.changes import Change as Plans
    from nmem.sessions.resume import Resume


P = ParamSpec("P")


def _change(do: Callable[Concatenate[Connection, int, P], str]) -> Callable[P, Change]:
    """Makes a function of (db, now, ...) one of the rest alone, which returns the Change."""

    @wraps(do)
    def made(*given: P.args, **named: P.kwargs) -> Change:
        return lambda db, now: do(db, now, *given, **named)

    return made


def _back() -> str:
    """How it is taken back."""
    return f" · {actions.key_of('undo')} undoes"


@_change
def split(db: Connection, now: int, unit_id: int, prompt_id: int) -> str:
    """A new episode begins at a prompt."""
    from nmem.episodes import corrections, storytelling  # on use: start-up stays short

    made = corrections.split(db, unit_id, prompt_id, now)
    storytelling.retell(db, (unit_id, made), now)
    return f"split: a new episode begins at this prompt{_back()}"


@_change
def merge(db: Connection, now: int, unit_id: int, into_id: int) -> str:
    """An episode becomes a part of another one."""
    from nmem.episodes import corrections, storytelling  # on use: start-up stays short

    corrections.merge(db, unit_id, into_id, now)
    storytelling.retell(db, (into_id,), now)
    return f"merged into the episode before it{_back()}"


@_change
def undecide(db: Connection, now: int, decision_id: int) -> str:
    """What was found as a decision is none."""
    from nmem.decisions import change as decided  # on use: start-up stays short

    decided.dismiss(db, decision_id, now)
    return f"no decision: never listed or told again{_back()}"


@_change
def reword(db: Connection, now: int, decision_id: int, text: str) -> str:
    """A decision gets a person's words of today."""
    from nmem.decisions import change as decided  # on use: start-up stays short

    decided.word(db, decision_id, text, now)
    return f"decision reworded{_back()}"


@_change
def promote(db: Connection, now: int, planned: remember.Plan) -> str:
    """A decision or a skill is written into the project's decision files."""
    from nmem.recall import changes  # on use: start-up stays short

    changes.apply(db, planned.change, now)
    return f"written: {planned.entry}{_back()}"


@_change
def mend_instructions(db: Connection, now: int, planned: Sequence[Plans]) -> str:
    """Lines of a project's instructions go or change, as it was shown."""
    from nmem.native.review import apply  # on use: start-up stays short

    return f"{several(apply(db, planned, now), 'file')} written{_back()}"


@_change
def rename(db: Connection, now: int, unit_id: int, title: str) -> str:
    """An episode gets a person's own name; none gives it back its opening prompt."""
    from nmem.episodes import corrections  # on use: start-up stays short

    corrections.rename(db, unit_id, title, now)
    return f"renamed to “{title}”{_back()}" if title else f"named after its prompt again{_back()}"


@_change
def resume(db: Connection, now: int, unit_id: int, earlier_id: int | None) -> str:
    """An episode goes on with an earlier one, or with none."""
    from nmem.episodes import corrections  # on use: start-up stays short

    if earlier_id is None:
        corrections.unresume(db, unit_id, now)
        return f"now separate from earlier episodes{_back()}"
    corrections.resume(db, unit_id, earlier_id, now)
    return f"now continues the earlier episode{_back()}"


@_change
def move(db: Connection, now: int, prompt_id: int, unit_id: int) -> str:
    """A prompt belongs to another episode."""
    from nmem.episodes import corrections, storytelling, units  # on use: start-up stays short

    left = units.of_prompt(db, prompt_id)
    corrections.move(db, prompt_id, unit_id, now)
    storytelling.retell(db, (unit_id, left or 0), now)
    return f"the prompt was moved{_back()}"


@_change
def belongs(db: Connection, now: int, prompt_id: int) -> str:
    """A prompt belongs where it is: nothing begins there."""
    from nmem.episodes import corrections  # on use: start-up stays short

    corrections.keep(db, prompt_id, now)
    return f"kept: the prompt continues the task before{_back()}"


@_change
def pin(db: Connection, now: int, unit_id: int, pinned: bool) -> str:
    """An episode is pinned: kept, and offered to later sessions first."""
    from nmem.episodes import corrections  # on use: start-up stays short

    corrections.pin(db, unit_id, pinned, now)
    return ("pinned" if pinned else "no longer pinned") + _back()


@_change
def link(db: Connection, now: int, decision_id: int, related: bool) -> str:
    """Two threads are one line of work, or are not."""
    from nmem.threads import outcomes  # on use: start-up stays short

    outcomes.confirm(db, decision_id, related, now)
    return ("linked: one line of work" if related else "not linked: different lines of work") + _back()


@_change
def continue_next(db: Connection, now: int, thread_id: int, title: str) -> str:
    """The project's next session continues a thread."""
    from nmem.threads import steering  # on use: start-up stays short

    steering.continue_next(db, thread_id, now)
    return f"the next session continues “{title}”{_back()}"


@_change
def forget_next(db: Connection, now: int, project_id: int) -> str:
    """The next session is decided by the clock again."""
    from nmem.threads import steering  # on use: start-up stays short

    steering.forget(db, project_id, now)
    return f"the next session continues the last work, or starts new{_back()}"


@_change
def mark_learning(db: Connection, now: int, learning_id: int, state: Literal["dismissed", "resolved", "open"]) -> str:
    """A learning is dismissed, resolved or open again."""
    from nmem.learn import lifecycle  # on use: start-up stays short

    mark, said = {
        "dismissed": (lifecycle.dismiss, "dismissed: it is not listed as open again"),
        "resolved": (lifecycle.resolve, "resolved: it opens again if it comes back"),
        "open": (lifecycle.reopen, "open again"),
    }[state]
    mark(db, learning_id, now)
    return said + _back()


@_change
def snooze(db: Connection, now: int, learning_id: int, ms: int, words: str) -> str:
    """A learning is open again only after a while."""
    from nmem.learn import lifecycle  # on use: start-up stays short

    lifecycle.snooze(db, learning_id, now + ms, now)
    return f"snoozed for {words}{_back()}"


@_change
def accept(db: Connection, now: int, planned: Plan) -> str:
    """The rule goes into the project's instructions, as it was shown."""
    from nmem.learn import accept as accepting  # on use: start-up stays short

    accepting.accept(db, planned, now)
    stood = "its rule stands in" if planned.wrote else "its rule stood already in"
    return f"accepted: {stood} {planned.file.name}{_back()}"


@_change
def withdraw(db: Connection, now: int, learning_id: int, planned: Withdrawal | None) -> str:
    """An accepted learning is open again, its rule out of the file, as it was shown."""
    from nmem.learn import accept as accepting  # on use: start-up stays short

    accepting.withdraw(db, learning_id, planned, now)
    gone = f", its rule is out of {planned.file.name}" if planned and planned.diff else ""
    return f"open again{gone}{_back()}"


@_change
def relabel(db: Connection, now: int, observation_id: int, dimension: str, word: str | None) -> str:
    """A call is labelled by the person's word; without one by the model's again."""
    from nmem.labels import corrections  # on use: start-up stays short

    corrections.relabel(db, observation_id, dimension, word, now)
    return f"{dimension}: {word} by your word{_back()}" if word else f"{dimension}: the model's word again{_back()}"


@_change
def choose(db: Connection, now: int, project_id: int, item: str, choice: str) -> str:
    """An item of a project's context is always told, never told, or chosen by its score."""
    from nmem.context import choosing  # on use: start-up stays short

    own = choosing.choose(db, project_id, item, choice, now)
    if not choice:
        return f"{own} is selected by its score again{_back()}"
    return f"from now on {own} is {choosing.promised(own, choice)}{_back()}"


@_change
def pin_item(db: Connection, now: int, project_id: int, item: str, pinned: bool) -> str:
    """What an item of a project's context stands for is pinned: always told, found first, kept."""
    from nmem.context import choosing  # on use: start-up stays short

    own = choosing.pin(db, project_id, item, pinned, now)
    return f"{own} is {'pinned' if pinned else 'no longer pinned'}{_back()}"


@_change
def pin_found(db: Connection, now: int, kind: str, number: int, pinned: bool) -> str:
    """What was found is pinned: found first, always told, kept."""
    from nmem.context import pins  # on use: start-up stays short

    pins.pin(db, kind, number, pinned, now)
    return f"{kind}/{number} is {'pinned' if pinned else 'no longer pinned'}{_back()}"


@_change
def pin_everywhere(db: Connection, now: int, kind: str, number: int) -> str:
    """What is pinned is told in every project; again, in its own alone."""
    from nmem.context import pins, review_store  # on use: start-up stays short

    target = f"{kind}/{number}"
    on = not (review_store.told_everywhere(db, target) and pins.is_pinned(db, kind, number))
    pins.everywhere(db, kind, number, on, now)
    told = "pinned, and told in every project" if on else "told in its own project alone"
    return f"{target} is {told}{_back()}"


@_change
def keep_budget(db: Connection, now: int, setting: str, tokens: int) -> str:
    """A budget of context is the person's own from now on, in config.toml."""
    from nmem.store import changed_settings  # on use: start-up stays short

    changed_settings.put(db, ("context", setting), tokens, now)
    return f"config.toml: [context] {setting} = {tokens}{_back()}"


@_change
def ask_model(db: Connection, now: int, on: bool, offer: Offer | None = None) -> str:
    """A model is asked for the stories from now on, or none; `offer`: a client that is set up first."""
    from nmem.llm import chosen  # on use: start-up stays short

    if offer is None:
        chosen.switch(db, now, on=on)
    else:
        chosen.use(db, now, one=offer)
    if not on:
        return f"no model is asked any more; its stories stay{_back()}"
    return f"{offer.name if offer else 'a model'} is asked from the next session's end on{_back()}"


@_change
def purge(
    _db: Connection, now: int, chosen: Selection, path: str, zone: tzinfo | None, *, backups: bool = False,
    at_once: bool = False,
) -> str:  # fmt: skip
    """What a selection reaches goes, and can be brought back for a while; files are cleaned in the background."""
    from nmem.purge import run, said  # on use: start-up stays short
    from nmem_tui.model.previews import moment, stays

    done = run.purge(path, chosen, now, window=0 if at_once else None, backups=backups, later=True)
    settle_start.start(str(Path(path).absolute()))
    gone = said.goes(done.rows)
    also = f" and {several(len(done.backups), 'backup')}" if done.backups else ""
    held = f" · {held}" if (held := stays(len(done.stays), len(done.transcripts))) else ""
    if done.keep_until <= now:
        return f"purged for good: {gone}{also}{held} · cannot be undone"
    back = f"{actions.key_of('undo')} brings them back until {moment(done.keep_until, now, zone)}"
    return f"purged: {gone}{also}{held} · {back}"


@_change
def judge(db: Connection, now: int, number: int, verdict: Verdict) -> str:
    """A redaction was a secret, or was none."""
    from nmem.audit import review  # on use: start-up stays short

    review.judge(db, number, verdict, now)
    return ("judged: a secret" if verdict == "real" else "judged: a false alarm") + _back()


@_change
def draw(db: Connection, now: int, limit: int, *, more: bool = True) -> str:
    """A sample of redactions waits to be judged; without `more` only where none waits yet."""
    from nmem.audit import review, store  # on use: start-up stays short

    if not more and (waiting := store.unjudged(db)):
        return f"{waiting} wait to be judged"
    drawn = review.draw(db, now, limit)
    return f"{drawn} drawn to be judged" if drawn else "every redaction was drawn already"


@_change
def name_session(db: Connection, now: int, session_id: str, name: str) -> str:
    """A session gets a person's own name; none gives it back the title that was found."""
    from nmem.sessions import marks  # on use: start-up stays short

    kept = marks.rename(db, session_id, name, now)
    return f"named “{kept}”{_back()}" if kept else f"called by its own title again{_back()}"


@_change
def tag_session(db: Connection, now: int, session_id: str, typed: str) -> str:
    """A session gets tags, and loses those that are typed with a ! before them."""
    from nmem.sessions import marks  # on use: start-up stays short

    words = typed.split()
    gone = [each[1:] for each in words if each.startswith("!")]
    left = marks.retag(db, session_id, [each for each in words if not each.startswith("!")], gone, now)
    return f"tags: {' '.join(f'#{each}' for each in left) or 'none'}{_back()}"


@_change
def archive_session(db: Connection, now: int, session_id: str, on: bool) -> str:
    """A session is put away, or back in the list."""
    from nmem.sessions import marks  # on use: start-up stays short

    marks.archive(db, session_id, on, now)
    return f"session {printable(session_id[:8])} is {'archived' if on else 'listed again'}{_back()}"


@_change
def restore_transcript(db: Connection, _now: int, plan: Resume) -> str:
    """A client gets a transcript back that it deleted."""
    from nmem.sessions import resume  # on use: start-up stays short

    return f"restored: {resume.restore(db, plan)} · {actions.key_of('resume_session')} resumes it"


def resume_beside(plan: Resume, environ: Mapping[str, str]) -> str:
    """Open a session with its client in a pane beside this one; in a worker. Raises NmemError."""
    from nmem.sessions import resume  # on use: start-up stays short

    return f"resumed {resume.pane(plan, environ)}"


_FRESH_MS, _ASKED_MS = 60_000, 6_000
"""A change so young was just named as it was done; one named for undoing can be undone a bit longer than its toast."""


class Undo:
    """Takes the newest change back. One that is older than a minute is named first; asked again, it is taken back."""

    def __init__(self, zone: Callable[[], tzinfo | None]) -> None:
        self._zone, self._named, self._at = zone, 0, 0

    def __call__(self, db: Connection, now: int) -> str:
        """What was undone, or would be."""
        from nmem import undo  # on use: start-up stays short

        following = undo.foreseen(db)
        asked = following and following.id == self._named and now - self._at < _ASKED_MS
        if following is None or asked or now - following.at < _FRESH_MS:
            self._named = 0
            return undo.undone(db, now)
        self._named, self._at = following.id, now
        when = date(following.at, now, self._zone()) + (f", 1 of {following.steps}" if following.steps > 1 else "")
        return f"undo: {following.what} ({when})? · {actions.key_of('undo')} again undoes it"


@_change
def each(db: Connection, now: int, changes: Sequence[Change], done: str) -> str:
    """Several changes as one; what cannot be done is told, and keeps nothing else from being done."""
    from nmem.store import corrections as log  # on use: start-up stays short

    wrong: list[str] = []
    with log.together():
        for one in changes:
            try:
                one(db, now)
            except NmemError as error:
                wrong.append(str(error))
            except sqlite3.Error as error:
                wrong.append(database.worded(error))
    number = len(changes) - len(wrong)
    if not number:
        raise NmemError(wrong[0] if wrong else "nothing to change")
    more = "takes all of them back" if number > 1 else "undoes"
    failed = f" · {len(wrong)} could not be: {wrong[0]}" if wrong else ""
    return f"{several(number, 'row')} {done} · {actions.key_of('undo')} {more}{failed}"


@_change
def pin_many(db: Connection, now: int, kind: str, numbers: Sequence[int]) -> str:
    """All of some episodes are pinned, or none where all of them are already."""
    from nmem.context import review_store  # on use: start-up stays short

    on = review_store.pinned(db, kind, numbers)
    wanted = len(on) < len(set(numbers))
    changes = [pin_found(kind, number, wanted) for number in numbers if (number in on) != wanted]
    return each(changes, "pinned" if wanted else "no longer pinned")(db, now)
