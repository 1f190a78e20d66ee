"""The sessions that retrieval is measured on, in a memory that is thrown away: 300 on issues, 155 on decisions."""

from __future__ import annotations

import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from nmem import database, settle
from nmem.evaluate import retrieval, told


@dataclass(frozen=True, slots=True)
class Material:
    """A memory of those sessions, and what is asked of it."""

    path: str
    asked: tuple[retrieval.Record, ...]
    now: int


@contextmanager
def retrieved(data: Path) -> Iterator[Material]:
    """300 sessions on open-source projects and 62 issues. Raises FileNotFoundError where the data are absent."""
    with tempfile.TemporaryDirectory(prefix="nmem-bench-") as folder:
        with tarfile.open(data / "retrieval" / "swe-context.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        with _settled(Path(folder), data / "retrieval" / "queries.jsonl") as found:
            yield found


@contextmanager
def decided(data: Path) -> Iterator[Material]:
    """155 conversations and 12 tasks that hinge on what one of them decided. Raises FileNotFoundError."""
    with _settled(data / "decisions" / "transcripts", data / "decisions" / "tasks.jsonl") as found:
        yield found


@contextmanager
def _settled(folder: Path, queries: Path) -> Iterator[Material]:
    asked = tuple(retrieval.records([queries]))
    with told.imported(folder, lambda path: settle.settle(path, settle.SECONDS, models=False)) as path:
        yield Material(path, asked, int(time.time() * 1000))


def texts(material: Material) -> list[tuple[str, str, str]]:
    """(project, session, text) of each turn: what a person said and what the agent said last."""
    sql = (
        "SELECT p.name, s.transcript_path, q.source, q.content FROM prompts q JOIN sessions s ON s.id = q.session_id"
        " JOIN projects p ON p.id = s.project_id WHERE q.source = 'user' OR q.kind = 'closing'"
        " ORDER BY q.session_id, q.at, q.id"
    )
    found: list[tuple[str, str, str]] = []
    with closing(database.reader(material.path)) as db:
        for project, path, source, content in db.execute(sql).fetchall():
            name = Path(str(path)).name
            if source != "user" and found and found[-1][1] == name:
                found[-1] = (project, name, f"{found[-1][2]}\n\n{content}")
            else:
                found.append((str(project), name, str(content)))
    return found
