"""Reads decisions for display (SQL): quoted from the prompts that state them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.hours import utc

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
    where = (
        "WHERE (?1 = '' OR ?1 IN (j.name, j.key, j.root)) AND d.at >= ?2 AND (?3 OR d.state != 'dismissed')"
        " ORDER BY d.at DESC, d.id DESC LIMIT ?4"
    )
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
    found = db.execute(
        "SELECT u.id, substr(p.content, 1, ?) FROM work_units u JOIN prompts p ON p.session_id = u.session_id"
        " AND p.at BETWEEN u.started_at AND u.last_at + 1 AND p.agent_id IS NULL AND p.source != 'machine'"
        " AND p.kind IN ('prompt', 'late', 'closing') WHERE u.id IN (SELECT value FROM json_each(?))"
        " ORDER BY u.id, p.at, p.id",
        (most, json.dumps(sorted(unit_ids))),
    )
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
