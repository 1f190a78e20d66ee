"""Builds each client's command line for a task; the prompt is standard input or one word: never a shell.

Nothing here widens what a client may do by itself: its own settings say that, or a command of the configuration.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from nmem import own_process
from nmem.dispatch.config import Dispatch
from nmem.dispatch.folder import Folder
from nmem.dispatch.task import Task
from nmem.errors import NmemError

PROMPT, HOOKS = "{prompt}", "{hooks}"
_LONGEST_WORD = 120_000
"""Bytes of one word of a command that every system takes."""
_ONCE = {
    "claude": ("claude", "-p", "--settings", HOOKS),
    "codex": ("codex", "exec", "--skip-git-repo-check", "-"),
    "gemini": ("gemini", "--output-format", "text"),
}
"""Reads the prompt, answers, ends."""
_OPEN = {
    "claude": ("claude", "--settings", HOOKS, "--", PROMPT),
    "codex": ("codex", "--", PROMPT),
    "gemini": ("gemini", "--prompt-interactive={prompt}"),
}
"""Begins with the prompt, stays open."""
_RESUME = {"claude": ("claude", "--resume"), "codex": ("codex", "resume"), "gemini": ("gemini", "--resume")}


@dataclass(frozen=True, slots=True)
class Call:
    """A client's command line."""

    argv: tuple[str, ...]
    stdin: bool
    """The prompt goes to its standard input."""


def call(task: Task, config: Dispatch, folder: Folder) -> Call:
    """The command line for a task. Raises NmemError when the prompt is too long for one."""
    own = _OPEN if task.interactive else _ONCE
    words = config.commands.get(f"{task.client} interactive" if task.interactive else task.client, own[task.client])
    if task.interactive and not any(PROMPT in word for word in words):
        words = (*words, PROMPT)  # its standard input is the person's
    stdin = not any(PROMPT in word for word in words)
    if not stdin and len(task.prompt.encode("utf-8", "replace")) > _LONGEST_WORD:
        raise NmemError(f"the prompt is too long to pass to {task.client} as a word of its command")
    hooks = str(folder.hooks)
    return Call(tuple(word.replace(HOOKS, hooks).replace(PROMPT, task.prompt) for word in words), stdin)


def opening(client: str, prompt: str, config: Dispatch) -> list[str]:
    """The words that open a client at a prompt for a person who sits before it, who needs no hooks to be told."""
    words = list(config.commands.get(f"{client} interactive", _OPEN[client]))
    while HOOKS in words:
        at = words.index(HOOKS)
        del words[at - 1 if at and words[at - 1].startswith("-") else at : at + 1]
    if not any(PROMPT in word for word in words):
        words.append(PROMPT)
    return [word.replace(PROMPT, prompt) for word in words]


def hooks(folder: Folder) -> str:
    """Settings for one run of Claude Code: it tells when it asks a person for something, and is told nothing."""
    program, *args = own_process.words(str(folder.path), function="nmem.dispatch.asked:main")
    entry = {"type": "command", "command": program, "args": args, "timeout": 10}
    kinds = "permission_prompt|elicitation_dialog|agent_needs_input"
    events = {
        "PermissionRequest": [{"matcher": "*", "hooks": [entry]}],
        "Notification": [{"matcher": kinds, "hooks": [entry]}],
    }
    return json.dumps({"hooks": events})


def resume(client: str, session_id: str) -> list[str]:
    """The words that take up a session of a client once more; none where nmem does not know how."""
    return [*_RESUME[client], session_id] if client in _RESUME else []
