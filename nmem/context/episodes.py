"""Describes past episodes for a session's context: those related to its prompt, the one it continues, others meanwhile.

On the hook's path. An episode is told as knowledge: what it was about and when, what was decided or found out in the
agent's own closing words, what stood in the way, and how it ended. Files are named apart, each with its reason.
"""

from __future__ import annotations

from capture.jsonio import BadJson, loads
from nmem import names
from nmem.context import places, selection_store, settled
from nmem.context.alike import alike
from nmem.context.items import EPISODE, PIN, THREAD, Item
from nmem.episodes import open_ends
from nmem.episodes.text import words as plain
from nmem.retrieval.terms import ago, texts
from nmem.retrieval.words import words
from nmem.sanitize import quoted, whole
from nmem.threads.config import TRUNKS
from nmem.threads.continuity import CHOSEN, proposed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.alike import Alike
    from nmem.context.present import Present
    from nmem.context.selection_store import Unit
    from nmem.context.settled import Settled
    from nmem.context.unsaid import Unsaid

MOST = 3
GOES_ON = 0.95
"""The score of what a session goes on with."""
_FILES = 5
"""Files of an episode that are named: those it changed most."""
_HEADLINE, _LINE, _RESULT, _OBSTACLES = 180, 190, 380, 260
_WORK, _SAYS = 90, 4
"""Characters of the last work on a file, and the words that it must have to say something."""
_POINTING = frozenset(("this", "that", "these", "it", "you", "i", "me", "we", "following", "here", "now"))
"""Words of a line that says nothing outside its conversation."""
_SUBJECT = 2
"""Words that what an episode was about must have."""
_OBSTACLE = " Obstacle: "
"""How a story says what stood in its way most; it ends with that."""
_ECHO = 0.7
"""The part of a step's words in a prompt that asks the same again."""
_CHECKS = ("lint", "test", "build", "check", "format", "fmt", "vet", "tsc", "mypy", "ruff", "prettier", "clippy")
"""Parts of the names of commands that mostly fail while something is made."""


def related(db: Connection, present: Present, told: Sequence[Item] = (), thread_id: int | None = None) -> list[Item]:
    """Items of the episodes that are about the same work, the best first; none where nothing says enough of it.

    `told`: episodes among these are told already. `thread_id`: only those of a thread. Raises sqlite3.Error.
    """
    if not present.prompt:
        return []
    standing, known = _standing(db, alike(db, present))
    known |= settled.answered(
        db, [number for number in standing if number not in known], present.prompt, present.unsaid
    )
    rows = {row[0]: row for row in selection_store.units(db, list(standing), thread_id)}
    over = {item.id for item in told}
    some = [
        number
        for number in standing
        if number in rows and rows[number][5] != present.session_id and f"episode/{number}" not in over
    ][:MOST]
    files = changed(db, present, [rows[number] for number in some])
    told = [
        tell(rows[number], present.at, standing[number][0], standing[number][1], unsaid=present.unsaid,
             files=files[number], known=known.get(number), asked=present.prompt)
        for number in some
    ]  # fmt: skip
    return [item for item, number in zip(told, some, strict=True) if item.score and _named(rows[number])]


def _named(row: Unit) -> bool:
    """Whether what an episode was about says anything to who was not there."""
    return len(set(words(goal(row[1], row[6])))) >= _SUBJECT


def _standing(db: Connection, chosen: Sequence[Alike]) -> tuple[dict[int, tuple[float, str]], dict[int, Settled]]:
    """The episodes to tell, in order, each with its score and reason; and what was settled in them.

    An episode whose decisions were all replaced later gives its place to the one that replaced them.
    """
    known = settled.of_units(db, [one.unit_id for one in chosen])
    out: dict[int, tuple[float, str]] = {}
    for one in chosen:
        score = min(1.0, 0.5 + one.share)
        before = known.get(one.unit_id)
        if before is not None and before.outdated:
            later = before.replaced_by[-1]
            if later not in known:
                known |= settled.of_units(db, [later])
            out.setdefault(later, (score, f"its decision replaces that of episode {one.unit_id}"))
        else:
            out.setdefault(one.unit_id, (score, one.reason))
    return out, known


