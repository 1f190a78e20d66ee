"""Finds earlier episodes on the same work as a prompt. On the hook's path.

General words are shared by everything in a project. So an episode must be pointed at by what few others have: by
specific words that say much together, or by fewer of them and a second sign, that it edited a file which the prompt
names, or that it was a short while ago.
"""

from __future__ import annotations

from nmem.context import pointing, selection_store
from nmem.retrieval import engine
from nmem.retrieval.store import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present

SAYS = 1.5
"""What must speak for an episode, in words that one episode alone has; a file that the prompt names is about one."""
PART, LEAST = 0.25, 0.6
"""A short prompt cannot say so much: this part of all that it says is enough, but never less than that."""
NEAR, NEAR_ALONE = 0.6, 0.75
"""A second or third episode is told when this part of what speaks for the first speaks for it: with a second sign, and
by words alone."""
YOUNG = 12
"""Episodes below which a project is young: too few to tell what is specific in a prompt."""
SHARE, EVIDENCE = 0.07, 0.6
"""The least part of what a prompt says that an episode must have in a young project, and the least that it must say."""
SPOKEN = 0.045
"""The least part of what a prompt says that an episode must have, whatever else points at it but a number: one that
only edited the same file is of other work."""
FILES = 1.2
"""What files that the prompt names say at most."""
_HOUR = 3_600_000
_AGO = ((_HOUR, 0.6), (3 * _HOUR, 0.4), (30 * _HOUR, 0.3))
"""What it says that an episode was within a time, where something else speaks for it as well."""
_SOME = 0.2
"""Specific words that count as something."""
_GIVEN_UP = ("abandoned", "reverted", "thrown away")
"""How work ends that nobody goes on with."""
_CLEARLY = 1.5
"""How much more its words alone must say then."""
_LOOKED_AT = 8
_FOUND = 60
"""Episodes that the engine is asked for once a prompt; every reader takes what it needs of them."""
_NAMED = 6
"""Files that the prompt names which are looked for."""
_WORK = 2_000
"""Postings that are read at most, the rarest words first: common ones are left out in large projects."""
_SESSIONS = 40
"""The newest sessions, whose episodes are looked at for files that the prompt names."""


class Alike:
    """An episode that is about the same work, and what says so."""

    __slots__ = ("at", "files", "said", "share", "sure", "twice", "unit_id", "value", "why")

    def __init__(self, unit_id: int, at: int, value: float = 0.0, share: float = 0.0) -> None:
        self.unit_id = unit_id
        self.at = at
        self.value = value
        """How much speaks for it, in words that one episode alone has."""
        self.said = value
        """The part of that which its words say: a file in common is not counted, nor when it was."""
        self.share = share
        """The part of what the prompt says that it speaks of."""
        self.files = 0.0
        """What the files say that it edited and the prompt names."""
        self.twice = False
        """Whether something beside its words speaks for it."""
        self.sure = False
        """Whether it spoke of an issue or a pull request that the prompt names by its number."""
        self.why = ""

    @property
    def reason(self) -> str:
        """What speaks for it, in words."""
        said = f"speaks of the same: {self.share:.0%} of what the prompt says" if self.share else ""
        edited = "edited a file that the prompt names" if self.files else ""
        return "; ".join(filter(None, (self.why, said, edited)))


def speaking(db: Connection, present: Present) -> list[engine.Found]:
    """The episodes that speak of what is asked, the best first; the engine is asked once. Raises sqlite3.Error."""
    if present.found is None and present.prompt:
        asked, total = present.prompt, indexed(db, present)
        present.found = engine.related(db, present.project_id, asked, _FOUND, present.at, _WORK, total)
    return present.found or []


def indexed(db: Connection, present: Present) -> int:
    """How many episodes of the project the engine knows; counted once. Raises sqlite3.Error."""
    if present.indexed is None:
        present.indexed = size(db, present.project_id)
    return present.indexed


def alike(db: Connection, present: Present) -> list[Alike]:
    """The episodes that are about the same work, those that most speaks for first. Raises sqlite3.Error."""
    found = speaking(db, present)
    if indexed(db, present) < YOUNG:
        out = [
            Alike(one.unit_id, one.at, one.score, one.share)
            for one in found[:_LOOKED_AT]
            if one.share >= SHARE and one.evidence >= EVIDENCE
        ]
    else:
        out = _weighed(db, present, found)
    out.sort(key=lambda one: (-one.value, -one.unit_id))
    return [one for one in out if one.sure or one.value >= (NEAR if one.twice else NEAR_ALONE) * out[0].value]


def _weighed(db: Connection, present: Present, found: Sequence[engine.Found]) -> list[Alike]:
    """Episodes for which enough speaks, with how much."""
    every = {
        one.unit_id: Alike(one.unit_id, one.at, one.specific, one.share) for one in found if one.evidence >= EVIDENCE
    }
    named = [(path, says) for path, says in present.named.items() if says][:_NAMED]
    where = present.project_id, present.session_id, present.at
    for unit_id, at, says in selection_store.editors(db, *where, named, every, _SESSIONS) if named else ():
        every.setdefault(unit_id, Alike(unit_id, at)).files = min(FILES, says)
    sure = pointing.numbered(db, present)
    for unit_id, at in sure:
        one = every.setdefault(unit_id, Alike(unit_id, at))
        one.sure, one.why = True, "speaks of the same number"
    all_of_it = next((one.evidence / one.share for one in found if one.share), 0.0)
    needed = min(SAYS, max(LEAST, PART * all_of_it)) if all_of_it else SAYS
    window = pointing.window(present.prompt)
    for one in every.values():
        more = one.files + (SAYS if one.sure else 0.0)
        gap = present.at - one.at
        if one.value > _SOME or one.files:
            if window and window[0] <= gap <= window[1]:
                more += pointing.SAYS
                one.why = one.why or "the prompt points at that time"
            else:
                more += next((says for within, says in _AGO if gap <= within), 0.0)
        one.value += more
        one.twice = more > 0.0
    out = [one for one in every.values() if one.value >= needed and (one.sure or one.share >= SPOKEN)]
    weak = _given_up(db, [one.unit_id for one in out if not one.sure and one.said < _CLEARLY * needed])
    return [one for one in out if one.unit_id not in weak]


def _given_up(db: Connection, ids: Sequence[int]) -> set[int]:
    """Of some episodes those whose work was abandoned or taken back: a file in common says nothing of these."""
    if not ids:
        return set()
    from capture.jsonio import BadJson, loads  # on use: start-up stays short
    from nmem.episodes.open_ends import ending

    out = set()
    for number, stored in selection_store.of_units(db, "outcomes", ids):
        try:
            found = loads(stored or "{}")
        except BadJson:
            continue
        if isinstance(found, dict) and ending(found)[1] in _GIVEN_UP:
            out.add(number)
    return out
