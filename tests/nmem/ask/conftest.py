"""Two conversations about an importer, the later one superseding what the earlier one decided; settled once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from nmem.commands import terminal
from nmem.evaluate import told
from nmem.settle import settle

NOW = 1_776_000_000_000
ROOT = "/home/dev/src/bakery"
TALKS = {
    "2026-03-02": (
        "The order importer of the bakery tries for ever when the till is closed. Have a look at it.",
        "The order importer has no limit. How many attempts should the order importer make before it gives up?",
        "Five.",
        "The order importer gives up after five attempts now.",
        "Right, leave it at five.",
    ),
    "2026-03-04": (
        "The label printer prints \x1b[31mumlauts as boxes on the counter.",
        "The label printer was sent Latin-1. Fixed: the label printer gets UTF-8 now, and umlauts are printed.",
    ),
    "2026-03-09": (
        "One update to the importer policy we settled last week: five attempts are too few for the night shift.",
        "So the old limit goes. How many attempts should the order importer make from now on?",
        "Nine attempts, and it waits 40 seconds between two of them.",
        "Amended, superseding the old limit of five: the order importer makes nine attempts, 40 seconds apart.",
        "That's the rule going forward, yes.",
    ),
}  # fmt: skip


def _transcript(folder: Path, day: str, turns: tuple[str, ...]) -> None:
    base = {"sessionId": f"s{day}", "cwd": ROOT, "version": "2.1.330", "isSidechain": False, "promptId": "p"}
    records = []
    for place, text in enumerate(turns):
        role, content = ("assistant", [{"type": "text", "text": text}]) if place % 2 else ("user", text)
        more = {"model": "m", "stop_reason": "end_turn"} if place % 2 else {}
        records.append({**base, "type": role, "uuid": f"{day}-{place}", "timestamp": f"{day}T10:0{place}:00.000Z",
                        "message": {"role": role, "content": content, **more}})  # fmt: skip
    Path(folder, f"s{day}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The database of the bakery, settled."""
    folder = tmp_path_factory.mktemp("talks")
    for day, turns in TALKS.items():
        _transcript(folder, day, turns)
    with told.imported(folder, partial(settle, models=False)) as path:
        yield Path(path)


@pytest.fixture
def bakery(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which commands read."""
    path = tmp_path / "bakery.db"
    for file in made.parent.glob(f"{made.name}*"):
        shutil.copy(file, path.parent / file.name.replace(made.name, path.name))
    monkeypatch.setenv("NMEM_DB", str(path))
    monkeypatch.setattr(terminal, "now", lambda: NOW)
    return path
