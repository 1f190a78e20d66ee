"""The worker of claude-mem in a home of its own: started, written to, asked and ended.

It listens on a free port of the loopback address; telemetry is off. Its vector database is a Python package that it
starts through uvx; a constraint keeps it importable with the libraries of today.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

CONSTRAINTS = "pydantic<2.12\n"
"""What the server of its vector database, of a fixed version, was written for."""
WAIT = 120.0


class Worker:
    """A running worker; a context that ends it."""

    def __init__(self, modules: Path, tools: Path, home: Path) -> None:
        self.plugin = modules / "claude-mem" / "plugin"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        home.mkdir(parents=True, exist_ok=True)
        (home / "constraints").write_text(CONSTRAINTS)
        self.data = home / "data"
        self.env = {
            **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
            "HOME": str(home), "PATH": f"{modules / '.bin'}:{tools}:{os.environ['PATH']}",
            "CLAUDE_PLUGIN_ROOT": str(self.plugin), "CLAUDE_MEM_DATA_DIR": str(self.data),
            "CLAUDE_MEM_WORKER_PORT": str(self.port), "CLAUDE_MEM_WORKER_HOST": "127.0.0.1", "DO_NOT_TRACK": "1",
            "CLAUDE_MEM_TELEMETRY": "0", "UV_CONSTRAINT": str(home / "constraints"), "UV_PYTHON_DOWNLOADS": "never",
            "CLAUDE_MEM_PYTHON_VERSION": f"{sys.version_info[0]}.{sys.version_info[1]}",
        }  # fmt: skip

    def _do(self, word: str) -> None:
        runner, service = (str(self.plugin / "scripts" / name) for name in ("bun-runner.js", "worker-service.cjs"))
        subprocess.run(["node", runner, service, word], env=self.env, check=True, timeout=60,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        """Start it with its settings, and wait for its vector database."""
        self._do("start")
        python = self.env["CLAUDE_MEM_PYTHON_VERSION"]
        file = self.data / "settings.json"  # written by the first start
        settings = json.loads(file.read_text())
        if settings.get("CLAUDE_MEM_PYTHON_VERSION") != python:
            self._do("stop")
            file.write_text(json.dumps({**settings, "CLAUDE_MEM_PYTHON_VERSION": python}))
            self._do("start")
        self.save("none", "none", "the first text makes the collection that its vector database is asked about")
        end = time.monotonic() + WAIT
        while self._get("/api/chroma/status", deep="1").get("status") != "healthy":
            if time.monotonic() > end:
                raise TimeoutError(f"its vector database is not there after {WAIT:.0f} s")
            time.sleep(1)

    def __exit__(self, *_: object) -> None:
        every = self.processes()
        with suppress(OSError, subprocess.SubprocessError):  # what is left of it is ended below
            self._do("stop")
        for pid in every:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def registered(self, event: str) -> list[str]:
        """The command that it registers for an event, as the client runs it."""
        hooks = json.loads((self.plugin / "hooks" / "hooks.json").read_text())["hooks"]
        return ["bash", "-c", hooks[event][0]["hooks"][-1]["command"]]

    def _get(self, path: str, **asked: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(asked)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return dict(json.load(answer))
        except OSError:
            return {}

    def save(self, project: str, title: str, text: str) -> None:
        """Save a memory by hand. Raises OSError."""
        body = json.dumps({"text": text, "title": title, "project": project}).encode()
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/memory/save", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            answer.read()

    def embedded(self, count: int) -> list[str]:
        """Wait until its vector database has taken in what was saved; a remark where it did not."""
        end, quiet = time.monotonic() + WAIT, 0.0
        before = -1.0
        while time.monotonic() < end and quiet < 4:
            now = self._busy()
            quiet = quiet + 1 if now - before < 0.05 else 0
            before = now
            time.sleep(1)
        return [] if quiet >= 4 else [f"its vector database was still taking in the {count} texts after {WAIT:.0f} s"]

    def _busy(self) -> float:
        """Seconds on a processor of all its processes."""
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.processes())

    def search(self, query: str, most: int) -> list[str]:
        """Titles of what its search finds, best first."""
        found = self._get("/api/search", query=query[:6000], limit=str(most), format="json", type="observations")
        return [str(each["title"]) for each in found.get("observations", [])]

    def processes(self) -> list[int]:
        """The worker and what it started, by their ids."""
        file = self.data / "worker.pid"
        if not file.exists():
            return []
        found = [int(json.loads(file.read_text())["pid"])]
        for pid in found:
            tasks = Path(f"/proc/{pid}/task").glob("*/children")
            found += [int(each) for children in tasks for each in children.read_text().split()]
        return found

    def memory(self) -> float:
        """Megabytes that all of them occupy."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.processes())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
