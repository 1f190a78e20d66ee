"""Registry of coding clients, one module each: their hook events, settings files, and format of hook answers.

A client is a module here that has CLIENT; nothing else names it. Every client module has these names:

    CLIENT: Client                        its title, its settings files, and how it takes what a session is told
    EVENTS: dict[str, Registration]       the native events that nmem registers, and how (sync, async, timeout)
    KNOWN: frozenset[str]                 the fields that payloads have had in some version
    parse(native_event, payload, now) -> Event | None
                                          None: not ours to keep (a machine's echo, an event nobody registers)
    drift(native_event, payload)          fields that no known version has
    response_fields(tool_name)            what its response has held in some version; None: a tool that nobody knows
    canonical(tool_name, tool_input)      the canonical tool and its canonical input; transcripts use it too
    answer(event, response)               fills output, output_text, ok, exit_code, duration_ms, interrupted, and what
                                          only the answer knows of the input (lines, created, answers, plan);
                                          event.tool, tool_name, tool_input and kind must stand before

`detect.detect` says whose payload it really is before `parse`; `said` tells a user's words from a machine's and strips
our own (between `said.BEGIN` and `said.END`). A wrong type in a payload is as good as absent: nothing here raises.

An Event's tool is canonical and its tool_input has canonical keys, whatever the client calls them:

    shell       command description background cwd
    edit        files: list of {path, old, new, patch, added, removed, created}, and where true: deleted, moved_from
                (added, removed, created are None where nobody knows)
    write       files: as edit
    read        path offset limit
    search      pattern path glob
    web_fetch   url prompt          web_search  query
    agent       description prompt subagent_type background
    todo        items: list of {content, status}, and the id where there is one (a later call may have the id alone)
    ask         questions: list of {question, options, answer}
    plan        plan path           skill       skill args
    mcp         server tool arguments
    other       the native input as it came
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from capture.event import Event

    Drift = Callable[[str, dict[str, object]], tuple[str, ...]]
    ResponseFields = Callable[[str], frozenset[str] | None]
    Canonical = Callable[[str, object], tuple[str, dict[str, object]]]

_ORDER = ("claude", "codex", "gemini", "opencode", "qwen", "copilot", "cursor", "droid")
"""How clients are listed; others follow by name."""
CLIENTS: tuple[str, ...]
"""Names as they stand in a registered command; each is a module of this package. Found when somebody asks."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> tuple[str, ...]:
        """CLIENTS, at its first use: a hook never needs it."""
        if name != "CLIENTS":
            raise AttributeError(name)
        others = [file[:-3] for folder in __path__ for file in os.listdir(folder) if _is_client(f"{folder}/{file}")]
        found = (*_ORDER, *sorted(set(others) - set(_ORDER)))
        globals()[name] = found
        return found


def _is_client(path: str) -> bool:
    """Whether a module defines CLIENT, without running it."""
    if not path.endswith(".py"):
        return False
    with open(path, encoding="utf-8") as file:
        return "\nCLIENT = Client(" in file.read()


def known(name: str) -> bool:
    """Whether there is a client of this name: a module here that has CLIENT."""
    if name in _ORDER:
        return True
    try:
        return name.isidentifier() and hasattr(_module(name), "CLIENT")
    except ImportError:
        return False


def client(name: str) -> Client:
    """What is known of a client. Raises ImportError for a name that is no client's."""
    found: Client = _module(name).CLIENT
    return found


def _module(name: str) -> Any:  # noqa: ANN401 - a module
    return __import__(f"capture.clients.{name}", fromlist=["CLIENT"])


SYNC = "sync"
ASYNC = "async"


class Registration:
    """How a native event is registered: whether the client waits, how long, in its own unit, and for which tools."""

    __slots__ = ("matcher", "mode", "timeout")

    def __init__(self, mode: str, timeout: int, matcher: str | None = None) -> None:
        self.mode = mode
        self.timeout = timeout
        self.matcher = matcher

    def __repr__(self) -> str:
        return f"Registration({self.mode!r}, {self.timeout}, {self.matcher!r})"


