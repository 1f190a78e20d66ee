"""Stores and reads stories of episodes, session summaries and failed model requests, and finds which are due.

The only place that writes `narrations`, `session_summaries` and `llm_attempts`. The narratives' text index follows by
triggers. Writing functions run inside the caller's transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.episodes import units
from nmem.episodes.narrate.records import Narrative
from nmem.episodes.store import OF
from nmem.store.store import keep_upkeep_note, upkeep_note
from nmem.text import texts

EXTRACTIVE = "extractive"
_LISTS = ("learned", "completed", "next_steps", "notes", "files_read", "files_edited")
SESSION = "boundaries/"
"""Before a session's id: what a model was asked about the whole of it."""
_WORTH = "(u.turn_count >= 2 OR u.obs_count >= 5)"
"""A single quick request is its own story: no model is asked about it unless a person wants it."""
_SHORT, _MORE = 3, 3
"""Turns up to which an episode that goes on is told anew after each; from then on when one of so many turns is new."""
_UNTOLD = f"(n.unit_id IS NULL OR u.narrated_at IS NULL OR n.told_of != {OF})"


@dataclass(frozen=True, slots=True)
class Story:
    """A narrative with how it came about, ready to be stored."""

    narrative: Narrative
    summary: str
    by_model: bool
    fallback: str = ""
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of an episode's narration."""

    told_of: str
    by_model: bool
    fallback: str
    outcome: str
    obstacle: str
    marks: tuple[str, ...]


def told_by(narrator: str) -> str:
    """Who tells a story, in words."""
    return "from the records alone" if narrator == EXTRACTIVE else f"told by {narrator}"


def untold(db: Connection, limit: int = 1000) -> list[int]:
    """Episodes that are over and were not told, or not as they are now; those that ended last first."""
    found = db.execute(
        "SELECT u.id FROM work_units u INDEXED BY work_units_standing LEFT JOIN narrations n ON n.unit_id = u.id"  # noqa: S608
        f" WHERE u.state = 'closed' AND {_UNTOLD} ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (limit,),
    )
    return [row[0] for row in found]


def turns_of(of: str) -> int:
    """The turns of an episode in such a text as `OF` makes; 0 where it is none."""
    number = of.split(".")[2:3]
    return int(number[0]) if number and number[0].isdigit() else 0


def going(db: Connection, since: int, limit: int = 20) -> list[int]:
    """Open episodes in which something happened since a moment (ms) and that were not told as they are now.

    One of several turns is told anew once a third of them is new: telling costs more with each of them.
    """
    found = db.execute(
        "SELECT u.id, u.turn_count, n.told_of FROM work_units u LEFT JOIN narrations n ON n.unit_id = u.id"  # noqa: S608
        f" WHERE u.state = 'open' AND u.last_at >= ? AND {_UNTOLD} ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (since, limit),
    )
    return [
        number
        for number, turns, told_of in found.fetchall()
        if turns <= _SHORT or _MORE * (turns - turns_of(told_of or "")) >= turns
    ]


def uncut(db: Connection, sessions: Sequence[str]) -> list[str]:
    """Those of some sessions that have prompts in no episode, in the same order."""
    found = db.execute(
        "SELECT DISTINCT p.session_id FROM prompts p WHERE p.session_id IN (SELECT value FROM json_each(?))"
        " AND p.source = 'user' AND p.agent_id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM unit_prompts u WHERE u.prompt_id = p.id)",
        (json.dumps(list(sessions)),),
    )
    known = {row[0] for row in found}
    return [one for one in sessions if one in known]


def untold_of(db: Connection, sessions: Sequence[str]) -> list[int]:
    """The same of these sessions alone, all of them."""
    found = db.execute(
        "SELECT u.id FROM work_units u LEFT JOIN narrations n ON n.unit_id = u.id WHERE u.state = 'closed'"  # noqa: S608
        f" AND u.session_id IN (SELECT value FROM json_each(?)) AND {_UNTOLD} ORDER BY u.last_at DESC, u.id DESC",
        (json.dumps(sessions),),
    )
    return [row[0] for row in found]


def outdated(db: Connection, session_id: str) -> list[int]:
    """Episodes of a session whose story is of other records than they hold, also such as go on; the oldest first."""
    found = db.execute(
        "SELECT u.id FROM work_units u JOIN narrations n ON n.unit_id = u.id WHERE u.session_id = ?"  # noqa: S608
        f" AND n.told_of != {OF} ORDER BY u.id",
        (session_id,),
    )
    return [row[0] for row in found]


