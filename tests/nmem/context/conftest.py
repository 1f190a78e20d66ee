"""Sessions played through the hooks' own pipeline, in this process, with a clock of their own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from capture import clients, paths
from capture.event import TOOL_CALL
from capture.hook import LARGE, sealed_event
from capture.salvage import shorten
from capture.storage import store
from capture.storage.rows import write
from nmem import entry, tables
from nmem.context import config
from nmem.purge import history
from nmem.settle import settle

START = 1_760_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE


_KEPT: dict[tuple[str, ...], tuple[int, str, int, dict[str, bytes]]] = {}
"""Name of the database, settings, and what was played since the beginning -> the clock, the session, the number of
calls, the files."""


class Played:
    """A client whose hooks run; what it is told is kept by session."""

    def __init__(self, path: str, client: str = "claude") -> None:
        self.path = path
        self.client = client
        self.at = START
        self.folder = "/src/shop"
        self.session = ""
        self.told: dict[str, list[str]] = {}
        self.numbers = itertools.count()
        self.before: tuple[str, ...] = ()
        self.then = START
        """What `once` was asked for since the beginning, and the clock after that."""
        with_tables = store.connect(path)
        tables.ensure(with_tables)
        history.begin(with_tables, START)
        with_tables.close()

    def hook(self, native: str, **payload: Any) -> str:
        """One event; the text that the client's model is given for it."""
        adapter = __import__(f"capture.clients.{self.client}", fromlist=["parse"])
        self.at += 1000
        given = {"session_id": self.session, "cwd": self.folder, "hook_event_name": native, **payload}
        event = adapter.parse(native, shorten(given) if len(str(given)) > LARGE else given, self.at)
        if event is None:
            return ""
        sealed = None if event.kind == TOOL_CALL else sealed_event(event)
        db = store.connect(self.path)
        try:
            if sealed is not None:
                write(db, sealed)
            _, text = entry.listen(db, event, self.path)  # type: ignore[no-untyped-call]
        finally:
            db.close()
        return self._received(event, text)

    def _received(self, event: Any, text: str) -> str:
        data = clients.form(event, text)
        if not data:
            return ""
        assert len(data) < 20_000
        told = json.loads(data)["hookSpecificOutput"]
        assert told["hookEventName"] == event.native
        context: str = told["additionalContext"]
        self.told.setdefault(self.session, []).append(context)
        return context

    def begin(self, session: str, source: str = "startup", gap: int = 2 * HOUR) -> str:
        self.at += gap
        self.session = session
        return self.hook("SessionStart", source=source)

    def ask(self, text: str) -> str:
        native = "BeforeAgent" if self.client == "gemini" else "UserPromptSubmit"
        return self.hook(native, prompt=text)

    def _tool(self, name: str, given: dict[str, Any], response: object, **more: Any) -> str:
        return self.hook("PostToolUse", tool_name=name, tool_input=given, tool_response=response,
                  tool_use_id=f"t{next(self.numbers)}", **more)  # fmt: skip

    def edit(self, path: str, old: str = "a = 1", new: str = "a = 2") -> None:
        self._tool("Edit", {"file_path": f"{self.folder}/{path}", "old_string": old, "new_string": new}, {})

    def read(self, path: str, content: str = "x = 1") -> None:
        self._tool("Read", {"file_path": f"{self.folder}/{path}"}, {"type": "text", "file": {"content": content}})

    def run(self, command: str, output: str = "ok") -> str:
        return self._tool("Bash", {"command": command}, {"stdout": output, "stderr": "", "interrupted": False})

    def fail(self, command: str, output: str = "boom") -> str:
        return self.hook("PostToolUseFailure", tool_name="Bash", tool_input={"command": command},
                  error=f"Exit code 1\n{output}", tool_use_id=f"t{next(self.numbers)}")  # fmt: skip

    def about_to(self, name: str, **given: Any) -> str:
        """What is told before a call."""
        return self.hook("PreToolUse", tool_name=name, tool_input=given, tool_use_id=f"t{next(self.numbers)}")

    def say(self, text: str) -> None:
        self.hook("Stop", stop_hook_active=False, last_assistant_message=text)

    def end(self, reason: str = "other") -> None:
        self.hook("SessionEnd", reason=reason)

    def settle(self) -> None:
        """What the background does, an hour later."""
        settle(self.path, models=False, clock=lambda: self.at + HOUR)

    def fix(self, session: str = "a") -> None:
        """A session that fixes a bug, learns why, and is settled."""
        self.once(f"fix {session}", lambda: self._fix(session))

    def once(self, name: str, play: Callable[[], object]) -> None:
        """What a memory begins with is played by the first test of a process, and copied for the others."""
        if self.at != self.then or (self.client, self.folder) != ("claude", "/src/shop"):
            play()
            return
        folder, config_file = Path(self.path).parent, Path(paths.config())
        settings = config_file.read_text() if config_file.exists() else ""
        self.before += (name,)
        key = (Path(self.path).name, settings, repr(sorted(config.DEFAULTS.items())), *self.before)
        if key not in _KEPT:
            play()
            files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
            _KEPT[key] = self.at, self.session, next(self.numbers), files
        self.at, self.session, number, files = _KEPT[key]
        self.then, self.numbers = self.at, itertools.count(number)
        for each, data in files.items():
            (folder / each).parent.mkdir(mode=0o700, exist_ok=True)
            (folder / each).write_bytes(data)
            (folder / each).chmod(0o600)

    def _fix(self, session: str) -> None:
        self.begin(session)
        self.ask("the cart total in shop/cart.py loses a cent when a voucher is used, find out why and fix it")
        self.read("shop/cart.py")
        self.fail("python3 -m pytest checks/test_cart.py", "AssertionError: 1798")
        self.edit("shop/cart.py", "int(total)", "round(total)")
        self.run("python3 -m pytest checks/test_cart.py", "1 passed")
        self.say("Fixed: `int()` truncated the quokka fraction in `shop/cart.py`; rounding half up keeps the cent.")
        self.end()
        self.settle()

    def database(self) -> Connection:
        return store.connect(self.path)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes nothing late that a test expects; what is selected stands without the line beside it."""
    monkeypatch.setitem(config.DEFAULTS, "deadline_ms", 600_000.0)
    monkeypatch.setitem(config.DEFAULTS, "ask", 0.0)


@pytest.fixture
def played(db_path: str) -> Iterator[Played]:
    """An empty memory, and a Claude Code that plays into it."""
    yield Played(db_path)
