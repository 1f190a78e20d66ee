"""Payloads as hooks take them in, without a process for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from capture import hook
from capture.clients import claude
from capture.storage import store
from capture.storage.rows import write
from nmem import tables
from tests.conftest import NOW

Feed = Callable[..., None]


@pytest.fixture
def db(db_path: str) -> Iterator[Connection]:
    found = store.connect(db_path)
    tables.ensure(found)
    yield found
    found.close()


@pytest.fixture
def feed(db: Connection, tmp_path: Path) -> Feed:
    """feed(payload, version): one event of Claude Code through parsing, sealing and storing."""
    count = 0

    def take(payload: dict[str, Any], version: str, at: int = 0, project: str = "shop") -> None:
        nonlocal count
        count += 1
        at = at or NOW + count * 1000
        native = payload["hook_event_name"]
        if native not in claude.EVENTS:
            return
        event = claude.parse(native, payload, at)
        if event is not None:
            event.client_version = version
            event.cwd = str(tmp_path / project)
        sealed = hook.sealed_event(event)
        run = store.Run("claude", native, at, 100, 0)
        run.session_id = sealed.batch.session_id if sealed else None
        run.shape = hook._shape("claude", payload, event, sealed)
        if sealed is None:
            store.dropped(db, run)
        else:
            write(db, sealed, run)

    return take
