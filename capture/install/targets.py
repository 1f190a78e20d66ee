"""Locates each client's hook settings and their format, and detects installed clients."""

from __future__ import annotations

import os
import shutil

from capture.clients import FLAT, client, known

USER = "user"
PROJECT = "project"
LOCAL = "local"
SCOPES = (USER, PROJECT, LOCAL)


def title(name: str) -> str:
    """What a client is called; its name where nmem does not know it."""
    return client(name).title if known(name) else name


def experimental() -> tuple[str, ...]:
    """Clients that were written after their documentation, not tried on the program itself."""
    from capture.clients import CLIENTS  # on use: start-up stays short

    return tuple(name for name in CLIENTS if client(name).experimental)


class NoSuchScope(ValueError):
    """The client has no settings of that scope."""


class Target:
    """One settings file of one client."""

    __slots__ = ("always", "client", "comments", "path", "scope", "shape")

    def __init__(self, name: str, scope: str, path: str) -> None:
        self.client = name
        self.scope = scope
        self.path = path
        self.shape = client(name).shape
        self.comments = client(name).comments
        """Whether the client reads comments and trailing commas in it."""
        self.always: dict[str, object] = {"version": 1} if self.shape == FLAT else {}
        """What the file must say besides its hooks."""


def home(name: str) -> str:
    """The client's own folder of settings."""
    of = client(name)
    if override := os.environ.get(of.folder_variable, ""):
        return os.path.abspath(override)
    user = os.path.expanduser("~")
    config, _, own = of.folder.partition("/")
    if config == ".config":
        return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(user, config), own)
    return os.path.join(user, of.folder)


def usual_file(name: str) -> tuple[str, ...]:
    """Where a client's settings of the user lie in a home, unless the environment says otherwise, in parts."""
    of = client(name)
    return of.folder, *of.user.split("/")


def target(name: str, scope: str, folder: str) -> Target:
    """The settings file of a scope; `folder` is the project's.

    Raises NoSuchScope when the client has none.
    """
    of = client(name)
    if scope == USER:
        return Target(name, scope, os.path.join(home(name), *of.user.split("/")))
    file = of.local if scope == LOCAL else of.project
    if not file:
        raise NoSuchScope(f"{of.title} has no {scope} settings")
    return Target(name, scope, os.path.join(os.path.abspath(folder), *file.split("/")))


def targets(name: str, folder: str) -> list[Target]:
    """Every settings file that the client would read in a project, whether it exists or not; each once."""
    every = [target(name, scope, folder) for scope in SCOPES if scope != LOCAL or client(name).local]
    # in the home folder a project's settings are the user's own
    return list({os.path.realpath(each.path): each for each in reversed(every)}.values())[::-1]


def binary(name: str) -> str:
    """The client's program, or nothing."""
    return next((path for each in client(name).programs or (name,) if (path := shutil.which(each))), "")


def found(name: str) -> bool:
    """Whether the client is on this machine: its folder of settings or its program exists."""
    return os.path.isdir(home(name)) or bool(binary(name))
