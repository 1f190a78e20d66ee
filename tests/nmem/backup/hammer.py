"""Writes one batch after the other, each the same whenever it is written: what a database holds says how far it is."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from capture.event import Batch, Observation, Project, Prompt
from capture.files import replace
from capture.seal import seal
from capture.storage import rows, store

START = 1_760_000_000_000


def batch(number: int) -> Batch:
    """The batch of a number: one prompt, three observations, in one of seven sessions."""
    at = START + number * 20_000
    made = Batch("claude", f"s{number % 7}", at, "/src/shop", "hook")
    made.project = Project("example.org/shop", "shop", "/src/shop", "example.org/shop", "main")
    made.session = {"model": f"model-{number % 3}"}
    made.prompts = [Prompt(at, "user", "prompt", f"change the colour of part {number}", dedup_key=f"p{number}")]
    for step in range(3):
        seen = Observation(at + step, "file_edit", f"part {number} step {step}", dedup_key=f"o{number}-{step}")
        seen.file_path = f"src/part{number % 11}.py"
        made.observations.append(seen)
    return made


def write(db: Connection, first: int, last: int) -> None:
    """Batches from `first` up to `last`, a transaction each."""
    for number in range(first, last):
        rows.write(db, seal(batch(number)))


def main(path: str, first: int, folder: str) -> None:
    """Until there is a file `stop`; the file `done` says how many are committed."""
    number = first
    while not Path(folder, "stop").exists():
        with closing(store.connect(path, timeout=120)) as db:
            for _ in range(5):
                write(db, number, number + 1)
                number += 1
                replace(str(Path(folder, "done")), str(number).encode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
