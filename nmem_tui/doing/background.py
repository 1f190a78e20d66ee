"""Long work in a process of its own: the cockpit stays quick, and what hangs there hangs nothing here."""

from __future__ import annotations

import json
import os
import subprocess

from capture.hook import SKIP
from nmem.own_process import words
from nmem_tui.messages import Changed

_LIMIT_S = 600


def narrate(db_path: str, unit_id: int) -> Changed:
    """Write one episode's narrative; what came of it in a line. Waits until it is done: call it from a worker."""
    command = words("narrate", str(unit_id), "--json")
    env = {**os.environ, "NMEM_DB": db_path, SKIP: "1"}
    try:
        done = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Changed(f"no narrative: it took longer than {_LIMIT_S // 60} minutes", failed=True)
    except OSError as error:
        return Changed(f"no narrative: {error}", failed=True)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return Changed(f"no narrative: {said[-1] if said else f'exit code {done.returncode}'}", failed=True)
    return _told(done.stdout)


def _told(answer: str) -> Changed:
    try:
        episode = json.loads(answer)["episodes"][0]
    except (ValueError, LookupError, TypeError):
        return Changed("no narrative: its answer could not be read", failed=True)
    fallback = f"; no model: {episode['fallback']}" if episode.get("fallback") else ""
    return Changed(f"the narrative is written, told by {episode['narrator']}{fallback}", failed=False)
