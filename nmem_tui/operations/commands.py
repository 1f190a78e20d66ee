"""Changes a person makes in the cockpit: functions of a writing connection and the time that return the toast.

They call nmem's own corrections, which keep what was before; `undo` takes the newest back, also after a restart.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem import database, settle_start
from nmem.errors import NmemError
from nmem_tui.model import actions
from nmem_tui.model.figures import several
from nmem_tui.store.access import Change

if TYPE_CHECKING:
    from nmem.audit.review import Verdict
    from nmem.learn.accept import Plan, Withdrawal
    from nmem.llm.chosen import Offer
    from nmem.purge.selection import Selection
    from nmem.recall import remember


def _back() -> str:
    """How it is taken back."""
    return f" · {actions.key_of('undo')} undoes"


def split(unit_id: int, prompt_id: int) -> Change:
    """A new episode begins at a prompt."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections, storytelling  # on use: start-up stays short

        made = corrections.split(db, unit_id, prompt_id, now)
        storytelling.retell(db, (unit_id, made), now)
        return f"split: a new episode begins at this prompt{_back()}"

    return change


def merge(unit_id: int, into_id: int) -> Change:
    """An episode becomes a part of another one."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections, storytelling  # on use: start-up stays short

        corrections.merge(db, unit_id, into_id, now)
        storytelling.retell(db, (into_id,), now)
        return f"merged into the episode before it{_back()}"

    return change


def undecide(decision_id: int) -> Change:
    """What was found as a decision is none."""

    def change(db: Connection, now: int) -> str:
        from nmem.decisions import change as decided  # on use: start-up stays short

        decided.dismiss(db, decision_id, now)
        return f"no decision: never listed or told again{_back()}"

    return change


def reword(decision_id: int, text: str) -> Change:
    """A decision gets a person's words of today."""

    def change(db: Connection, now: int) -> str:
        from nmem.decisions import change as decided  # on use: start-up stays short

        decided.word(db, decision_id, text, now)
        return f"decision reworded{_back()}"

    return change


def promote(planned: remember.Plan) -> Change:
    """A decision or a skill is written into the project's decision files."""

    def change(db: Connection, now: int) -> str:
        from nmem.recall import changes  # on use: start-up stays short

        changes.apply(db, planned.change, now)
        return f"written: {planned.entry}{_back()}"

    return change


def rename(unit_id: int, title: str) -> Change:
    """An episode gets a person's own name; none gives it back its opening prompt."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections  # on use: start-up stays short

        corrections.rename(db, unit_id, title, now)
        return f"renamed to “{title}”{_back()}" if title else f"named after its prompt again{_back()}"

    return change


def resume(unit_id: int, earlier_id: int | None) -> Change:
    """An episode goes on with an earlier one, or with none."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections  # on use: start-up stays short

        if earlier_id is None:
            corrections.unresume(db, unit_id, now)
            return f"now separate from earlier episodes{_back()}"
        corrections.resume(db, unit_id, earlier_id, now)
        return f"now continues the earlier episode{_back()}"

    return change


def move(prompt_id: int, unit_id: int) -> Change:
    """A prompt belongs to another episode."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections, storytelling, units  # on use: start-up stays short

        left = units.of_prompt(db, prompt_id)
        corrections.move(db, prompt_id, unit_id, now)
        storytelling.retell(db, (unit_id, left or 0), now)
        return f"the prompt was moved{_back()}"

    return change


def belongs(prompt_id: int) -> Change:
    """A prompt belongs where it is: nothing begins there."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections  # on use: start-up stays short

        corrections.keep(db, prompt_id, now)
        return f"kept: the prompt continues the task before{_back()}"

    return change


def pin(unit_id: int, pinned: bool) -> Change:
    """An episode is pinned: kept, and offered to later sessions first."""

    def change(db: Connection, now: int) -> str:
        from nmem.episodes import corrections  # on use: start-up stays short

        corrections.pin(db, unit_id, pinned, now)
        return ("pinned" if pinned else "no longer pinned") + _back()

    return change


