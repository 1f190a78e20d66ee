"""Where each client keeps its hooks, in which shape, and whether the client is here at all."""

from __future__ import annotations

import os
import shutil

USER = "user"
PROJECT = "project"
LOCAL = "local"
SCOPES = (USER, PROJECT, LOCAL)

EXPERIMENTAL = ("cursor", "copilot", "droid", "opencode")
"""Written after the documentation, not tried on the program itself."""

TITLES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
    "copilot": "GitHub Copilot CLI",
    "droid": "Factory Droid",
    "opencode": "OpenCode",
}

GROUPS = "groups"
"""hooks: event -> [{matcher, hooks: [handler]}]"""
FLAT = "flat"
"""hooks: event -> [handler]"""
PLUGIN = "plugin"
"""A file of code."""

_BINARIES = {"cursor": ("cursor", "cursor-agent"), "copilot": ("copilot",)}
_FOLDERS = {
    "claude": ".claude",
    "codex": ".codex",
    "gemini": ".gemini",
    "cursor": ".cursor",
    "copilot": ".copilot",
    "droid": ".factory",
}
_USER_FILES = {
    "claude": "settings.json",
    "codex": "hooks.json",
    "gemini": "settings.json",
    "cursor": "hooks.json",
    "copilot": "hooks/nmem.json",
    "droid": "settings.json",
    "opencode": "plugins/nmem.js",
}
_PROJECT_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "copilot": ".github/hooks/nmem.json",
    "droid": ".factory/settings.json",
    "opencode": ".opencode/plugins/nmem.js",
}
_LOCAL_FILES = {"claude": ".claude/settings.local.json", "droid": ".factory/settings.local.json"}


class NoSuchScope(ValueError):
    """The client has no settings of that scope."""


class Target:
    """One settings file of one client."""

    __slots__ = ("always", "client", "comments", "path", "scope", "shape")

    def __init__(self, client: str, scope: str, path: str) -> None:
        self.client = client
        self.scope = scope
        self.path = path
        self.shape = {"cursor": FLAT, "copilot": FLAT, "opencode": PLUGIN}.get(client, GROUPS)
        self.comments = client in ("gemini", "cursor", "copilot", "droid")
        """Whether the client reads comments and trailing commas in it."""
        self.always: dict[str, object] = {"version": 1} if self.shape == FLAT else {}
        """What the file must say besides its hooks."""


def home(client: str) -> str:
    """The client's own folder of settings."""
    override = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}.get(client, "")
    if override and os.environ.get(override):
        return os.path.abspath(os.environ[override])
    user = os.path.expanduser("~")
    if client == "opencode":
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(user, ".config")
        return os.path.join(config, "opencode")
    return os.path.join(user, _FOLDERS[client])


def usual_file(client: str) -> tuple[str, ...]:
    """Where a client's settings of the user lie in a home, unless the environment says otherwise, in parts."""
    return _FOLDERS.get(client, os.path.join(".config", client)), *_USER_FILES[client].split("/")


def target(client: str, scope: str, folder: str) -> Target:
    """The settings file of a scope; `folder` is the project's.

    Raises NoSuchScope when the client has none.
    """
    if scope == USER:
        return Target(client, scope, os.path.join(home(client), *_USER_FILES[client].split("/")))
    files = _LOCAL_FILES if scope == LOCAL else _PROJECT_FILES
    if client not in files:
        raise NoSuchScope(f"{TITLES[client]} has no {scope} settings")
    return Target(client, scope, os.path.join(os.path.abspath(folder), *files[client].split("/")))


def targets(client: str, folder: str) -> list[Target]:
    """Every settings file that the client would read in a project, whether it exists or not; each once."""
    every = [target(client, scope, folder) for scope in SCOPES if scope != LOCAL or client in _LOCAL_FILES]
    # in the home folder a project's settings are the user's own
    return list({os.path.realpath(each.path): each for each in reversed(every)}.values())[::-1]


def binary(client: str) -> str:
    """The client's program, or nothing."""
    return next((path for name in _BINARIES.get(client, (client,)) if (path := shutil.which(name))), "")


def found(client: str) -> bool:
    """Whether the client is on this machine: its folder of settings or its program exists."""
    return os.path.isdir(home(client)) or bool(binary(client))