def tellable(db: Connection, limit: int = 200, *, alone: bool = False) -> list[int]:
    """Episodes that no model has told although one could, the newest first; not those that were swept.

    `alone`: only those whose session was judged already, in which they are the rest.
    """
    rest = (
        " AND (EXISTS (SELECT 1 FROM llm_attempts s WHERE s.subject = ? || u.session_id) OR EXISTS (SELECT 1"
        " FROM prompts p JOIN unit_prompts x ON x.prompt_id = p.id WHERE p.session_id = u.session_id"
        " AND x.decided_by = 'llm'))"
    )
    found = db.execute(
        "SELECT u.id FROM work_units u JOIN narrations n ON n.unit_id = u.id LEFT JOIN llm_attempts a"  # noqa: S608
        " ON a.subject = 'episode/' || u.id AND a.told_of = n.told_of WHERE u.state = 'closed' AND NOT n.by_model"
        " AND NOT EXISTS (SELECT 1 FROM swept_sessions g WHERE g.session_id = u.session_id)"
        f" AND {_WORTH} AND a.subject IS NULL{rest if alone else ''} ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (SESSION, limit) if alone else (limit,),
    )
    return [row[0] for row in found]


def known(db: Connection, unit_id: int) -> Known | None:
    """How an episode was told, or None when it was not."""
    row = db.execute(
        "SELECT told_of, by_model, fallback, outcome, obstacle, marks FROM narrations WHERE unit_id = ?", (unit_id,)
    ).fetchone()
    return Known(row[0], bool(row[1]), row[2], row[3], row[4], texts(row[5])) if row else None


def renewable(db: Connection, unit_id: int) -> bool:
    """Whether its story is of its records alone, all of which are there still: told again it loses nothing."""
    return db.execute(
        "SELECT 1 FROM narrations n JOIN work_units u ON u.id = n.unit_id WHERE u.id = ? AND NOT n.by_model"
        " AND NOT EXISTS (SELECT 1 FROM swept_sessions g WHERE g.session_id = u.session_id)",
        (unit_id,),
    ).fetchone() is not None  # fmt: skip


def holds(db: Connection, unit_id: int) -> str:
    """What an episode holds now (see `store.OF`); empty when it is gone."""
    row = db.execute(f"SELECT {OF} FROM work_units u WHERE id = ?", (unit_id,)).fetchone()  # noqa: S608
    return str(row[0]) if row else ""


def prompts(db: Connection, unit_id: int) -> frozenset[int]:
    """The ids of the prompts that an episode holds."""
    return frozenset(row[0] for row in db.execute("SELECT prompt_id FROM unit_prompts WHERE unit_id = ?", (unit_id,)))


def _lists(told: Narrative) -> dict[str, str]:
    """The lists of a story as they are stored, in the order of `_LISTS`."""
    return dict(zip(_LISTS, map(_json, (
        told.learned, told.completed, told.next_steps, told.notes, told.files_read, told.files_edited,
    )), strict=True))  # fmt: skip


def says(db: Connection, unit_id: int, story: Story) -> bool:
    """Whether a story is stored word for word."""
    told = story.narrative
    row = db.execute(
        "SELECT u.summary, coalesce(u.heading, ''), n.outcome, n.obstacle, n.marks,"  # noqa: S608
        f" {', '.join(_LISTS)} FROM work_units u JOIN narrations n ON n.unit_id = u.id WHERE u.id = ?",
        (unit_id,),
    ).fetchone()
    return row is not None and tuple(row) == (
        story.summary,
        told.title,
        told.outcome,
        told.obstacle,
        _json(told.marks),
        *_lists(told).values(),
    )


def store(db: Connection, unit_id: int, of: str, story: Story, now: int, *, force: bool = False) -> bool:
    """Store a story; False when the episode has changed meanwhile, or what is stored is better.

    A model's story is better than an extractive one of the same records, unless `force`.
    """
    if not of or holds(db, unit_id) != of:
        return False
    before = known(db, unit_id)
    if before and before.told_of == of and before.by_model and not story.by_model and not force:
        if story.fallback:
            db.execute("UPDATE narrations SET fallback = ? WHERE unit_id = ?", (story.fallback, unit_id))
        return False
    told = story.narrative
    at = db.execute(
        "SELECT max(?, coalesce(narrated_at + 1, 0)) FROM work_units WHERE id = ?", (now, unit_id)
    ).fetchone()
    units.annotated(
        db, unit_id,
        {"summary": story.summary, "heading": told.title or None, "narrator": told.narrator, "narrated_at": at[0],
         **_lists(told)},
    )  # fmt: skip
    db.execute(
        "INSERT OR REPLACE INTO narrations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (unit_id, of, int(story.by_model), story.fallback, told.outcome, told.obstacle, _json(told.marks),
         story.dropped),
    )  # fmt: skip
    settle_end(db, unit_id, frozenset(told.marks))
    return True


