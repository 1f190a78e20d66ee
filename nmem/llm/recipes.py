"""The command line that asks each client one question: no tools, no session on disk, no hooks.

Beside the client's own switch, `NMEM_SKIP_HOOKS` stands in the environment: our hook records nothing then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from capture.hook import SKIP
from nmem.llm.backend import Json, Request

_NESTED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE")
"""Marks of a session around us: with them a client thinks it was started from inside itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """The words to run and what goes to standard input; where the answer and the usage are is the client's way."""

    words: tuple[str, ...]
    text: str
    form: str = "text"
    """`text`, `claude`, `codex` or `gemini`: how standard output is to be read."""
    answer: str = ""
    """The file that holds the answer, when it is not on standard output."""
    env: tuple[tuple[str, str], ...] = ()
    leftovers: tuple[str, ...] = ()
    """Folders that the client leaves behind for this one question; removed afterwards."""


_CODEX_OFF = (
    "hooks", "shell_tool", "unified_exec", "apps", "plugins", "multi_agent", "goals", "image_generation",
    "browser_use",
)  # fmt: skip
Recipe = Callable[[tuple[str, ...], Request, str, Path], Call]


def environment(env: dict[str, str], call: Call) -> dict[str, str]:
    """The environment that the client runs in: the person's, so that it finds its login, and our mark."""
    return {name: value for name, value in env.items() if name not in _NESTED} | {SKIP: "1"} | dict(call.env)


def call(command: tuple[str, ...], request: Request, model: str, folder: Path) -> Call:
    """The recipe of the client that the command names; an unknown one reads standard input and writes the answer."""
    return _RECIPES.get(Path(command[0]).stem, _plain)(command, request, model, folder)


def _claude(command: tuple[str, ...], request: Request, model: str, _folder: Path) -> Call:
    words = (
        command[0], "-p", "--output-format", "json", "--no-session-persistence", "--tools", "", "--strict-mcp-config",
        "--system-prompt", request.system, *_own(command, "-p", "--print"), *(("--model", model) if model else ()),
        "--settings", json.dumps({"disableAllHooks": True}),
    )  # fmt: skip
    return Call(words, _after_system(request), form="claude")


def _codex(command: tuple[str, ...], request: Request, model: str, folder: Path) -> Call:
    schema, answer = folder / "schema.json", folder / "answer.txt"
    schema.write_text(json.dumps(dict(request.schema)), encoding="utf-8")
    off = [word for name in _CODEX_OFF for word in ("--config", f"features.{name}=false")]
    words = (
        command[0], "exec", *_own(command, "exec", "e", "-"), *(("--model", model) if model else ()),
        *off, "--config", "mcp_servers={}", "--config", 'web_search="disabled"', "--ephemeral", "--skip-git-repo-check",
        "--sandbox", "read-only", "--color", "never", "--json",
        "--output-schema", str(schema), "--output-last-message", str(answer), "-",
    )  # fmt: skip
    return Call(words, request.text(), "codex", answer=str(answer))


def _gemini(command: tuple[str, ...], request: Request, model: str, folder: Path) -> Call:
    # The workspace's settings rule over the person's; the folder is ours and empty, so it may be trusted.
    settings: Json = {
        "hooksConfig": {"enabled": False},
        "tools": {"core": ["none"]},
        "mcp": {"allowed": ["none"]},
        "skills": {"enabled": False},
    }
    (folder / ".gemini").mkdir()
    (folder / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    system = folder / ".gemini" / "system.md"
    system.write_text(request.system, encoding="utf-8")
    words = (
        command[0], *_own(command, "-p", "--prompt"), *(("--model", model) if model else ()),
        "--output-format", "json", "--skip-trust", "--extensions", "none",
    )  # fmt: skip
    # It keeps a chat file of every question under the name of the folder it ran in, and has no switch against that.
    home = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home())
    leftovers = tuple(str(home / ".gemini" / kind / folder.name) for kind in ("tmp", "history"))
    env = (("GEMINI_SYSTEM_MD", str(system)),)
    return Call(words, _after_system(request), "gemini", env=env, leftovers=leftovers)


def _llm(command: tuple[str, ...], request: Request, model: str, _folder: Path) -> Call:
    words = (
        command[0],
        "prompt",
        "--no-log",
        "--no-stream",
        *_own(command, "prompt"),
        *(("-m", model) if model else ()),
    )
    return Call((*words, "--system", request.system), _after_system(request))


def _plain(command: tuple[str, ...], request: Request, model: str, _folder: Path) -> Call:
    return Call((*command, *(("--model", model) if model else ())), request.text())


def _own(command: tuple[str, ...], *ours: str) -> tuple[str, ...]:
    """The person's own words of the command, without those that the recipe gives."""
    return tuple(word for word in command[1:] if word not in ours)


def _after_system(request: Request) -> str:
    """The question without its system part, which such a client takes as an option: it holds nothing of anybody's."""
    return request.text()[len(request.system) :].lstrip()


_RECIPES: dict[str, Recipe] = {"claude": _claude, "codex": _codex, "gemini": _gemini, "llm": _llm}
