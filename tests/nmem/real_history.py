"""Real sessions of the shared material as transcripts: of each project the first, or all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MOST = int(os.environ.get("NMEM_TEST_SESSIONS", "25"))
"""Sessions of a project that tests play; `NMEM_TEST_SESSIONS=1000` plays all 351."""


def transcripts(shared: Path, folder: Path) -> int:
    """Write the transcripts of up to `MOST` sessions of each project below a folder; how many sessions these are."""
    chosen, count = folder.with_name(folder.name + "-timelines"), 0
    chosen.mkdir(parents=True)
    for source in sorted((shared / "data" / "timelines").glob("*.jsonl")):
        lines = source.read_text("utf-8").splitlines(keepends=True)[:MOST]
        (chosen / source.name).write_text("".join(lines), "utf-8")
        count += len(lines)
    tool = shared / "tools" / "timelines_to_transcripts.py"
    subprocess.run([sys.executable, str(tool), str(chosen), str(folder)], check=True, capture_output=True)
    return count
