"""The episodes that tell of the files a session will want, each as a fact in a few lines (SQL). On the hook's path."""

from __future__ import annotations

from math import exp

from nmem.context.items import EPISODE, Item
from nmem.context.neutral import name, quoted
from nmem.context.rank import marks, unpack
from nmem.context.weights import EPISODE as WEIGHTS
from nmem.context.words import ago, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present
    from nmem.context.rank import Ranking
    from nmem.context.unsaid import Unsaid

    Unit = tuple[int, str, int, str, str | None, str | None, str | None, str, str | None]

MOST = 3
LOOKED_AT = 40
"""Earlier turns whose episodes are considered: the most alike, and the newest that edited a chosen file."""
FILES = 6
"""Files that one episode names."""
_HEADLINE, _LINE, _LINES = 140, 150, 2
_OBSTACLE = " Obstacle: "
"""How a story says what stood in its way most; it ends with that."""
_UNIT = (
    "SELECT u.id, coalesce(u.title, u.summary, u.intent), u.last_at, u.outcomes, u.learned, u.completed, u.next_steps,"
    " u.session_id, u.summary FROM work_units u WHERE u.id IN "
)


class Found:
    """An episode that edited chosen files: how likely it is of use, and why."""

    __slots__ = ("chance", "files", "like", "unit_id")

    def __init__(self, unit_id: int) -> None:
        self.unit_id = unit_id
        self.files: dict[int, None] = {}
        self.like = 0.0
        """How much it speaks of the same, beside the one that does most."""
        self.chance = 0.0
        """That the session edits one of its files."""

    @property
    def score(self) -> float:
        bias, of_files, of_words = WEIGHTS
        return 1.0 / (1.0 + exp(-bias - of_files * self.chance - of_words * self.like))


def telling(db: Connection, present: Present, ranking: Ranking, chosen: Sequence[int]) -> list[Item]:
    """Items of the episodes that edited the chosen files, the likeliest of use first. Raises sqlite3.Error."""
    best = found(db, present.project_id, ranking, chosen) if chosen else []
    rows = {row[0]: row for row in units(db, [one.unit_id for one in best[: MOST * 3]])}
    out: list[Item] = []
    for one in best:
        row = rows.get(one.unit_id)
        if row is None or row[7] == present.session_id or len(out) >= MOST:
            continue
        files = tuple(ranking.paths[number] for number in list(one.files)[:FILES])
        out.append(told(row, present.at, files, one.score, _reason(one, files, present), unsaid=present.unsaid))
    return out


def found(db: Connection, project_id: int, ranking: Ranking, chosen: Sequence[int]) -> list[Found]:
    """The episodes that edited chosen files, the likeliest of use first."""
    turns = ranking.turns
    alike = sorted(turns, key=turns.__getitem__, reverse=True)[:LOOKED_AT]
    last = db.execute(
        "SELECT last_turn FROM context_files WHERE project_id = ? AND last_turn"  # noqa: S608 - placeholders
        f" AND file IN ({marks(len(chosen))})",
        (project_id, *chosen),
    ).fetchall()
    asked = {*alike, *(row[0] for row in last)}
    rows = db.execute(
        "SELECT t.turn, u.unit_id, t.edited FROM context_turns t JOIN unit_prompts u ON u.prompt_id = t.prompt_id"  # noqa: S608
        f" WHERE t.project_id = ? AND t.turn IN ({marks(len(asked))})",
        (project_id, *asked),
    ).fetchall()
    some = set(chosen)
    wanted = {number: chance for chance, number in ranking.files if number in some}
    most = max(turns.values(), default=1.0) or 1.0
    by_unit: dict[int, Found] = {}
    for turn, unit_id, edited in rows:
        one = by_unit.setdefault(unit_id, Found(unit_id))
        one.files.update((number, None) for number in unpack(edited) if number in wanted)
        one.like = max(one.like, turns.get(turn, 0.0) / most)
    out = [one for one in by_unit.values() if one.files]
    for one in out:
        missed = 1.0
        for number in one.files:
            missed *= 1.0 - wanted[number]
        one.chance = 1.0 - missed
        one.files = dict.fromkeys(sorted(one.files, key=wanted.__getitem__, reverse=True))
    out.sort(key=lambda one: (-one.score, -one.unit_id))
    return out


