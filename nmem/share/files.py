"""Writes what is shared into a folder: a file for each form, named after the title; overwrites nothing unasked."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from capture.install import atomic
from nmem.errors import NmemError
from nmem.share import PLACEHOLDER, markdown, page
from nmem.share.document import Document
from nmem.text import printable

FORMS = {"md": markdown.write, "html": page.write}
_WORDS = re.compile(r"[^\W_]+")
_LONGEST, _COPIES = 60, 1_000
"""Bytes of a name without its ending; numbers that are tried where it is taken."""


def write(document: Document, folder: str, forms: Sequence[str], *, force: bool = False) -> list[str]:
    """The paths of the files made, as `folder` is written. Raises NmemError; then none of them was changed."""
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise NmemError(f"{printable(folder)} is not a folder: make it first, or name another with --out")
    paths = [place / f"{name(document)}.{form}" for form in forms]
    for path in () if force else filter(_taken, paths):
        raise NmemError(f"{printable(str(path))} exists: --force overwrites it, --out names another folder")
    _write({path: FORMS[form](document) for path, form in zip(paths, forms, strict=True)}, force=force)
    return [str(path) for path in paths]


def write_new(document: Document) -> list[str]:
    """The same in every form and in the current folder; where the name is taken, a number is added."""
    stem = name(document)
    for number in range(1, _COPIES):
        paths = [Path(f"{stem}{f'-{number}' if number > 1 else ''}.{form}") for form in FORMS]
        if not any(map(_taken, paths)):
            _write({path: FORMS[form](document) for path, form in zip(paths, FORMS, strict=True)}, force=False)
            return [str(path) for path in paths]
    raise NmemError(f"{stem} exists already, with {_COPIES} numbered copies")


def _taken(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def name(document: Document) -> str:
    """A file's name of the words of a title; the episode's number where it has none."""
    title = re.sub(re.escape(PLACEHOLDER) + r"[\w-]*\]", " ", document.title)
    words = "-".join(_WORDS.findall(title.lower()))
    if len(words.encode()) > _LONGEST:
        words = words.encode()[:_LONGEST].decode("utf-8", "ignore").rpartition("-")[0] or words[:20]
    return words or f"episode-{document.episodes[0]}"


def _write(texts: Mapping[Path, str], *, force: bool) -> None:
    """All files or none, each whole or as it was, new ones for the owner alone; a link in its place is not followed."""
    for path in filter(Path.is_symlink, texts):
        raise NmemError(f"{printable(str(path))} cannot be written: it is a link")
    done: dict[str, tuple[bytes | None, bytes]] = {}
    for path, text in texts.items():
        name, after = str(path), text.encode("utf-8", "replace")
        try:
            before = atomic.read(name) if force else None
            atomic.replace(name, after, before)
            done[name] = (before, after)
        except (OSError, atomic.Changed) as error:
            with contextlib.suppress(OSError, atomic.Changed):
                for made, (old, new) in done.items():
                    atomic.delete(made, new) if old is None else atomic.replace(made, old, new)
            why = (error.strerror or error) if isinstance(error, OSError) else "it changed just now"
            raise NmemError(f"{printable(name)} cannot be written: {why}") from None
