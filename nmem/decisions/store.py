"""The tables of decisions (SQL): what a person settled, quoted from the prompts that state it; what was searched.

`holds`: what an episode holds as it is searched now, as SQL over work_units `u`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from nmem.hours import utc

FOUND, KEPT, DISMISSED = "found", "kept", "dismissed"
_CUT = 400
"""Characters of a text whose place is not known any more."""


def _quote(name: str, of: str) -> str:
    return (
        f"CASE WHEN {of}.id IS NULL THEN '' WHEN length({of}.content) = d.{name}_size"
        f" THEN substr({of}.content, d.{name}_from + 1, d.{name}_to - d.{name}_from)"
        f" ELSE substr({of}.content, 1, {_CUT}) END"
    )


_SELECT = f"""
SELECT d.id, d.prompt_id, coalesce(x.unit_id, 0), d.session_id, j.id, j.name, d.at, d.kind, d.confidence, d.state,
  {_quote("said", "p")}, {_quote("asked", "a")}, {_quote("restated", "r")}, d.wording,
  coalesce(n.id, 0), coalesce(n.at, 0), coalesce(y.unit_id, 0)
FROM said_decisions d JOIN prompts p ON p.id = d.prompt_id JOIN sessions s ON s.id = d.session_id
JOIN projects j ON j.id = s.project_id LEFT JOIN unit_prompts x ON x.prompt_id = d.prompt_id
LEFT JOIN prompts a ON a.id = d.asked_id LEFT JOIN prompts r ON r.id = d.restated_id
LEFT JOIN said_decisions n ON n.id = d.superseded_by AND n.state != 'dismissed'
LEFT JOIN unit_prompts y ON y.prompt_id = n.prompt_id
"""  # noqa: S608 - our words
_NAMED = (("prompt", "d.prompt_id"), ("prompt", "d.asked_id"), ("prompt", "d.restated_id"),
          ("episode", "x.unit_id"), ("session", "d.session_id"))  # fmt: skip
"""What may say a decision, and where it stands."""
_REPLACED = """
SELECT {0}, coalesce(n.id, 0), coalesce(n.at, 0), coalesce(y.unit_id, 0) FROM said_decisions d
LEFT JOIN unit_prompts x ON x.prompt_id = d.prompt_id
LEFT JOIN said_decisions n ON n.id = d.superseded_by AND n.state != 'dismissed'
LEFT JOIN unit_prompts y ON y.prompt_id = n.prompt_id
WHERE {0} IN (SELECT value FROM json_each(?)) AND d.state != 'dismissed' ORDER BY d.at, d.id
"""


@dataclass(frozen=True, slots=True)
class Later:
    """The decision that holds instead of an earlier one."""

    id: int
    at: int
    unit_id: int

    @property
    def told(self) -> str:
        """Which one, and when it was made."""
        episode = f" of episode/{self.unit_id}" if self.unit_id else ""
        return f"decision/{self.id}{episode} on {utc(self.at).astimezone():%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person settled, with the question it answers."""

    id: int
    prompt_id: int
    unit_id: int
    """The episode; 0 where the prompt belongs to none."""
    session_id: str
    project_id: int
    project: str
    at: int
    kind: str
    """answer correction rule confirmation"""
    confidence: float
    state: str
    """found kept dismissed"""
    said: str
    """The person's words."""
    question: str
    """What the agent asked or proposed, without marks of bold; so is `restated`."""
    restated: str
    """How the agent said it again."""
    wording: str
    """A person's own wording of it, made later."""
    superseded: Later | None

    @property
    def text(self) -> str:
        """The decision in one text: worded by a person, else in the words it was said in."""
        return self.wording or self.said

    @property
    def written(self) -> str:
        """The decision as a section of a file: what was asked, the person's words, how the agent said it again."""
        day = f"{utc(self.at).astimezone():%Y-%m-%d}"
        parts = (f"Asked: {_flat(self.question)}" if self.question else "", _flat(self.text),
                 f"In other words: {_flat(self.restated)}" if self.restated else "",
                 f"(decided on {day}, decision/{self.id})")  # fmt: skip
        return "\n\n".join(part for part in parts if part)


def _flat(text: str) -> str:
    return " ".join(text.split())


def get(db: Connection, number: int) -> Decision | None:
    """One decision, also a dismissed one."""
    return next(iter(_found(db, "WHERE d.id = ?", (number,))), None)


def of_units(db: Connection, unit_ids: Iterable[int]) -> list[Decision]:
    """Those of some episodes, the oldest first; none that was dismissed."""
    where = "WHERE x.unit_id IN (SELECT value FROM json_each(?)) AND d.state != 'dismissed' ORDER BY d.at, d.id"
    return _found(db, where, (json.dumps(sorted(unit_ids)),))


def of_project(db: Connection, project_id: int, most: int) -> list[Decision]:
    """The newest of a project, dismissed ones among them."""
    return _found(db, "WHERE j.id = ? ORDER BY d.at DESC, d.id DESC LIMIT ?", (project_id, most))