def units(db: Connection, ids: Sequence[int]) -> list[Unit]:
    """The rows that episodes are told from."""
    rows: list[Unit] = db.execute(f"{_UNIT}({marks(len(ids))})", tuple(ids)).fetchall()
    return rows


def told(
    row: Unit, now: int, files: tuple[str, ...], score: float, reason: str, item: str = "", kind: str = EPISODE,
    unsaid: Unsaid | None = None,
) -> Item:  # fmt: skip
    """An episode as an item: what it was about, how it ended, what failed on the way, what was done, learned, left.

    Without the sentences that a person excluded elsewhere.
    """
    number, intent, last_at, outcomes, learned, completed, next_steps, _, summary = row
    how = outcome(outcomes)
    about, own = quoted(headline(intent), _HEADLINE), f"episode/{number}"
    parts = [f"Episode {number}, {ago(now - last_at)}: {about}{f' ({how})' if how else ''}."]
    _, found_one, obstacle = (summary or "").rpartition(_OBSTACLE)
    if found_one and not (unsaid and unsaid.says(obstacle, own)):
        parts.append(f"Obstacle: {quoted(obstacle.rstrip('. '), _LINE)}.")
    for label, stored in (("Done", completed), ("Learned", learned), ("Left", next_steps)):
        said = [line for line in texts(stored) if not names_files(line)]
        if unsaid:
            said = [line for line in said if not unsaid.says(line, own)]
        lines = [quoted(line.rstrip(". "), _LINE) for line in said[:_LINES]]
        if lines:
            parts.append(f"{label}: {'; '.join(lines)}.")
    if files:
        parts.append(f"Files: {', '.join(name(path) for path in files)}.")
    return Item(item or own, kind, " ".join(parts), files=files, score=score, reason=reason)


def saying(text: str) -> str:
    """What is said of an episode, without its number and age: for a list, where these left no room for it."""
    head, colon, said = text.partition(": ")
    return said if colon and head.startswith("Episode ") else text


def headline(text: str) -> str:
    """The first sentence of what an episode was about."""
    line = text[: 4 * _HEADLINE].strip().partition("\n")[0]
    end = line.find(". ")
    return line[:end] if end > 0 else line.rstrip(".")


def names_files(line: str) -> bool:
    """Whether a line of the narrator only lists files: those that matter are named anyway."""
    return line.startswith(("Edited ", "Created ", "Passed", "Deleted "))


_OUTCOMES = (("reverted", "reverted"), ("thrown_away", "thrown away"), ("abandoned", "abandoned"), ("pushed", "pushed"),
             ("committed", "committed"))  # fmt: skip


def outcome(stored: str | None) -> str:
    """How an episode ended, in words, from what is stored of it."""
    from capture.jsonio import BadJson, loads

    try:
        found = loads(stored or "{}")
    except BadJson:
        return ""
    if not isinstance(found, dict):
        return ""
    tests = {"passed": "tests passed", "failed": "tests failed"}.get(str(found.get("tests")), "")
    end = next((word for key, word in _OUTCOMES if found.get(key)), "")
    return ", ".join(word for word in (tests, end) if word)


def _reason(one: Found, files: tuple[str, ...], present: Present) -> str:
    """Why an episode is told, in words."""
    more = f" and {len(files) - 1} more that are likely now" if len(files) > 1 else ""
    edited = f"it edited {name(files[0])}{more}"
    if present.prompt and one.like >= 0.5:
        return f"{edited}; it speaks of the same"
    return edited
