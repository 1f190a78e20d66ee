"""A small repository in which agents, people and bots write the same files; it knows who wrote which line.

Agents write through nmem's own capture, as payloads of hooks; git runs for real.
"""

from __future__ import annotations

import difflib
import itertools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from capture.hook import sealed_event
from capture.storage import store
from capture.storage.rows import write
from nmem import tables
from nmem.purge import history

START = 1_760_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
WEAK = ("}", "", "    return None", "    else:", ")", "    pass")
OFTEN = ('    raise ValueError("unexpected input given")', "    logger.debug('entering the function')")
Lines = list[tuple[str, str]]
"""Text and writer: `Task 3`, or person or bot."""


class World:
    """One repository, one database, one clock."""

    def __init__(self, folder: Path, db_path: str, seed: int = 0) -> None:
        self.root, self.path, self.random = folder, db_path, Random(seed)
        self.at, self.client, self.session, self.task = START, "claude", "", ""
        self.files: dict[str, Lines] = {}
        self.numbers = itertools.count(1)
        folder.mkdir(parents=True)
        self.db = store.connect(db_path)
        tables.ensure(self.db)
        history.begin(self.db, START)
        self.git("init", "-q", "-b", "main")

    # git, and who runs it

    def git(self, *words: str, by: str = "Ada", check: bool = True) -> str:
        moment = f"{self.at // 1000} +0000"
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
               "GIT_AUTHOR_NAME": by, "GIT_COMMITTER_NAME": by, "GIT_AUTHOR_EMAIL": f"{by}@x.org",
               "GIT_COMMITTER_EMAIL": f"{by}@x.org", "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment,
               "GIT_EDITOR": "true"}  # fmt: skip
        done = subprocess.run(["git", *words], cwd=self.root, env=env, capture_output=True, text=True, check=check)
        return done.stdout

    def commit(self, message: str, by: str = "Ada", *more: str) -> None:
        """A person or a bot commits all there is; nothing records it."""
        self.at += MINUTE
        self.git("add", "-A", by=by)
        self.git("commit", "-q", "--allow-empty", *(more or ("-m", message)), by=by)

    def agent_commits(self, message: str, *more: str) -> None:
        self.at += MINUTE
        self.git("add", "-A")
        said = self.git("commit", "--allow-empty", "-m", message, *more)
        self.bash(f'git add -A && git commit -m "{message}" {" ".join(more)}', said)

    # what hooks report

    def hook(self, native: str, **payload: Any) -> None:
        self.at += 1000
        adapter = __import__(f"capture.clients.{self.client}", fromlist=["parse"])
        given = {"session_id": self.session, "cwd": str(self.root), "hook_event_name": native, **payload}
        sealed = sealed_event(adapter.parse(native, given, self.at))
        if sealed is not None:
            write(self.db, sealed)

    def begin(self, client: str = "claude") -> None:
        self.at += HOUR
        self.client, self.session = client, f"session-{next(self.numbers)}-{self.root.name}"
        self.hook("SessionStart", source="startup")

    def ask(self, text: str) -> None:
        """A prompt; what agents write from now on is of it."""
        self.at += 5 * MINUTE
        self.task = f"Task {next(self.numbers)}"
        self.hook("UserPromptSubmit" if self.client != "gemini" else "BeforeAgent", prompt=f"{self.task}: {text}")

    def _tool(self, name: str, given: dict[str, Any], response: object) -> None:
        native = "AfterTool" if self.client == "gemini" else "PostToolUse"
        self.hook(native, tool_name=name, tool_input=given, tool_response=response,
                  tool_use_id=f"t{next(self.numbers)}")  # fmt: skip

    def bash(self, command: str, said: str = "ok") -> None:
        if self.client == "codex":
            self._tool("Bash", {"command": command}, f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{said}")
        elif self.client == "gemini":
            self._tool("run_shell_command", {"command": command}, {"llmContent": f"Output: {said}\nExit Code: 0"})
        else:
            self._tool("Bash", {"command": command}, {"stdout": said, "stderr": "", "interrupted": False})

    def fails(self, command: str, said: str) -> None:
        self.hook("PostToolUseFailure", tool_name="Bash", tool_input={"command": command},
                  error=f"Exit code 1\n{said}", tool_use_id=f"t{next(self.numbers)}")  # fmt: skip

    # files

    def texts(self, name: str) -> list[str]:
        return [text for text, _ in self.files.get(name, [])]

    def put(self, name: str, lines: Lines) -> None:
        self.files[name] = lines
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text("".join(f"{text}\n" for text, _ in lines))

    def edit(self, name: str, change: Callable[[Lines, str], Lines], *, patch: bool = True) -> None:
        """An agent changes a file, and its client reports it as it does; `patch`: with the diff that it made."""
        before = self.texts(name)
        self.put(name, change(list(self.files.get(name, [])), self.task))
        after = self.texts(name)
        if before == after:
            return
        path, diff = str(self.root / name), list(difflib.unified_diff(before, after, lineterm=""))[2:]
        if self.client == "codex":
            body = "\n".join("@@" if line.startswith("@@") else line for line in diff)
            verb = "Update" if before else "Add"
            body = body if before else "\n".join(f"+{text}" for text in after)
            given = {"command": f"*** Begin Patch\n*** {verb} File: {path}\n{body}\n*** End Patch\n"}
            self._tool("apply_patch", given, "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.")
        elif not before:
            given = {"file_path": path, "content": "\n".join(after) + "\n"}
            told: dict[str, Any] = {"type": "create", "filePath": path, "structuredPatch": [], "originalFile": None}
            if self.client == "gemini":
                told = {"llmContent": "ok", "returnDisplay": {"filePath": path, "isNewFile": True}}
            self._tool("write_file" if self.client == "gemini" else "Write", given, told)
        else:
            self._replace(path, before, after, diff, patch)

    def _replace(self, path: str, before: list[str], after: list[str], diff: list[str], patch: bool) -> None:
        head = next(place for place in itertools.count() if before[place : place + 1] != after[place : place + 1])
        least = min(len(before), len(after)) - head
        tail = next(k for k in range(least + 1) if k == least or before[-1 - k] != after[-1 - k])
        old = "\n".join(before[max(0, head - 1) : len(before) - tail])
        new = "\n".join(after[max(0, head - 1) : len(after) - tail])
        given = {"file_path": path, "old_string": old, "new_string": new}
        if self.client == "gemini":
            shown = {"filePath": path, "isNewFile": False, "fileDiff": "\n".join(diff) if patch else ""}
            self._tool("replace", given, {"llmContent": "ok", "returnDisplay": shown})
            return
        hunks: list[dict[str, Any]] = []
        for line in diff:
            if line.startswith("@@"):
                hunks.append({"oldStart": 1, "lines": []})
            else:
                hunks[-1]["lines"].append(line)
        self._tool("Edit", given, {"filePath": path, "structuredPatch": hunks} if patch else {})

    def by_hand(self, name: str, change: Callable[[Lines, str], Lines], who: str = "person") -> None:
        self.put(name, change(list(self.files.get(name, [])), who))

    # random changes

    def line(self) -> str:
        """A line of code: mostly one that nobody else would write."""
        kind = self.random.random()
        if kind < 0.25:
            return self.random.choice(WEAK)
        if kind < 0.33:
            return self.random.choice(OFTEN)
        number = next(self.numbers)
        return f"    amount_{number} = price[{self.random.randrange(9)}] * quantity_{number % 7}"

    def insert(self, lines: Lines, who: str) -> Lines:
        place = self.random.randint(0, len(lines))
        return lines[:place] + [(self.line(), who) for _ in range(self.random.randint(1, 7))] + lines[place:]

    def replace(self, lines: Lines, who: str) -> Lines:
        if not lines:
            return self.insert(lines, who)
        place = self.random.randrange(len(lines))
        return [*lines[:place], (self.line(), who), *lines[place + self.random.randint(1, 2) :]]

    def remove(self, lines: Lines, _who: str) -> Lines:
        place = self.random.randrange(len(lines) or 1)
        return lines[:place] + lines[place + 1 :]

    def move(self, lines: Lines, _who: str) -> Lines:
        """Some lines to another place: who wrote them stays."""
        place, size = self.random.randrange(len(lines) or 1), self.random.randint(1, 4)
        rest, taken = lines[:place] + lines[place + size :], lines[place : place + size]
        to = self.random.randint(0, len(rest))
        return rest[:to] + taken + rest[to:]

    def copy(self, lines: Lines, who: str) -> Lines:
        """Somebody copies a line: the copy is theirs."""
        if not lines:
            return lines
        text, _ = self.random.choice(lines)
        place = self.random.randint(0, len(lines))
        return [*lines[:place], (text, who), *lines[place:]]

    def indent(self, lines: Lines, who: str) -> Lines:
        """A formatter goes over some lines."""
        return [(f"  {text}", who) if text and self.random.random() < 0.1 else (text, by) for text, by in lines]

    def changes(self) -> list[Callable[[Lines, str], Lines]]:
        return [self.insert, self.insert, self.insert, self.replace, self.remove, self.move, self.copy]

    def rebase(self, name: str) -> None:
        """A bot committed on the base meanwhile; the branch goes on top of it."""
        bot = f"# updated by the bot, release {next(self.numbers)}"
        self.at += MINUTE
        if not self.git("ls-tree", "HEAD~1", "--", name, check=False):
            return
        self.git("checkout", "-q", "-b", "side", "HEAD~1")
        (self.root / name).write_text(f"{bot}\n" + (self.root / name).read_text())
        self.commit("chore: update", "bot")
        self.git("checkout", "-q", "main")
        self.git("rebase", "-q", "side", check=False)
        if (self.root / ".git/rebase-merge").exists() or (self.root / ".git/rebase-apply").exists():
            self.git("rebase", "--abort")
        self.git("branch", "-q", "-D", "side")
        texts = (self.root / name).read_text().removesuffix("\n").split("\n")
        old = iter(self.files[name])
        self.files[name] = [(text, "bot") if text == bot else next(old) for text in texts]


def live(world: World, names: tuple[str, ...], rounds: int) -> None:
    """Agents, people and bots take turns at some files."""
    roll = world.random
    for _ in range(rounds):
        world.begin(roll.choice(("claude", "claude", "codex", "gemini")))
        for _ in range(roll.randint(1, 3)):
            world.ask(roll.choice(("compute the amounts", "round them up", "mend the totals", "now the other file")))
            for _ in range(roll.randint(1, 4)):
                world.edit(roll.choice(names), roll.choice(world.changes()), patch=roll.random() < 0.8)
                if roll.random() < 0.25:
                    world.by_hand(roll.choice(names), roll.choice(world.changes()))
            if roll.random() < 0.7:
                _committed(world, names)
        if roll.random() < 0.5:
            world.by_hand(roll.choice(names), roll.choice(world.changes()))
            world.commit("by hand", "Bob")
        if roll.random() < 0.3:
            world.by_hand(roll.choice(names), world.indent, "bot")
            world.commit("style: format", "bot")


def _committed(world: World, names: tuple[str, ...]) -> None:
    """The agent commits; it or a person may amend that, or it is rebased."""
    roll = world.random
    world.agent_commits(f"feat: amounts {next(world.numbers)}")
    if roll.random() < 0.25:
        world.edit(roll.choice(names), world.insert)
        world.agent_commits(f"feat: amounts {next(world.numbers)}", "--amend")
    elif roll.random() < 0.3:
        world.by_hand(roll.choice(names), world.insert)
        world.commit("", "Ada", "--amend", "-C", "HEAD")
    elif roll.random() < 0.3:
        world.rebase(roll.choice(names))