def listed(db: Connection, project: str = "", since: int = 0, limit: int = 50, *, dismissed: bool = False
           ) -> list[Decision]:  # fmt: skip
    """The newest first, of one project (its name, key or root) or of all."""
    where = """WHERE (?1 = '' OR ?1 IN (j.name, j.key, j.root)) AND d.at >= ?2 AND (?3 OR d.state != 'dismissed')
        ORDER BY d.at DESC, d.id DESC LIMIT ?4"""
    return _found(db, where, (project, since, dismissed, limit))


def superseded(db: Connection, ids: Iterable[str]) -> dict[str, Later]:
    """Of some ids (prompt/5, episode/3, session/a) those whose decisions hold no more, with what replaced the last.

    An agent's words count as the decision that they ask for or restate.
    """
    named: dict[str, list[str | int]] = {}
    for one in ids:
        kind, _, rest = one.partition("/")
        named.setdefault(kind, []).append(int(rest) if kind != "session" and rest.isdecimal() else rest)
    out: dict[str, Later] = {}
    for kind, column in _NAMED:
        wanted = json.dumps(named.get(kind, []))
        held: dict[str, Later | None] = {}
        for which, *later in db.execute(_REPLACED.format(column), (wanted,)).fetchall() if named.get(kind) else ():
            item = f"{kind}/{which}"
            held[item] = Later(*later) if later[0] and held.get(item, True) else None
        out |= {item: later for item, later in held.items() if later and item not in out}
    return out


def talks(db: Connection, unit_ids: Iterable[int], most: int = 6_000) -> dict[int, str]:
    """All that was said in each of some episodes, cut to what is compared."""
    sql = """SELECT u.id, substr(p.content, 1, ?) FROM work_units u JOIN prompts p ON p.session_id = u.session_id
        AND p.at BETWEEN u.started_at AND u.last_at + 1 AND p.agent_id IS NULL AND p.source != 'machine' AND p.kind
        IN ('prompt', 'late', 'closing') WHERE u.id IN (SELECT value FROM json_each(?)) ORDER BY u.id, p.at, p.id"""
    found = db.execute(sql, (most, json.dumps(sorted(unit_ids))))
    out: dict[int, str] = {}
    for unit_id, text in found:
        if len(out.get(unit_id, "")) < most:
            out[unit_id] = f"{out.get(unit_id, '')}{text}\n"[:most]
    return out


_BOLD = re.compile(r"(?<![\w/*(`])\*\*(?=[^\s*])([^*`]+?)(?<=\S)\*\*(?![\w/*])")
"""Words between marks of bold: no glob, no argument."""


def _found(db: Connection, where: str, given: Sequence[object]) -> list[Decision]:
    out = []
    for row in db.execute(_SELECT + where, given).fetchall():
        plain, later = list(row)[:14], Later(*tuple(row)[14:])
        if plain[10] or plain[13]:
            plain[11:13] = (_BOLD.sub(r"\1", text) for text in plain[11:13])
            out.append(Decision(*(*plain, later if later.id else None)))
    return out


# What is searched


_DUE = """
SELECT DISTINCT u.session_id FROM work_units u LEFT JOIN decided_units d ON d.unit_id = u.id
WHERE u.state = 'closed' AND (d.told_of IS NULL OR d.told_of != {holds})
UNION SELECT DISTINCT d.session_id FROM said_decisions d
JOIN prompts p ON p.id IN (d.prompt_id, d.asked_id, d.restated_id)
WHERE length(p.content) != CASE p.id WHEN d.prompt_id THEN d.said_size WHEN d.asked_id THEN d.asked_size
  ELSE d.restated_size END AND p.content != ''
"""
_STORE = """
INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence, revises,
  asked_id, asked_from, asked_to, asked_size, restated_id, restated_from, restated_to, restated_size)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (prompt_id) DO UPDATE SET said_from = excluded.said_from, said_to = excluded.said_to,
  said_size = excluded.said_size, kind = excluded.kind, confidence = excluded.confidence, revises = excluded.revises,
  asked_id = excluded.asked_id, asked_from = excluded.asked_from, asked_to = excluded.asked_to,
  asked_size = excluded.asked_size, restated_id = excluded.restated_id, restated_from = excluded.restated_from,
  restated_to = excluded.restated_to, restated_size = excluded.restated_size
"""


def due(db: Connection, holds: str) -> list[str]:
    """Sessions with episodes that are over and were not searched, or with decisions whose prompts have changed."""
    return [row[0] for row in db.execute(_DUE.format(holds=holds)).fetchall()]


def turns(db: Connection, session_id: str) -> list[tuple[int, int, str, int]]:
    """What a person and the agent said in a session: (id, whether the person said it, words, time)."""
    sql = """SELECT id, source = 'user', content, at FROM prompts WHERE session_id = ?
        AND agent_id IS NULL AND content != '' AND ((source = 'user' AND kind IN ('prompt', 'late'))
        OR (source = 'agent' AND kind = 'closing')) ORDER BY at, id"""
    return db.execute(sql, (session_id,)).fetchall()


