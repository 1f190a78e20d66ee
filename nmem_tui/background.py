"""Long work in a process of its own: the cockpit stays quick, and what hangs there hangs nothing here."""

from __future__ import annotations

import subprocess
import sys

from nmem.text import printable
from nmem_tui.messages import Changed

_LIMIT_S = 600


def narrate(db_path: str, unit_id: int) -> Changed:
    """Write one episode's narrative; what came of it in a line. Waits until it is done: call it from a worker."""
    words = [sys.executable, "-m", "nmem", "settle", "--episode", str(unit_id), "--db", db_path]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Changed(f"no narrative: it took longer than {_LIMIT_S // 60} minutes", failed=True)
    except OSError as error:
        return Changed(f"no narrative: {error}", failed=True)
    said = (done.stdout if not done.returncode else done.stderr).strip().splitlines()
    told = printable(said[-1]) if said else ""
    if done.returncode:
        return Changed(f"no narrative: {told or f'it ended with exit code {done.returncode}'}", failed=True)
    return Changed(told or "the narrative is written", failed=False)
