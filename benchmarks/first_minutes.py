"""A stranger's first minutes, with a stopwatch: what the readme says, in a fresh folder, with only Python and git.

A clone of this checkout, an environment, the demo on screen, `nmem init` for a home with a folder .claude, a first
session through the registered hook commands, that session in the cockpit, a search, a pin. All of it is thrown away.
The limit is five minutes; what a package index takes to deliver is in it.

    python benchmarks/first_minutes.py [--json]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 300.0
SESSION = "5e551013-0000-4000-8000-000000000001"
EVENTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "coupon totals are a cent off: find out why, and mend it"}),
    ("PostToolUseFailure", {"tool_name": "Bash", "tool_input": {"command": "pytest tests/test_coupon.py"},
                            "error": "Exit code 1\n1 failed, 3 passed in 0.12s", "tool_use_id": "t1"}),
    ("PostToolUse", {"tool_name": "Edit", "tool_use_id": "t2", "tool_input": {
        "file_path": "src/coupon.py", "old_string": "round(x)", "new_string": "half_up(x)"}, "tool_response": {}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "pytest tests/test_coupon.py"},
                     "tool_response": {"stdout": "4 passed in 0.10s", "stderr": ""}, "tool_use_id": "t3"}),
    ("Stop", {"last_assistant_message": "Half-cents round up now, and the tests pass."}),
)  # fmt: skip
"""A session in the form of Claude Code, as far as hooks need it."""


class Stranger:
    """A home, a folder and a search path with nothing in them but Python and the system."""

    def __init__(self, folder: Path) -> None:
        self.home, self.clone, self.project = folder / "home", folder / "nmem", folder / "shop"
        for each in (self.home / ".claude", self.project, folder / "bin"):
            each.mkdir(parents=True)
        (folder / "bin" / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or "PROXY" in name.upper()}
        self.env = {**kept, "HOME": str(self.home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.env["PATH"] = f"{self.clone / '.venv' / 'bin'}:{folder / 'bin'}:/usr/bin:/bin"

    def run(self, line: str, folder: Path | None = None, given: str = "") -> str:
        """What a line of shell prints. Raises SystemExit with its words when it fails."""
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            check=False,
            env=self.env,
            cwd=folder or self.project,
            input=given,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{line}: {done.stdout}{done.stderr}")
        return done.stdout

    def session(self) -> str:
        """Each event through the commands that its settings register for it."""
        hooks = json.loads((self.home / ".claude" / "settings.json").read_text())["hooks"]
        for event, more in EVENTS:
            payload = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": event, **more}
            for command in (each["command"] for group in hooks[event] for each in group["hooks"]):
                self.run(command, given=json.dumps(payload))
        return ""

    def screen(self, line: str, *markers: bytes) -> str:
        """Wait until a program has drawn all of these words on a terminal of 160 by 45."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.project)
            os.execve("/bin/sh", ["/bin/sh", "-c", f"exec {line}"], self.env)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
        seen, until = b"", time.monotonic() + 60
        try:
            while not all(each in seen for each in markers):
                if time.monotonic() > until:
                    raise SystemExit(f"{line}: not on screen after a minute")
                if select.select([terminal], [], [], 0.02)[0]:
                    seen += os.read(terminal, 65536)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(terminal)
        return ""


def steps(one: Stranger) -> Iterator[tuple[str, Callable[[], str]]]:
    """What a stranger does, in this order; the first two lines are those of the readme."""
    shown = re.search(
        r"^(python3 -m venv .*) && \S+ tui --or-demo$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert shown, "the readme's first command is another one"
    yield "a clone", lambda: one.run(f"git clone -q '{ROOT}' '{one.clone}'")
    yield "an environment, and everything into it", lambda: one.run(shown[1], one.clone)
    yield "the demo on screen", lambda: one.screen("nmem tui --or-demo", b"tidewatch")
    yield "nmem init", lambda: one.run("nmem init --yes")
    yield f"a first session of {len(EVENTS)} events", one.session
    yield "that session on screen", lambda: one.screen("nmem tui", b"coupon totals")
    yield "a first search", lambda: one.run("nmem search coupon")
    yield "a first pin", lambda: one.run(f"nmem pin {first_row(one)}")


def first_row(one: Stranger) -> str:
    """The id of the newest call."""
    found = json.loads(one.run("nmem search type:test --json"))["hits"]
    return str(found[0]["id"])


def main() -> None:
    """Take the time of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    took: dict[str, float] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name, do in steps(Stranger(Path(folder))):
            started = time.perf_counter()
            do()
            took[name] = round(time.perf_counter() - started, 2)
            if not as_json:
                print(f"{took[name]:7.2f} s  {name}", flush=True)
    total = round(sum(took.values()), 2)
    if as_json:
        print(json.dumps({"seconds": took, "total": total, "limit": LIMIT}))
    else:
        print(f"{total:7.2f} s  together, of {LIMIT:.0f}")
    sys.exit(total > LIMIT)


if __name__ == "__main__":
    main()