def settle_end(db: Connection, unit_id: int, marks: frozenset[str]) -> None:
    """How an episode ended, counted call by call, where its story found otherwise: a trial that failed says nothing of
    the tests, nor does a failure after which they ran again unseen, nor do a few that passed after all had failed;
    a plan that was put to the person, a turn that was broken off or an answer leaves nothing abandoned; work is not
    reverted where a commit or an edit of it stands.
    """
    tests = next((end for end in ("passed", "failed") if f"tests_{end}" in marks), None)
    for name, so, value, otherwise in (
        ("tests", " != ''", tests, True),
        ("abandoned", "", False, "abandoned" not in marks and not ("tests_failed" in marks and marks & BROKEN_OFF)),
        ("reverted", "", 0, bool(marks & {"committed", "uncommitted"}) and "abandoned" not in marks),
    ):
        if otherwise:
            db.execute(
                f"UPDATE work_units SET outcomes = json_set(outcomes, '$.{name}', json(?))"  # noqa: S608 - our names
                f" WHERE id = ? AND json_valid(outcomes) AND json_extract(outcomes, '$.{name}'){so}",
                (json.dumps(value), unit_id),
            )


BROKEN_OFF = {"interrupted", "unfinished", "cut_off"}


def settle_ends(db: Connection, session_id: str) -> None:
    """Corrects the counted ends of a session again after a recount, where a story was told of the same records."""
    found = db.execute(
        "SELECT u.id, n.marks FROM work_units u JOIN narrations n ON n.unit_id = u.id WHERE u.session_id = ?"  # noqa: S608
        f" AND n.told_of = {OF}",
        (session_id,),
    ).fetchall()
    for unit_id, marks in found:
        settle_end(db, unit_id, frozenset(texts(marks)))


def say_fallback(db: Connection, unit_id: int, reason: str) -> None:
    """Why no model told an episode that is told already."""
    db.execute(
        "UPDATE narrations SET fallback = ? WHERE unit_id = ? AND NOT by_model AND fallback != ?",
        (reason, unit_id, reason),
    )


# told by an older narrator

NARRATOR = "narrator"
"""A row of `upkeep`: how far retelling got."""


def reached(db: Connection) -> tuple[int, int]:
    """Down to which episode stories were looked at, and for which wording; 0 where none is known."""
    row = upkeep_note(db, NARRATOR)
    return (int(row[0]), int(row[1])) if row is not None and row[1].isdecimal() else (0, 0)


def reach(db: Connection, below: int, wording: int) -> None:
    """Note the same. Inside a transaction."""
    keep_upkeep_note(db, NARRATOR, below, str(wording))


def worded_before(db: Connection, below: int) -> Iterator[int]:
    """Episodes with smaller numbers whose stories are of their records alone, as they are now; one after the other."""
    found = db.execute(
        "SELECT u.id FROM work_units u JOIN narrations n ON n.unit_id = u.id WHERE u.id < ? AND u.state = 'closed'"  # noqa: S608
        f" AND NOT u.pinned AND NOT n.by_model AND n.told_of = {OF}"
        " AND NOT EXISTS (SELECT 1 FROM swept_sessions g WHERE g.session_id = u.session_id) ORDER BY u.id DESC",
        (below,),
    )
    return (row[0] for row in found)


def after_session(db: Connection, unit_id: int) -> int:
    """One later than the newest story of its session, not now: the session is summed up anew, and its threads are not
    condensed by a model for it.
    """
    row = db.execute(
        "SELECT max(narrated_at) + 1 FROM work_units"
        " WHERE session_id = (SELECT session_id FROM work_units WHERE id = ?)",
        (unit_id,),
    ).fetchone()
    return int(row[0] or 0)


# what a model could not answer


def attempted(db: Connection, subject: str, of: str, failure: str, now: int) -> None:
    """Count a failure; what is asked about something else starts from one again."""
    db.execute(
        "INSERT INTO llm_attempts VALUES (?, ?, 1, ?, ?) ON CONFLICT (subject) DO UPDATE SET attempts ="
        " CASE WHEN told_of = excluded.told_of THEN attempts + 1 ELSE 1 END, told_of = excluded.told_of,"
        " at = excluded.at, failure = excluded.failure",
        (subject, of, now, failure),
    )