def changed(db: Connection, present: Present, rows: Sequence[Unit]) -> dict[int, tuple[str, ...]]:
    """The files that episodes changed, as they are called in this checkout: those that the prompt names come first,
    then the most edited.

    Those that are gone are left out.
    """
    known = _places(db, present)
    folder = "" if present.over else selection_store.root(db, present.project_id, present.session_id)
    over = {*present.given_files, *present.hot_files}
    out: dict[int, tuple[str, ...]] = {}
    for row in rows:
        own = _names(known, row[11])
        moved = places.called(db, present.project_id, folder, own)
        own = [path for path in dict.fromkeys(moved.get(one, one) for one in own) if path not in over]
        own.sort(key=lambda path: path not in present.named)
        out[row[0]] = tuple(places.there(folder, own, _FILES))
    return out


def edited(db: Connection, present: Present, ids: Sequence[int]) -> dict[int, list[str]]:
    """The files that episodes edited, by the project's names, those edited most first. Raises sqlite3.Error."""
    known = _places(db, present)
    return {number: _names(known, stored) for number, stored in selection_store.of_units(db, "hot_files", ids)}


def _places(db: Connection, present: Present) -> places.Places:
    """The checkouts of a session's project."""
    return places.Places(present.project, roots=selection_store.roots(db, present.project_id))


def _names(known: places.Places, stored: str | None) -> list[str]:
    """The files that an episode edited, the most edited first, each once."""
    return list(filter(None, dict.fromkeys(known.name_of(path) for path in _edited(stored))))


def last_work(db: Connection, present: Present, paths: Sequence[str]) -> dict[str, str]:
    """In words, the last episode that edited each of some files, by path. Raises sqlite3.Error."""
    if not paths:
        return {}
    out = {}
    for path, about, at in selection_store.last_work(db, present.project_id, present.session_id, paths):
        line = whole(headline(about), _WORK)
        alone = _POINTING.isdisjoint(plain(line))
        if alone and len(set(words(line))) >= _SAYS and not (present.unsaid and present.unsaid.says(line)):
            out[path] = f"last for {quoted(line, _WORK)}, {ago(present.at - at)}"
    return out


def _edited(stored: str | None) -> list[str]:
    """The paths that an episode edited, the most edited first, by what is counted of it."""
    found = _loaded(stored)
    each = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    rows = [(int(one.get("edits") or 0), str(one.get("path") or "")) for one in each]
    return [path for edits, path in sorted(rows, key=lambda row: -row[0]) if edits and path]


def _committed(stored: str | None, about: str) -> str:
    """The subject of an episode's last commit, where it is whole and says more than what the episode was about."""
    found = _loaded(stored)
    for one in reversed(found if isinstance(found, list) else []):
        subject = str(one.get("message") or "").partition("\n")[0].strip() if isinstance(one, dict) else ""
        if not subject or "$(" in subject or whole(subject, _LINE) != subject:
            continue
        own = set(words(subject))
        if own and len(own.difference(words(about))) > len(own) // 2:
            return subject
    return ""


def _loaded(stored: str | None) -> object:
    try:
        return loads(stored or "[]")
    except BadJson:
        return []


