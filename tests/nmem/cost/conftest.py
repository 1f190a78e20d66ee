"""Transcripts to add up, the command over them, and a sum of their usage that shares no code with nmem."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from capture.storage import store
from nmem import tables

Figures = tuple[int, int, int, int]
"""Input, output, written to the cache, read from it."""


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A database of one's own, the one that commands use."""
    path = tmp_path / "n.db"
    monkeypatch.setenv("NMEM_DB", str(path))
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "config.toml"))
    made = store.connect(str(path))
    tables.ensure(made)
    made.execute("INSERT INTO projects VALUES (1, 'shop', 'shop', '/src/shop', NULL, 0)")
    return made


@pytest.fixture
def session(db: Connection) -> Callable[..., Path]:
    """Enters a session with a transcript of these records; its file."""

    def enter(name: str, path: Path, *records: dict[str, Any], client: str = "claude") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, records)
        db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, transcript_path)"
                   " VALUES (?, ?, 1, '/src/shop', 0, 0, ?)", (name, client, str(path)))  # fmt: skip
        return path

    return enter


def write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Add lines to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(each) + "\n" for each in records)


def answer(
    message: str, output: int, *, at: str = "2026-02-01T10:00:00.000Z", model: str = "claude-opus-4-6",
    session: str = "s1", cached: int = 0, given: int = 3, minutes: int = 0, hour: int = 0, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """A record of Claude Code with its usage."""
    usage = {"input_tokens": given, "output_tokens": output, "cache_read_input_tokens": cached,
             "cache_creation_input_tokens": minutes + hour,
             "cache_creation": {"ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": hour}}  # fmt: skip
    return {"type": "assistant", "sessionId": session, "uuid": f"{message}-{output}", "requestId": f"req-{message}",
            "timestamp": at, "message": {"id": message, "model": model, "usage": usage}} | more  # fmt: skip


def added_up(files: Iterable[Path]) -> dict[str, Figures]:
    """Session -> usage, of Claude's files read line by line: the last record of a message and a request counts."""
    last: dict[tuple[Any, Any], tuple[str, Figures]] = {}
    for path in files:
        for line in path.read_text("utf-8", "replace").split("\n"):
            try:
                record = json.loads(line)
                message = record["message"]
                usage = message["usage"]
            except (ValueError, KeyError, TypeError):
                continue
            if record.get("type") == "assistant":
                last[message["id"], record.get("requestId")] = record["sessionId"], (
                    usage["input_tokens"], usage["output_tokens"], usage["cache_creation_input_tokens"],
                    usage["cache_read_input_tokens"],
                )  # fmt: skip
    out: dict[str, Figures] = defaultdict(lambda: (0, 0, 0, 0))
    for name, figures in last.values():
        if any(figures):
            out[name] = tuple(a + b for a, b in zip(out[name], figures, strict=True))  # type: ignore[assignment]
    return dict(out)


def stored(db: Connection) -> dict[str, Figures]:
    """Session -> usage as nmem has it."""
    rows = db.execute(
        "SELECT session_id, sum(input), sum(output), sum(cache_write + cache_write_1h), sum(cache_read)"
        " FROM model_usage GROUP BY session_id"
    ).fetchall()
    return {row[0]: tuple(row[1:]) for row in rows}