def over(db: Connection, session_id: str) -> set[int]:
    """The prompts of a session's episodes that are over."""
    sql = """SELECT p.prompt_id
        FROM unit_prompts p JOIN work_units u ON u.id = p.unit_id WHERE u.session_id = ? AND u.state = 'closed'"""
    return {row[0] for row in db.execute(sql, (session_id,)).fetchall()}


def project(db: Connection, session_id: str) -> int:
    """The project of a session."""
    return int(db.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()[0])


def project_of(db: Connection, number: int) -> int:
    """The project of a decision."""
    sql = "SELECT s.project_id FROM said_decisions d JOIN sessions s ON s.id = d.session_id WHERE d.id = ?"
    return int(db.execute(sql, (number,)).fetchone()[0])


def stored(db: Connection, session_id: str) -> dict[int, tuple[object, ...]]:
    """What is kept of a session's decisions, by prompt."""
    sql = """SELECT prompt_id, said_from, said_to, kind, revises, asked_id, restated_id, said_size, state
        FROM said_decisions WHERE session_id = ?"""
    return {row[0]: tuple(row) for row in db.execute(sql, (session_id,)).fetchall()}


# Changes, inside a transaction


def put(db: Connection, found: Iterable[tuple[object, ...]], gone: Iterable[int] = ()) -> None:
    """Keep what was found, as the columns of `_STORE`, and none that stands in the prompts `gone`."""
    db.executemany(_STORE, found)
    db.executemany("DELETE FROM said_decisions WHERE prompt_id = ?", [(number,) for number in gone])


def searched(db: Connection, session_id: str, holds: str) -> None:
    """The episodes of a session that are over were searched as they are now."""
    sql = f"""INSERT OR REPLACE INTO decided_units
        SELECT u.id, {holds} FROM work_units u WHERE u.session_id = ? AND u.state = 'closed'"""  # noqa: S608 - our words
    db.execute(sql, (session_id,))


def replace(db: Connection, numbers: Iterable[int], later: dict[int, int]) -> None:
    """Which decision each of some is replaced by; those that are not in `later`, by none."""
    db.executemany("UPDATE said_decisions SET superseded_by = ?1 WHERE id = ?2 AND superseded_by IS NOT ?1",
                   [(later.get(number), number) for number in numbers])  # fmt: skip


def columns(db: Connection, number: int) -> dict[str, str] | None:
    """What a person changes of a decision."""
    row = db.execute("SELECT state, wording FROM said_decisions WHERE id = ?", (number,)).fetchone()
    return {"state": str(row[0]), "wording": str(row[1])} if row else None


def change(db: Connection, number: int, after: dict[str, str]) -> None:
    """Make them these."""
    db.execute("UPDATE said_decisions SET state = :state, wording = :wording WHERE id = :id", {**after, "id": number})


_TURNS = """
SELECT u.id, s.id, s.project_id, j.name, p.id, p.at, p.source, substr(p.content, 1, ?)
FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects j ON j.id = s.project_id
JOIN prompts p ON p.session_id = u.session_id AND p.at BETWEEN u.started_at AND u.last_at + 1
WHERE u.id IN (SELECT value FROM json_each(?)) AND p.agent_id IS NULL AND p.source != 'machine'
AND p.kind IN ('prompt', 'late', 'closing') ORDER BY u.id, p.at, p.id
"""
_STORIES = """
SELECT u.id, s.id, s.project_id, j.name, u.last_at, coalesce(u.learned, ''), coalesce(u.notes, '')
FROM work_units u JOIN sessions s ON s.id = u.session_id JOIN projects j ON j.id = s.project_id
WHERE u.id IN (SELECT value FROM json_each(?))
"""
_UNITS_OF = """
SELECT p.id, (SELECT u.id FROM work_units u WHERE u.session_id = p.session_id AND u.started_at <= p.at
  ORDER BY u.started_at DESC, u.id DESC LIMIT 1) FROM prompts p WHERE p.id IN (SELECT value FROM json_each(?))
"""


def turns_of_units(db: Connection, units: Iterable[int], most: int) -> list[Any]:
    """Every turn of some episodes in order: episode, session, project's id and name, prompt, time, source, text."""
    return db.execute(_TURNS, (most, json.dumps(sorted(units)))).fetchall()


def stories(db: Connection, units: Iterable[int]) -> list[Any]:
    """Of some episodes: episode, session, project's id and name, time, what was learned, notes (both JSON)."""
    return db.execute(_STORIES, (json.dumps(list(units)),)).fetchall()


def units_of(db: Connection, prompts: Iterable[int]) -> dict[int, int | None]:
    """Prompt -> the episode that it is in."""
    return dict(db.execute(_UNITS_OF, (json.dumps(list(prompts)),)).fetchall())
