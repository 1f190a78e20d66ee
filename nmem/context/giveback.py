"""Gives back what the compactions of a session dropped, each thing once (on the hook's path).

Right after a compaction what its summary lost; later what a prompt speaks of, what an edit is about to change, a
command that is about to run and had failed. Items come out, each with the time of the compaction in its reason. Loaded
only in a session that was compacted.
"""

from __future__ import annotations

from time import localtime, perf_counter_ns, strftime

from nmem.context import dropped, session_store
from nmem.context.dropped import COMMAND, FAILS, FILE, OPEN, TODO, Thing
from nmem.context.items import DROPPED, Item
from nmem.context.known import Asked
from nmem.episodes import open_ends
from nmem.episodes.store import observed
from nmem.names import told
from nmem.retrieval.terms import ago, base, terms
from nmem.sanitize import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present

MOST = 4
"""Things that one prompt is given back."""
_NEWEST = 1500
"""Calls before a compaction in which is looked for what was known."""
_LATELY = 300
"""The same at each prompt, before the last compaction: each of them pays for it."""
_REST = 10_000_000
"""Nanoseconds before the end of the time for a prompt that are left for putting together what is told."""
_OF_A_KIND = {dropped.DECISION: 4, OPEN: 3, FILE: 8, COMMAND: 4}
"""Kinds that are given back, in this order, and how many right after a compaction. What was merely read is none:
whoever needs it reads it again."""
_SCORES = {dropped.DECISION: 0.95, OPEN: 0.9, COMMAND: 0.8, FILE: 0.85}
_FAILURES = 60
"""Newest failures of a session among which the one of a command is looked for."""
_SHARED, _PART = 2, 4
"""Words of a decision that a prompt must have, and what part of them that must be: one in so many."""
_LONG, _SHORT = 240, 100


def spoken_of(db: Connection, present: Present) -> list[Item]:
    """What compactions dropped, nobody touched since, and the prompt speaks of; none where there is no time for it,
    for what else was found must not be late. Raises sqlite3.Error."""
    until = present.until - _REST if present.until else dropped.EVERY
    if perf_counter_ns() > until:
        return []
    asked = Asked(present, ())
    out: list[Item] = []
    for one, at in _missing(db, present.session_id, asked, until):
        if len(out) < MOST and (why := _touched(asked, one)):
            out.append(_item(db, one, at, present.at, why))
    return [item for item in out if item.text]


def lost(db: Connection, session_id: str, now: int) -> list[Item]:
    """What the summary of a compaction just now does not name, whatever comes; none where it is not known yet."""
    every = dropped.folds(db, session_id, _NEWEST)
    if not every or not every[-1].summary or abs(now - every[-1].at) > dropped.NEAR:
        return []
    last = every[-1]
    out = []
    for kind, most in _OF_A_KIND.items():
        some = sorted((one for one in _joined(last.dropped) if one.kind == kind), key=lambda one: -one.at)
        out += [_item(db, one, last.at, now, "", brief=True) for one in some[:most]]
    return out


def before_call(db: Connection, session_id: str, folded: int, now: int, path: str, command: str) -> Item | None:
    """What the compaction at `folded` dropped of a file that is about to be changed, or of a command that is about to
    be run and failed before it; None for all else. A few lookups. Raises sqlite3.Error."""
    found = _changed(db, session_id, folded, path) if path else _failed(db, session_id, folded, command)
    if found is None:
        return None
    summary = dropped.summary_at(db, session_id, folded)
    item = _item(db, found, folded, now, "") if summary and not dropped.Names(summary).have(found) else None
    return item if item is not None and item.text else None


def preferred(found: Iterable[Item], missing: Iterable[Item], first: str) -> list[Item]:
    """What is told after a compaction: what is of the kind `first`, then what the summary lost, then the rest."""
    reasons = {item.id: item for item in missing}
    items = list(found)
    ours = [item for item in items if item.id in reasons]
    for item in ours:
        item.reason = f"{item.reason}; {reasons.pop(item.id).reason}"
    ahead = [item for item in items if item.kind == first]
    return [*ahead, *ours, *reasons.values(), *(item for item in items if item not in ahead and item not in ours)]


def _missing(db: Connection, session_id: str, asked: Asked, until: int) -> list[tuple[Thing, int]]:
    """What the last compaction that knew it dropped, nobody touched since, and still is so, of what a prompt may speak
    of; with that compaction's time."""
    every = dropped.folds(db, session_id, _LATELY, until)
    state: dict[tuple[str, str], tuple[Thing, int]] = {}
    for place, fold in enumerate(every):
        for one in fold.known:
            state[one.kind, one.text] = one, place
    out: dict[str, list[tuple[Thing, int]]] = {kind: [] for kind in _OF_A_KIND}
    for place, fold in enumerate(every):
        mine = [one for one, at in state.values() if at == place and fold.summary and not one.named]
        mine = _meant(asked, [one for one in mine if one.kind in out])  # the later calls are looked at for few things
        if not mine or perf_counter_ns() > until:
            continue
        later = [call for each in every[place:] for call in each.later]
        for one in _joined([one for one in mine if not (dropped.met(one, later) or dropped.over(one, later))]):
            out[one.kind].append((one, fold.at))
    return [each for some in out.values() for each in sorted(some, key=lambda each: -each[0].at)]