GROUPS, FLAT, PLUGIN = "groups", "flat", "plugin"
"""How a settings file holds hooks: event -> [{matcher, hooks: [handler]}], event -> [handler], or a file of code."""
HOOK_OUTPUT, SNAKE, CAMEL = "hookSpecificOutput", "additional_context", "additionalContext"
"""The key under which a client takes what its session is told."""


class Client:
    """What installing, telling and probing need to know of a client; paths are within its folder or a project."""

    __slots__ = (
        "answers", "comments", "experimental", "folder", "folder_variable", "listens", "local", "most", "programs",
        "project", "project_dirs", "shape", "shell_tool", "starts_after_compact", "title", "user",
    )  # fmt: skip

    def __init__(
        self, title: str, folder: str, user: str, project: str, *, local: str = "", shape: str = GROUPS,
        comments: bool = False, experimental: bool = True, programs: tuple[str, ...] = (), folder_variable: str = "",
        listens: tuple[str, ...] = (), answers: str = HOOK_OUTPUT, most: int = 0, project_dirs: tuple[str, ...] = (),
        starts_after_compact: bool = False, shell_tool: str = "Bash",
    ) -> None:  # fmt: skip
        self.title = title
        self.folder = folder
        """Its settings folder in the home; one that begins with .config/ lies where XDG says."""
        self.user, self.project, self.local = user, project, local
        """Its settings files: the person's within the folder, a project's, and a project's for one person alone."""
        self.shape = shape
        self.comments = comments
        """Whether it reads comments and trailing commas in them."""
        self.experimental = experimental
        """Written after the documentation, not tried on the program itself."""
        self.programs = programs
        """Names of its program, where they are not its own."""
        self.folder_variable = folder_variable
        """The variable of the environment that names its folder instead."""
        self.listens = listens
        """Events whose answer it reads."""
        self.answers = answers
        self.most = most
        """Bytes of UTF-8 that it takes in an answer without cutting; some below its limit. 0: it never listens."""
        self.project_dirs = project_dirs
        """Variables of the environment that name the project's folder, the first that is set counts."""
        self.starts_after_compact = starts_after_compact
        """It reports a new session after a compaction: that report is the observation."""
        self.shell_tool = shell_tool
        """What it calls the tool that runs a command."""


def vocabulary(
    known: frozenset[str], tools: dict[str, str], response: frozenset[str] = frozenset()
) -> tuple[Drift, ResponseFields, Canonical]:
    """The drift, response_fields and canonical of a client whose fields and tools are lists. `response`: the fields of
    any tool's response.
    """

    def drift(_native_event: str, payload: dict[str, object]) -> tuple[str, ...]:
        from capture.clients.fields import unknown  # on use: it is loaded by then

        told = unknown(payload.get("tool_response"), response, "tool_response.") if response else ()
        return unknown(payload, known) + told

    def response_fields(tool_name: str) -> frozenset[str] | None:
        return response if tool_name in tools else None

    def canonical(tool_name: str, tool_input: object) -> tuple[str, dict[str, object]]:
        from capture.clients.tools import canonical  # on use: start-up stays short

        return canonical(tool_name, tool_input, tools)

    return drift, response_fields, canonical


def room(event: Event) -> int:
    """Bytes that the client takes in answer to this event; 0 when it does not listen."""
    to = client(event.client)
    return to.most if event.native in to.listens else 0


def most(name: str) -> int:
    """Bytes that a client takes where it listens; 0 for one that never does."""
    return client(name).most if known(name) else 0


def form(event: Event, text: str) -> bytes:
    """What a hook prints so that the client gives this text to its model; nothing when it cannot."""
    to = client(event.client)
    if event.native not in to.listens or not text:
        return b""
    from capture.jsonio import dumps  # on use: start-up stays short

    told: dict[str, object] = {to.answers: text}
    if to.answers == HOOK_OUTPUT:
        # nothing but these: Codex throws the whole answer away for one key that it does not know
        told = {to.answers: {"hookEventName": event.native, "additionalContext": text}}
    return dumps(told).encode("utf-8", "replace")