def unjudged(db: Connection, limit: int = 50) -> list[tuple[str, str]]:
    """Sessions that are over and that no model has judged, the newest first: (id, what they hold).

    Such as have boundaries open to question, or episodes worth a story; each is asked about once for what it holds.
    """
    found = db.execute(
        "WITH over AS (SELECT p.session_id AS id, count(*) || '.' || max(p.id) AS holds, max(p.at) AS at FROM prompts p"  # noqa: S608
        " JOIN unit_prompts x ON x.prompt_id = p.id"
        " WHERE p.session_id IN (SELECT q.session_id FROM unit_prompts o JOIN prompts q ON q.id = o.prompt_id"
        "   WHERE o.offered UNION SELECT u.session_id FROM work_units u LEFT JOIN narrations n ON n.unit_id = u.id"
        f"  WHERE {_WORTH} AND NOT coalesce(n.by_model, 0))"
        " AND NOT EXISTS (SELECT 1 FROM work_units u WHERE u.session_id = p.session_id AND u.state = 'open')"
        " AND NOT EXISTS (SELECT 1 FROM swept_sessions g WHERE g.session_id = p.session_id)"
        " GROUP BY p.session_id HAVING sum(x.decided_by = 'llm') = 0)"
        " SELECT id, holds FROM over WHERE NOT EXISTS (SELECT 1 FROM llm_attempts a WHERE a.subject = ? || over.id"
        "  AND a.told_of = over.holds) ORDER BY at DESC LIMIT ?",
        (SESSION, limit),
    )
    return [(row[0], row[1]) for row in found]


# sessions


@dataclass(frozen=True, slots=True)
class Part:
    """One told episode of a session."""

    id: int
    title: str
    turns: int
    resumes: int | None
    state: str
    narrator: str
    narrated_at: int
    summary: str
    lists: dict[str, tuple[str, ...]]


def unsummarised(db: Connection, sessions: Sequence[str] | None = None) -> list[str]:
    """Sessions all of whose episodes are over and told, and whose summary is missing or older than that.

    `sessions`: only these. The newest first.
    """
    of = "INDEXED BY work_units_standing" if sessions is None else ""
    only = "" if sessions is None else "WHERE u.session_id IN (SELECT value FROM json_each(?))"
    found = db.execute(
        f"SELECT u.session_id FROM work_units u {of} LEFT JOIN session_summaries s ON s.session_id = u.session_id"  # noqa: S608
        f" {only} GROUP BY u.session_id HAVING sum(u.state = 'open') = 0 AND sum(u.narrated_at IS NULL) = 0"
        " AND max(u.narrated_at) > coalesce(max(s.at), -1) ORDER BY max(u.last_at) DESC, u.session_id",
        () if sessions is None else (json.dumps(sessions),),
    )
    return [row[0] for row in found]


def parts(db: Connection, session_id: str) -> list[Part]:
    """The told episodes of a session, oldest first."""
    found = db.execute(
        "SELECT id, coalesce(title, agent_title, heading, ''), turn_count, resumes, state, narrator, narrated_at,"  # noqa: S608
        f" coalesce(summary, ''), {', '.join(_LISTS)} FROM work_units WHERE session_id = ?"
        " AND narrated_at IS NOT NULL ORDER BY started_at, id",
        (session_id,),
    )
    return [
        Part(id_, title, turns, resumes, state, teller, at, summary, dict(zip(_LISTS, map(texts, lists), strict=True)))
        for id_, title, turns, resumes, state, teller, at, summary, *lists in found
    ]


def store_summary(db: Connection, session_id: str, told: Narrative, at: int) -> None:
    """Store a session's summary; `at` is when the newest of its episodes was told."""
    signature = db.execute("SELECT signature FROM session_signatures WHERE session_id = ?", (session_id,)).fetchone()
    db.execute(
        "INSERT OR REPLACE INTO session_summaries (session_id, intent, learned, completed, next_steps, files_read,"
        " files_edited, notes, signature, narrator, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session_id, told.intent, _json(told.learned), _json(told.completed), _json(told.next_steps),
         _json(told.files_read), _json(told.files_edited), _json(told.notes), signature[0] if signature else "{}",
         told.narrator, at),
    )  # fmt: skip


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def ids_of_session(db: Connection, session_ids: Iterable[str]) -> list[int]:
    """The episodes of some sessions that are over, oldest first."""
    return [
        row[0]
        for session_id in session_ids
        for row in db.execute(
            "SELECT id FROM work_units WHERE session_id = ? AND state = 'closed' ORDER BY started_at, id", (session_id,)
        ).fetchall()
    ]


def newest(db: Connection) -> list[int]:
    """The episode in which something happened last, if there is any."""
    return [row[0] for row in db.execute("SELECT id FROM work_units ORDER BY last_at DESC, id DESC LIMIT 1")]
