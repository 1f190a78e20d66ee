"""Finds the project of a folder from `.git` with a few stats and reads, without running git."""

from __future__ import annotations

import os

from capture.event import Project
from capture.files import regular

_BIG = 65536


def resolve(cwd: str, project_dir: str = "") -> Project:
    """The project of a session's folder.

    The folder's own checkout counts when it belongs to the client's project (a worktree of it), else the
    client's project. Without git it is the client's project folder, or the folder itself.
    A folder whose name is no UTF-8 is known as clients tell of it: by a name with replacement characters.
    """
    if not (cwd.isascii() and project_dir.isascii()):
        from capture.text import whole  # on use: start-up stays short

        cwd, project_dir = whole(cwd), whole(project_dir)
    here = _checkout(cwd)
    if project_dir and project_dir != cwd:
        there = _checkout(project_dir)
        if there and not (here and here.key == there.key):
            return there
        if here is None:
            return _plain(project_dir)
    return here or _plain(cwd or project_dir)


def _plain(folder: str) -> Project:
    """A project without git: the folder is all there is to know it by."""
    root = _clean(folder) or "/"
    home = _clean(os.path.expanduser("~"))
    name = "home" if root == home else os.path.basename(root) or root
    return Project(root, name, root)


def _clean(folder: str) -> str:
    return os.path.normpath(folder) if folder else ""


def _checkout(folder: str) -> Project | None:
    """The git checkout around a folder, if there is one; a home folder under git counts only for itself."""
    start = here = _clean(folder)
    if not os.path.isabs(here):
        return None
    home = _clean(os.path.expanduser("~"))
    while True:
        dot = os.path.join(here, ".git")
        git = _git_dir(dot)
        if git and not (here == home and start != home):
            return _project(here, git)
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def _git_dir(dot: str) -> str:
    """The git folder behind `.git`: itself, or where a worktree's or submodule's file points."""
    head = _read(os.path.join(dot, "HEAD"))
    if head:
        return dot
    line = _read(dot)
    if not line.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(dot), line[7:].strip()))


def _project(root: str, git: str) -> Project:
    """Identity from the remote, else from the main checkout that all worktrees share."""
    shared = _read(os.path.join(git, "commondir")).strip()
    common = os.path.normpath(os.path.join(git, shared)) if shared else git
    remote = _remote(_read(os.path.join(common, "config")))
    main = root
    if shared and os.path.basename(common) == ".git":
        main = os.path.dirname(common)
    key = normalise(remote) if remote else ""
    name = (key or main).rstrip("/").rpartition("/")[2] or main
    return Project(key or main, name, root, key, _branch(_read(os.path.join(git, "HEAD"))))


def _read(path: str) -> str:
    try:
        handle = regular(path)
    except OSError:
        return ""
    try:
        return os.read(handle, _BIG).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def _branch(head: str) -> str:
    """The branch of HEAD; a detached one is named by its short hash."""
    head = head.strip()
    if head.startswith("ref:"):
        return head[4:].strip().removeprefix("refs/heads/")
    return head[:12]


def _remote(config: str) -> str:
    """The url of `origin`, else of the first remote that a git config names."""
    section, first = "", ""
    for raw in config.splitlines():
        line = raw.strip()
        if line.startswith("["):
            section = line
        elif section.startswith("[remote ") and line.partition("=")[0].strip() == "url":
            url = line.partition("=")[2].strip().strip('"')
            if section == '[remote "origin"]':
                return url
            first = first or url
    return first


def normalise(url: str) -> str:
    """One spelling for all addresses of a repository: `host/owner/name`, without scheme, credentials, port or `.git`.

    A remote that is a folder stays its path.
    """
    url = url.strip()
    scheme, mark, rest = url.partition("://")
    if mark and scheme.lower() == "file":
        url, mark = rest, ""
    if not mark:
        host, colon, path = url.partition(":")
        if not colon or "/" in host or len(host) == 1:  # a path, or a drive letter
            return os.path.normpath(url).removesuffix(".git").rstrip("/") or url
        rest = f"{host}/{path.lstrip('/')}"
    host, _, path = rest.partition("/")
    host = host.rpartition("@")[2].lower()
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit():
        host = name
    path = path.partition("?")[0].partition("#")[0].strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if path else host
