"""Themes: episodes of a project on one subject, across sessions and threads; computed in the background.

What the command line and the cockpit show is read here (SQL); `keep` makes a project's themes anew once enough was
told. Text is as stored; times are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any


@dataclass(frozen=True, slots=True)
class Theme:
    """Episodes of a project that are about the same."""

    id: int
    project: str
    label: str
    episodes: int
    sessions: int
    last_at: int


@dataclass(frozen=True, slots=True)
class EpisodeOf:
    """An episode of a theme."""

    id: int
    session_id: str
    thread_id: int | None
    started_at: int
    last_at: int
    name: str


_FROM = (
    "FROM unit_themes t JOIN work_units u ON u.id = t.unit_id JOIN sessions s ON s.id = u.session_id"
    " JOIN projects p ON p.id = s.project_id WHERE t.theme > 0"
)


def themes(db: Connection, project: str = "", since: int = 0, limit: int = 200) -> list[Theme]:
    """Themes, the most recently active first; `project` is a name, a key or a root folder."""
    return _themes(db, " AND (p.name = ? OR p.key = ? OR p.root = ?)" if project else "",
                   [project] * 3 if project else [], since, limit)  # fmt: skip


def theme(db: Connection, number: int) -> Theme | None:
    """One theme."""
    found = _themes(db, " AND t.theme = ?", [number], 0, 1)
    return found[0] if found else None


def of_episode(db: Connection, unit_id: int) -> int:
    """The theme of an episode; 0 where it is in none."""
    row = db.execute("SELECT theme FROM unit_themes WHERE unit_id = ?", (unit_id,)).fetchone()
    return int(row[0]) if row else 0


def _themes(db: Connection, where: str, values: list[Any], since: int, limit: int) -> list[Theme]:
    rows = db.execute(
        "SELECT t.theme, max(p.name), max(t.label), count(*), count(DISTINCT u.session_id), max(u.last_at) AS last"
        f" {_FROM}{where} GROUP BY t.theme HAVING max(u.last_at) >= ? ORDER BY last DESC, t.theme LIMIT ?",
        (*values, since, limit),
    )
    return [Theme(*row) for row in rows.fetchall()]


def episodes(db: Connection, number: int, limit: int = 200) -> list[EpisodeOf]:
    """The episodes of a theme, the newest first."""
    rows = db.execute(
        "SELECT u.id, u.session_id, u.thread_id, u.started_at, u.last_at,"
        f" coalesce(u.title, u.agent_title, u.heading, u.intent) {_FROM} AND t.theme = ?"
        " ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (number, limit),
    )
    return [EpisodeOf(*row) for row in rows.fetchall()]