def link(decision_id: int, related: bool) -> Change:
    """Two threads are one line of work, or are not."""

    def change(db: Connection, now: int) -> str:
        from nmem.threads import outcomes  # on use: start-up stays short

        outcomes.confirm(db, decision_id, related, now)
        return ("linked: one line of work" if related else "not linked: different lines of work") + _back()

    return change


def continue_next(thread_id: int, title: str) -> Change:
    """The project's next session continues a thread."""

    def change(db: Connection, now: int) -> str:
        from nmem.threads import steering  # on use: start-up stays short

        steering.continue_next(db, thread_id, now)
        return f"the next session continues “{title}”{_back()}"

    return change


def forget_next(project_id: int) -> Change:
    """The next session is decided by the clock again."""

    def change(db: Connection, now: int) -> str:
        from nmem.threads import steering  # on use: start-up stays short

        steering.forget(db, project_id, now)
        return f"the next session continues the last work, or starts new{_back()}"

    return change


def dismiss(learning_id: int) -> Change:
    """A learning is nothing to learn from."""

    def change(db: Connection, now: int) -> str:
        from nmem.learn import lifecycle  # on use: start-up stays short

        lifecycle.dismiss(db, learning_id, now)
        return f"dismissed: it is not listed as open again{_back()}"

    return change


def snooze(learning_id: int, ms: int, words: str) -> Change:
    """A learning is open again only after a while."""

    def change(db: Connection, now: int) -> str:
        from nmem.learn import lifecycle  # on use: start-up stays short

        lifecycle.snooze(db, learning_id, now + ms, now)
        return f"snoozed for {words}{_back()}"

    return change


def resolve(learning_id: int) -> Change:
    """What a learning tells of is fixed."""

    def change(db: Connection, now: int) -> str:
        from nmem.learn import lifecycle  # on use: start-up stays short

        lifecycle.resolve(db, learning_id, now)
        return f"resolved: it opens again if it comes back{_back()}"

    return change


def reopen(learning_id: int) -> Change:
    """A learning is open again."""

    def change(db: Connection, now: int) -> str:
        from nmem.learn import lifecycle  # on use: start-up stays short

        lifecycle.reopen(db, learning_id, now)
        return f"open again{_back()}"

    return change


def accept(planned: Plan) -> Change:
    """The rule goes into the project's instructions, as it was shown."""

    def change(db: Connection, now: int) -> str:
        from nmem.learn import accept as accepting  # on use: start-up stays short

        accepting.accept(db, planned, now)
        stood = "its rule stands in" if planned.wrote else "its rule stood already in"
        return f"accepted: {stood} {planned.file.name}{_back()}"

    return change


def withdraw(learning_id: int, planned: Withdrawal | None) -> Change:
    """An accepted learning is open again, its rule out of the file, as it was shown."""

    def change(db: Connection, now: int) -> str:
        from nmem.learn import accept as accepting  # on use: start-up stays short

        accepting.withdraw(db, learning_id, planned, now)
        gone = f", its rule is out of {planned.file.name}" if planned and planned.diff else ""
        return f"open again{gone}{_back()}"

    return change


def relabel(observation_id: int, dimension: str, word: str | None) -> Change:
    """A call is labelled by the person's word; without one by the model's again."""

    def change(db: Connection, now: int) -> str:
        from nmem.labels import corrections  # on use: start-up stays short

        corrections.relabel(db, observation_id, dimension, word, now)
        return f"{dimension}: {word} by your word{_back()}" if word else f"{dimension}: the model's word again{_back()}"

    return change


def choose(project_id: int, item: str, choice: str) -> Change:
    """An item of a project's context is always told, never told, or chosen by its score."""

    def change(db: Connection, now: int) -> str:
        from nmem.context import choosing  # on use: start-up stays short

        own = choosing.choose(db, project_id, item, choice, now)
        if not choice:
            return f"{own} is selected by its score again{_back()}"
        return f"from now on {own} is {choosing.promised(own, choice)}{_back()}"

    return change


