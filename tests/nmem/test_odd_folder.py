"""Commands in a folder whose name is no UTF-8: its project is the one that hooks recorded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture import paths
from capture.event import Batch, Prompt
from capture.project import resolve
from capture.seal import seal
from capture.storage import store
from capture.storage.rows import write
from nmem import tables
from nmem.commands.main import nmem

NOW = 1_760_000_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is UTF-8")
@pytest.mark.parametrize(
    "words",
    [("status",), ("episodes",), ("threads",), ("context",), ("stance",), ("learn", "list"), ("search", "lamp"),
     ("mark", "a note"), ("task", "list"), ("backup",), ("export", "-")],
    ids=" ".join,
)  # fmt: skip
def test_every_command_works_in_a_folder_whose_name_is_no_utf8(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]
) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(odd).mkdir()
    monkeypatch.chdir(odd)
    monkeypatch.setenv("NMEM_DB", odd + "/data/nmem.db")
    batch = Batch("claude", "s", NOW, odd)
    batch.project = resolve(odd)
    batch.prompts.append(Prompt(NOW, "user", "prompt", "why does the lamp flicker", dedup_key="p1"))
    db = store.connect(paths.database())
    tables.ensure(db)
    write(db, seal(batch))
    db.close()
    result = CliRunner().invoke(nmem, list(words))
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert os.fsencode(odd) not in result.stdout_bytes, "bytes that a terminal cannot show"