def tell(
    row: Unit, now: int, score: float, reason: str, item: str = "", kind: str = EPISODE, unsaid: Unsaid | None = None,
    files: tuple[str, ...] = (), known: Settled | None = None, asked: str = "",
) -> Item:  # fmt: skip
    """An episode as an item: what it was about, what was decided, what came of it, what stood in its way.

    `asked`: what the session asks now. Without the sentences that a person excluded elsewhere. One of which nothing but
    its subject is known scores 0.
    """
    number, intent, last_at, outcomes, *_ = row
    how = outcome(outcomes)
    about = goal(intent, row[6])
    parts = [f"Episode {number}, {ago(now - last_at)}: {about}{f' ({how})' if how else ''}."]
    parts += _told(row, about, files, unsaid, known, asked)
    score = score if len(parts) > 1 or kind == PIN else 0.0
    return Item(item or f"episode/{number}", kind, " ".join(parts), files=files, score=score, reason=reason)


def tell_continued(
    db: Connection, row: Unit, now: int, reason: str, unsaid: Unsaid | None = None, known: Settled | None = None,
    files: tuple[str, ...] = (), asked: str = "",
) -> Item:  # fmt: skip
    """The episode that a session goes on with: as above, and what it left that is still open.

    `asked`: what the session asks now; that it was asked before is no news. Scores 0 where nothing else is known.
    """
    number, intent, last_at, outcomes, next_steps, session_id, _, _, branch, _, told_at, *_ = row
    how = outcome(outcomes)
    where = f", branch {told}" if branch and (told := names.told(branch)) else ""
    about = goal(intent, row[6])
    parts = [f"You were working on {about} {ago(now - last_at)} (episode {number}{where}{f'; {how}' if how else ''})."]
    own = f"episode/{number}"
    parts += _told(row, about, files, unsaid, known, asked)
    steps = [line for line in texts(next_steps) if not (unsaid and unsaid.says(line, own))]
    steps = [line for line in steps if not (asked and _echoes(line, asked))]
    left = [line for line in open_ends.left(db, session_id, told_at, steps) if whole(line, _LINE)]
    if left:
        parts.append(f"Left open: {'; '.join(quoted(line.rstrip('. '), _LINE) for line in left[:2])}.")
    return Item(own, THREAD, " ".join(parts), files=files, score=GOES_ON if len(parts) > 1 else 0.0, reason=reason)


def _echoes(step: str, asked: str) -> bool:
    """Whether a step only repeats what is asked now."""
    own = set(words(step.partition(":")[2])) if step.startswith(open_ends.UNANSWERED) else set()
    return bool(own) and len(own & set(words(asked))) >= _ECHO * len(own)


def _told(
    row: Unit, about: str, files: Sequence[str], unsaid: Unsaid | None, known: Settled | None, asked: str
) -> list[str]:  # fmt: skip
    """What was settled in an episode, found out and changed; without what a person excluded."""
    own = f"episode/{row[0]}"
    result = (row[7] or "")[:_RESULT]
    if unsaid and unsaid.says(row[7] or "", own):
        result = ""
    decided = known.told(unsaid, own, result, asked) if known else []
    return [*decided, *_knowledge(row, result, unsaid), *_changes(row, about, files, unsaid)]


def _changes(row: Unit, about: str, files: Sequence[str], unsaid: Unsaid | None) -> list[str]:
    """What an episode changed: the subject of its last commit, and the files."""
    subject = _committed(row[12], about)
    parts = [f"Committed: {quoted(subject, _LINE)}."] if subject and not (unsaid and unsaid.says(subject)) else []
    if named := list(filter(None, map(names.told, files))):
        parts.append(f"Changed: {', '.join(named)}.")
    return parts


def _knowledge(row: Unit, result: str, unsaid: Unsaid | None) -> list[str]:
    """What an episode found out: the agent's closing words, and what stood in the way."""
    own = f"episode/{row[0]}"
    parts = []
    if result:
        said = "; ".join(quoted(line.rstrip(". "), _RESULT) for line in result.split("\n") if line.strip(". "))
        parts.append(f"{open_ends.REPORTED}{said}.")
    _, found, obstacle = (row[6] or "").rpartition(_OBSTACLE)
    each = whole(obstacle, _OBSTACLES).replace(". failed ", ".\0failed ").split(". ")
    obstacle = ". ".join(one.replace("\0", " ") for one in each if _tells(one.replace("\0", " ")))
    if found and obstacle and not (unsaid and unsaid.says(obstacle, own)):
        parts.append(f"In the way: {quoted(obstacle.rstrip('. '), _OBSTACLES + 2)}.")
    return parts


