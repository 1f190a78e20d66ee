"""Commands that are killed at their work: the time begins once Python and what the command imports are there."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

CODE = """
import importlib, sys
for name in sys.argv.pop(1).split():
    importlib.import_module(name)
from nmem.commands.start import main
sys.argv[0] = "nmem"
print("begun", flush=True)
main()
"""


def killed(modules: str, words: list[str], after: float | None) -> tuple[bool, float]:
    """Whether `nmem words` was still at it `after` so many seconds, and how long it worked; None: it is let end."""
    with subprocess.Popen([sys.executable, "-c", CODE, modules, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        began = time.monotonic()
        try:
            process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        return process.returncode == -signal.SIGKILL, time.monotonic() - began
