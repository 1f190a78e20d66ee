"""Two projects, three sessions: of the first project an older and a newer one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from nmem import tables


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The database; its sessions are aa11 and aa22 of project shop, bb33 of project lamp."""
    with closing(store.connect(str(tmp_path / "nmem.db"))) as made:
        tables.ensure(made)
        for number, name in ((1, "shop"), (2, "lamp")):
            made.execute(
                "INSERT INTO projects(id, key, name, root, created_at) VALUES (?, ?, ?, '', 1)", (number, name, name)
            )
        for own, project, at in (("aa11", 1, 1_000), ("aa22", 1, 2_000), ("bb33", 2, 3_000)):
            made.execute(
                "INSERT INTO sessions(id, client, project_id, cwd, started_at, last_at)"
                " VALUES (?, 'claude', ?, '', ?, ?)",
                (own, project, at, at),
            )
            for seq in range(3):
                made.execute(
                    "INSERT INTO observations(session_id, at, seq, obs_type, content, dedup_key)"
                    " VALUES (?, ?, ?, 'command', ?, ?)",
                    (own, at + seq, seq, f"make {seq}", f"{own}/{seq}"),
                )
        made.row_factory = sqlite3.Row  # as a reader has it
        yield made
