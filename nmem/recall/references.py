"""Finds references to a heading in a project's texts: they would break if the heading were renamed."""

from __future__ import annotations

import os
import time

from capture.files import regular

_ENDINGS = (".md", ".markdown", ".txt", ".rst", ".mdc")
_LEFT = {".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", "target"}
_HIDDEN = (".claude", ".agents", ".github")
_LARGEST = 1_000_000
_MOST_FILES = 4_000
_MOST = 20
"""Places that are told of one heading."""
_SECONDS = 20.0


def find(root: str, headings: list[str], but: str = "", seconds: float = _SECONDS) -> dict[str, list[str]]:
    """For each heading the places (file:line) that name it, in words or by anchor, itself included; but one file.

    What is not looked through in time is left out, and named under "".
    """
    until = time.monotonic() + seconds
    wanted = {heading.casefold(): heading for heading in headings if len(heading) > 4}
    anchors = {f"#{slug(heading)}": heading for heading in headings}
    out: dict[str, list[str]] = {}
    for path in _files(root):
        if but and os.path.samefile(path, but):
            continue
        if time.monotonic() > until:
            out.setdefault("", []).append(os.path.relpath(path, root))
            continue
        try:
            with open(path, encoding="utf-8", errors="replace", opener=regular) as file:
                text = file.read(_LARGEST).casefold()
        except OSError:
            continue
        found = [(old, heading) for old, heading in {**wanted, **anchors}.items() if old in text]
        if not found:
            continue
        name = os.path.relpath(path, root)
        for number, line in enumerate(text.split("\n"), 1):
            for old, heading in found:
                if old in line and len(out.setdefault(heading, [])) < _MOST:
                    out[heading].append(f"{name}:{number}")
    return out


def slug(heading: str) -> str:
    """The anchor that markdown readers make of a heading."""
    kept = "".join(char for char in heading.casefold() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")


def _files(root: str) -> list[str]:
    out: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if (name not in _LEFT and not name.startswith(".")) or name in (".claude", ".agents")
        )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.lower().endswith(_ENDINGS) and not os.path.islink(path) and os.path.getsize(path) <= _LARGEST:
                out.append(path)
                if len(out) >= _MOST_FILES:
                    return out
    return out
