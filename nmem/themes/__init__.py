"""Themes: episodes of a project on one subject, across sessions and threads. SQL: lists, what `keep` reads and keeps.

Text is as stored; times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    example: str
    """The title with most of the label's words, of equals the newest."""


@dataclass(frozen=True, slots=True)
class EpisodeOf:
    """An episode of a theme."""

    id: int
    session_id: str
    thread_id: int | None
    started_at: int
    last_at: int
    name: str


_TITLE = "coalesce(u.title, u.agent_title, u.heading, substr(u.intent, 1, 200))"
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
    found = db.execute(
        "SELECT t.theme, max(p.name), max(t.label), count(*), count(DISTINCT u.session_id), max(u.last_at) AS last"
        f" {_FROM}{where} GROUP BY t.theme HAVING max(u.last_at) >= ? ORDER BY last DESC, t.theme LIMIT ?",
        (*values, since, limit),
    ).fetchall()
    titles: dict[int, list[str]] = {row[0]: [] for row in found}
    for number, title in db.execute(
        f"SELECT t.theme, {_TITLE} {_FROM} AND t.theme IN (SELECT value FROM json_each(?)) ORDER BY u.last_at DESC",  # noqa: S608
        (str(list(titles)),),
    ):
        titles[number].append(title or "")
    return [
        Theme(number, project, label, many, sessions, last, _example(label, titles[number]))
        for number, project, label, many, sessions, last in found
    ]


def _example(label: str, titles: list[str]) -> str:
    return max(titles, key=lambda title: sum(word in title.lower() for word in label.split()), default="")


def episodes(db: Connection, number: int, limit: int = 200) -> list[EpisodeOf]:
    """The episodes of a theme, the newest first."""
    rows = db.execute(
        f"SELECT u.id, u.session_id, u.thread_id, u.started_at, u.last_at, {_TITLE} {_FROM} AND t.theme = ?"
        " ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (number, limit),
    )
    return [EpisodeOf(*row) for row in rows.fetchall()]


def growth(db: Connection, most: int, least: int) -> list[tuple[int, int, float, int | None]]:
    """Projects of at least so many episodes: (project, how many, at most `most`, how many told since, newest grouped).

    Documents count upwards.
    """
    return db.execute(
        "SELECT d.project_id, min(count(*), ?), total(t.doc IS NULL OR d.doc > t.doc), max(t.doc) FROM retrieval_docs d"
        " LEFT JOIN (SELECT t.project_id, max(d.doc) AS doc FROM unit_themes t JOIN retrieval_docs d"
        "   ON d.unit_id = t.unit_id GROUP BY t.project_id) t ON t.project_id = d.project_id"
        " GROUP BY d.project_id HAVING count(*) >= ?",
        (most, least),
    ).fetchall()


def documents(db: Connection, project_id: int, most: int) -> dict[int, int]:
    """Document -> episode, of the newest of a project."""
    sql = "SELECT doc, unit_id FROM retrieval_docs WHERE project_id = ? ORDER BY at DESC, doc DESC LIMIT ?"
    return dict(db.execute(sql, (project_id, most)).fetchall())


def postings(db: Connection, project_id: int) -> Iterator[tuple[str, bytes]]:
    """The words of a project in the retrieval index, with what is packed of each."""
    return db.execute("SELECT word, postings FROM retrieval_postings WHERE project_id = ?", (project_id,))


def titles(db: Connection, project_id: int) -> dict[int, str]:
    """Episode -> title, of a project's documents."""
    sql = f"SELECT u.id, {_TITLE} FROM retrieval_docs d JOIN work_units u ON u.id = d.unit_id WHERE d.project_id = ?"  # noqa: S608
    return dict(db.execute(sql, (project_id,)).fetchall())


def placed(db: Connection, project_id: int) -> dict[int, int]:
    """Episode -> theme, of a project, where it is in one."""
    sql = "SELECT unit_id, theme FROM unit_themes WHERE project_id = ? AND theme > 0"
    return dict(db.execute(sql, (project_id,)).fetchall())


def highest(db: Connection) -> int:
    """The highest number that a theme has."""
    return int(db.execute("SELECT coalesce(max(theme), 0) FROM unit_themes").fetchone()[0])


def replace(db: Connection, project_id: int, rows: Mapping[int, tuple[int, str]]) -> None:
    """Put episode -> (theme, label) in place of a project's rows."""
    db.execute("DELETE FROM unit_themes WHERE project_id = ?", (project_id,))
    db.executemany(
        "INSERT INTO unit_themes (unit_id, project_id, theme, label) SELECT id, ?, ?, ? FROM work_units WHERE id = ?",
        [(project_id, number, label, unit_id) for unit_id, (number, label) in sorted(rows.items())],
    )