def _tells(obstacle: str) -> bool:
    """Whether an obstacle is worth an agent's attention: not one that went away, nor a failure that says nothing.

    A check that fails once or twice says nothing of the work, nor does a call that was refused.
    """
    what, failed, how = obstacle.partition(" failed ")
    if not failed:
        return not obstacle.startswith("The user refused ")
    if "passed later" in how or "result not seen" in how or "(" not in how:
        return False
    return not (any(check in what for check in _CHECKS) and how.startswith(("once", "2 times")))


def saying(text: str) -> str:
    """What is said of an episode, without its number and age: for a list, where these left no room for it."""
    head, colon, said = text.partition(": ")
    return said if colon and head.startswith("Episode ") else text


def goal(intent: str, summary: str | None) -> str:
    """What an episode was about, quoted; where its prompt is an opening alone, by what was told of it."""
    line = headline(intent)
    if line.endswith((":", "：")) and summary:
        line = headline(summary.partition(_OBSTACLE)[0])
    return quoted(whole(line, _HEADLINE) or line, _HEADLINE)


def headline(text: str) -> str:
    """What an episode was about in one sentence: its first line that is not an opening such as "Do the following:"."""
    lines = [line.strip().lstrip("#*->• ").strip() for line in text[: 8 * _HEADLINE].strip().split("\n")]
    lines = [line for line in lines if line] or [""]
    line = next((line for line in lines if not line.endswith((":", "："))), lines[0])
    end = line.find(". ")
    return line[:end] if end > 0 else line.rstrip(".")


def outcome(stored: str | None) -> str:
    """How an episode ended, in words, from what is stored of it."""
    found = _loaded(stored or "{}")
    return open_ends.told(found) if isinstance(found, dict) else ""


# what is told at a start: nobody has asked for anything yet. What was worked on last in a project is, seven times in
# eight, not what the next session is about, and the prompt that follows in a moment selects better. So without a sign
# nothing but pins is told; but a session that is resumed still knows what it was at

SESSIONS = 60
"""The newest sessions of a project among which one on the same branch is looked for."""


def goes_on(db: Connection, present: Present) -> str:
    """What says that a session goes on with earlier work, in words; empty when nothing does."""
    if proposed(db, present.session_id, present.at)[1] == CHOSEN:
        return "the thread was chosen"
    where = present.project_id, present.session_id, present.branch
    if present.branch and present.branch not in TRUNKS and selection_store.worked_on(db, *where, SESSIONS):
        return f"earlier work on branch {present.branch}"
    return ""


def meanwhile(db: Connection, present: Present) -> list[Item]:
    """Episodes of other sessions that edited this one's files since it last spoke, the newest first."""
    mine = set(present.hot_files)
    _, left, _ = selection_store.spoke(db, present.session_id)
    if left is None or not mine:
        return []
    found = selection_store.since(db, present.project_id, present.session_id, left, SESSIONS)
    shared = {number: files for number, hot in found if (files := _edited_of(hot, mine))}
    rows = selection_store.units(db, list(shared)[:MOST]) if shared else []
    return [
        tell(row, present.at, 0.8, f"it edited {shared[row[0]][0]} while this session was away",
             unsaid=present.unsaid, files=shared[row[0]])
        for row in sorted(rows, key=lambda row: row[2], reverse=True)
    ]  # fmt: skip


def _edited_of(hot: str, mine: set[str]) -> tuple[str, ...]:
    """Which of a session's files another episode edited, by what is counted of it."""
    found = _loaded(hot)
    each = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return tuple(str(one["path"]) for one in each if one.get("edits") and one.get("path") in mine)