def pin_item(project_id: int, item: str, pinned: bool) -> Change:
    """What an item of a project's context stands for is pinned: always told, found first, kept."""

    def change(db: Connection, now: int) -> str:
        from nmem.context import choosing  # on use: start-up stays short

        own = choosing.pin(db, project_id, item, pinned, now)
        return f"{own} is {'pinned' if pinned else 'no longer pinned'}{_back()}"

    return change


def pin_found(kind: str, number: int, pinned: bool) -> Change:
    """What was found is pinned: found first, always told, kept."""

    def change(db: Connection, now: int) -> str:
        from nmem.context import pins  # on use: start-up stays short

        pins.pin(db, kind, number, pinned, now)
        return f"{kind}/{number} is {'pinned' if pinned else 'no longer pinned'}{_back()}"

    return change


def pin_everywhere(kind: str, number: int) -> Change:
    """What is pinned is told in every project; again, in its own alone."""

    def change(db: Connection, now: int) -> str:
        from nmem.context import pins  # on use: start-up stays short

        target = f"{kind}/{number}"
        on = not (pins.told_everywhere(db, target) and pins.is_pinned(db, kind, number))
        pins.everywhere(db, kind, number, on, now)
        told = "pinned, and told in every project" if on else "told in its own project alone"
        return f"{target} is {told}{_back()}"

    return change


def keep_budget(setting: str, tokens: int) -> Change:
    """A budget of context is the person's own from now on, in config.toml."""

    def change(db: Connection, now: int) -> str:
        from nmem.store import changed_settings  # on use: start-up stays short

        changed_settings.put(db, ("context", setting), tokens, now)
        return f"config.toml: [context] {setting} = {tokens}{_back()}"

    return change


def ask_model(on: bool, offer: Offer | None = None) -> Change:
    """A model is asked for the stories from now on, or none; `offer`: a client that is set up first."""

    def change(db: Connection, now: int) -> str:
        from nmem.llm import chosen  # on use: start-up stays short

        if offer is None:
            chosen.switch(db, now, on=on)
        else:
            chosen.use(db, now, one=offer)
        if not on:
            return f"no model is asked any more; its stories stay{_back()}"
        return f"{offer.name if offer else 'a model'} is asked from the next session's end on{_back()}"

    return change


def purge(chosen: Selection, path: str, zone: tzinfo | None, *, backups: bool = False, at_once: bool = False) -> Change:
    """What a selection reaches goes, and can be brought back for a while; files are cleaned in the background."""

    def change(db: Connection, now: int) -> str:  # noqa: ARG001 -- it opens its own
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

    return change


def judge(number: int, verdict: Verdict) -> Change:
    """A redaction was a secret, or was none."""

    def change(db: Connection, now: int) -> str:
        from nmem.audit import review  # on use: start-up stays short

        review.judge(db, number, verdict, now)
        return ("judged: a secret" if verdict == "real" else "judged: a false alarm") + _back()

    return change


def draw(limit: int, *, more: bool = True) -> Change:
    """A sample of redactions waits to be judged; without `more` only where none waits yet."""

    def change(db: Connection, now: int) -> str:
        from nmem.audit import review  # on use: start-up stays short

        if not more and (waiting := review.waiting(db)):
            return f"{waiting} wait to be judged"
        drawn = review.draw(db, now, limit)
        return f"{drawn} drawn to be judged" if drawn else "every redaction was drawn already"

    return change


def undo(db: Connection, now: int) -> str:
    """Take the newest correction back."""
    from nmem.undo import undo as take_back  # on use: start-up stays short

    return f"undone: {take_back(db, now)}"


def each(changes: Sequence[Change], done: str) -> Change:
    """Several changes as one; what cannot be done is told, and keeps nothing else from being done."""

    def change(db: Connection, now: int) -> str:
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

    return change


def pin_many(kind: str, numbers: Sequence[int]) -> Change:
    """All of some episodes are pinned, or none where all of them are already."""

    def change(db: Connection, now: int) -> str:
        from nmem.context import pins  # on use: start-up stays short

        on = pins.pinned(db, kind, numbers)
        wanted = len(on) < len(set(numbers))
        changes = [pin_found(kind, number, wanted) for number in numbers if (number in on) != wanted]
        return each(changes, "pinned" if wanted else "no longer pinned")(db, now)

    return change
