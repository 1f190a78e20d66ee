"""What a hook cannot understand is counted, and what is called oddly is not written down."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nmem import database
from nmem.read.health import health

Payload = Callable[..., dict[str, object]]
Hook = Callable[..., Any]
Rows = Callable[[str], list[Any]]

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8" + "sT1vW4xY7zC0fG3hJ6"


def errors(db_path: str) -> int:
    db = database.reader(db_path)
    try:
        return health(db, db_path).counters.get("errors", 0)
    finally:
        db.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"not json",
        b"",
        b"[]",
        b"null",
        b"\xff\xfe\xfa",
        b"[" * 200_000,
        b'{"session_id": "s-1", "cw',
        b"{}",
        b'{"a": 1}',
    ],
)
def test_an_input_that_cannot_be_understood_is_an_error(hook: Hook, bash: Payload, db_path: str, raw: bytes) -> None:
    hook(bash(1))
    assert errors(db_path) == 0
    hook(raw)
    assert errors(db_path) == 1


@pytest.mark.parametrize(("event", "client"), [("NoSuchEvent", "claude"), ("PostToolUse", "nobody")])
def test_an_unknown_event_or_client_is_an_error(
    hook: Hook, bash: Payload, db_path: str, event: str, client: str
) -> None:
    hook(bash(1))
    hook(bash(2), event, client)
    assert errors(db_path) == 1


def test_what_is_left_out_on_purpose_is_no_error(hook: Hook, bash: Payload, db_path: str) -> None:
    hook(bash(1))
    hook({"session_id": "s-1", "cwd": "/srv/none/such", "prompt": ""}, "UserPromptSubmit")
    assert errors(db_path) == 0


def test_errors_before_there_is_a_database_count_once_there_is_one(hook: Hook, bash: Payload, db_path: str) -> None:
    hook(b"not json")
    hook(b"not json either")
    assert not Path(db_path).exists()
    hook(bash(1))
    assert errors(db_path) == 2


def test_no_odd_name_is_written_anywhere(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    hook(bash(1), TOKEN)
    hook(bash(2), "x" + TOKEN, "y" + TOKEN)
    hook(bash(3, **{f"newfield_{TOKEN}": 1, TOKEN: 2, "kq7Zt9wPx2mVbL4n8": 3, "new field": 4, "colour": 5}))
    db = sqlite3.connect(db_path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    folder = Path(db_path).parent
    for file in (path for path in folder.rglob("*") if path.is_file()):
        assert TOKEN.encode() not in file.read_bytes(), file
        assert b"kq7Zt9wPx2mVbL4n8" not in file.read_bytes(), file
    names = set(rows("SELECT field FROM payload_drift"))
    assert "colour" in names
    assert len(names) == 5
    assert all(len(name) == 9 and name[0] == "~" for name in names - {"colour"})


def test_a_token_in_a_command_or_an_answer_is_never_on_disk(hook: Hook, bash: Payload, db_path: str) -> None:
    response = {"stdout": f'{{"url": "https://x.example.org/?token\\u003d{TOKEN}"}}', "stderr": f"x{TOKEN}"}
    hook(bash(1, f"curl https://x.example.org/?tok_{TOKEN}", tool_response=response))
    for file in Path(db_path).parent.glob("nmem.db*"):
        assert TOKEN.encode() not in file.read_bytes(), file


@pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")
def test_the_folder_is_private_whoever_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from capture import log, paths
    from capture.redaction import settings
    from capture.storage import spool

    before = os.umask(0o022)
    try:
        makers: tuple[Callable[[str], object], ...] = (
            lambda _db: settings.prepare(),
            lambda db: spool.tally(db, "errors"),
            lambda db: log.note(db, "x"),
        )
        for number, first in enumerate(makers):
            db = str(tmp_path / f"home{number}" / "data" / "nmem.db")
            monkeypatch.setenv("NMEM_DB", db)
            first(db)
            assert stat.S_IMODE(Path(paths.folder(db)).stat().st_mode) == 0o700
    finally:
        os.umask(before)
