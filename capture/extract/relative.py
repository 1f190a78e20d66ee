"""Normalizes paths for storage: relative to the project's root with forward slashes, absolute outside it."""

from __future__ import annotations

import os

UNKNOWN = "~"
"""The home of a session of another machine that nothing tells: paths below it stay as they are written."""


def relative(path: str, root: str, cwd: str = "", home: str = "") -> str | None:
    """A path as it is kept; None for no path. Links are not followed, nothing is looked up.

    `path` may be relative to `cwd`, begin with ~ or file://, or be a Windows path; the root itself is ".". `home` is
    what ~ stands for; empty: the user's own. What begins with ~name stays as it is written.
    """
    path = path.strip()
    if not path or "\n" in path or "\0" in path:
        return None
    path = path.removeprefix("file://localhost").removeprefix("file://")
    windows = _windows(path) or _windows(cwd) or _windows(root)
    if windows:
        path, root, cwd = _forward(path), _forward(root), _forward(cwd)
    if path == "~" or path.startswith("~/"):
        path = (home or os.path.expanduser("~")).replace("\\", "/") + path[1:]
        if home == UNKNOWN:
            return _normal(path)
    elif path[0] == "~" and "/" in path:
        return _normal(path)  # below another account's home, wherever that is
    if not _absolute(path):
        path = f"{cwd or root}/{path}"
    path, root = _normal(path), _normal(root)
    if not root or root == "/":
        return path
    same = (path.lower(), root.lower()) if windows else (path, root)
    if same[0] == same[1]:
        return "."
    return path[len(root) + 1 :] if same[0].startswith(same[1] + "/") else path


def _windows(path: str) -> bool:
    return (path[1:2] == ":" and path[2:3] in ("\\", "/")) or path.startswith("\\\\")


def _forward(path: str) -> str:
    """Forward slashes, and /c/x of a Unix shell on Windows as C:/x."""
    path = path.replace("\\", "/")
    if path[:1] == "/" and path[2:3] == "/" and path[1:2].isalpha():
        return f"{path[1].upper()}:{path[2:]}"
    return path[0].upper() + path[1:] if path[1:2] == ":" else path


def _absolute(path: str) -> bool:
    return path.startswith("/") or path[1:3] == ":/"


def _normal(path: str) -> str:
    """Without `.`, `..`, doubled and closing slashes."""
    if "//" not in path and "/." not in path and not path.endswith("/"):
        return path
    head = "//" if path.startswith("//") and not path.startswith("///") else "/" if path.startswith("/") else ""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts and not parts[-1].endswith(":"):
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return head + "/".join(parts)