def _meant(asked: Asked, things: Sequence[Thing]) -> list[Thing]:
    """Those that a prompt may speak of: of a list, that is told as one, all where it has a word of any."""
    lists = {
        one.id for one in things if one.text.startswith(TODO) and not asked.tokens.isdisjoint(terms(one.text))
    }  # fmt: skip
    return [one for one in things if (one.id in lists if one.text.startswith(TODO) else _touched(asked, one))]


def _joined(things: Iterable[Thing]) -> list[Thing]:
    """The to-dos of one list as one thing, for they are told as one; the rest as it is."""
    out: dict[tuple[str, str], Thing] = {}
    for one in things:
        key = (one.id, TODO if one.text.startswith(TODO) else one.text)
        if key in out:
            one = Thing(one.kind, f"{out[key].text}; {one.text.removeprefix(TODO)}", one.id, one.at)  # noqa: PLW2901
        out[key] = one
    return list(out.values())


def _touched(asked: Asked, one: Thing) -> str:
    """What of it a prompt speaks of, in words; else empty."""
    if one.kind == FILE:
        name = base(one.text)
        return f"the prompt names {name}" if name in asked.named else ""
    if one.kind == COMMAND or one.text.startswith(FAILS):
        command = " ".join(one.text.removeprefix(FAILS).lower().split())
        short = " ".join(dropped.core(command))
        if f" {command} " in asked.line or (" " in short and f" {short} " in asked.line):
            return f"the prompt names `{short}`"
        name = next((each for word in command.split() if "." in (each := base(word)) and each in asked.named), "")
        return f"the prompt names {name}" if name else ""
    words = terms(one.text)
    shared = [word for word in words if word in asked.tokens]
    if len(shared) < _SHARED or _PART * len(shared) < len(words):
        return ""
    return f"the prompt speaks of {', '.join(shared[:3])}"


def _item(db: Connection, one: Thing, folded: int, now: int, why: str, *, brief: bool = False) -> Item:
    """A thing as it is told; `brief`: beside much else."""
    reason = f"dropped by the compaction at {strftime('%H:%M', localtime(folded // 1000))}"
    if why:
        reason = f"{reason}; {why}"
    when = ago(now - one.at)
    if one.kind == FILE:
        named = told(one.text)
        text = named if brief or not named else f"{named} was changed {when}{_of_change(db, one)}"
        return Item(f"file/{one.text}", DROPPED, text, files=(one.text,), score=_SCORES[FILE], reason=reason)
    if one.kind == COMMAND:
        text = f"{quoted(one.text, _LONG)} passed {when}"
    elif one.text.startswith(FAILS):
        said = _said(one.said)
        text = f"{quoted(one.text.removeprefix(FAILS), _LONG)} failed {when}, and has not passed since"
        text += f": {quoted(said, _SHORT)}" if said else ""
    elif one.kind == OPEN:
        text = f"Still to do: {quoted(one.text.removeprefix(TODO), _LONG)}"
    else:
        text = f"Decided {when}: {quoted(one.text, _LONG)}"
    return Item(one.id, DROPPED, text, score=_SCORES[one.kind], reason=reason)


def _of_change(db: Connection, one: Thing) -> str:
    """For which prompt a file was changed last, and the lines that this brought."""
    content, asked = session_store.change(db, int(one.id.partition("/")[2]))
    lines = [each[2:].strip() for each in content.split("\n") if each.startswith("+ ") and each[2:].strip()]
    text = f", asked {quoted(asked, _SHORT)}" if asked else ""
    return text + (f"; it brought {quoted(' '.join(lines), _SHORT)}" if lines else "")


def _said(stored: str) -> str:
    """The last line of what a failed call answered."""
    from capture.jsonio import BadJson, loads  # on use: a failed command that is told only

    try:
        found = loads(stored)
    except BadJson:
        return ""
    said = found.get("response") or found.get("error") if isinstance(found, dict) else ""
    lines = [each.strip() for each in str(said or "").split("\n") if each.strip()]
    return lines[-1] if lines else ""


def _changed(db: Connection, session_id: str, folded: int, path: str) -> Thing | None:
    """A file by its newest change before a compaction, where nothing changed it since."""
    row = session_store.last_change(db, session_id, path)
    return Thing(FILE, path, f"obs/{row[0]}", row[1]) if row and row[1] <= folded else None


def _failed(db: Connection, session_id: str, folded: int, command: str) -> Thing | None:
    """A command that failed before a compaction, where nothing shows that it works, and that did not run since."""
    wanted = open_ends.plain(command)
    calls = session_store.failures(db, session_id, _FAILURES) if wanted else ()
    number, failed = next((call for call in calls if open_ends.plain(call[1][3]) == wanted), (0, None))
    if failed is None or failed[0] > folded:
        return None
    later = [row for row in observed(db, session_id, failed[0]) if row[0] > failed[0]]
    if open_ends.closed(failed, later):
        return None
    return Thing(OPEN, FAILS + wanted, f"obs/{number}", failed[0], failed[5])
