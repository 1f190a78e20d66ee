"""Recall settings from config.toml, without reading TOML at each question.

[recall]
folders = ["notes/decisions"]    # looked for before the usual ones, in the project
index = "notes/index.md"         # looked for before the usual ones, in the project
offer = true                     # whether a session is told of decisions that it speaks of
"""

from __future__ import annotations

from capture import config_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    Said = tuple[list[str], str, bool]


def load() -> tuple[tuple[str, ...], str]:
    """The folders and the index that a person named. Raises NmemError for a file that is wrong."""
    folders, index, _ = _said()
    return tuple(folders), index


def offers() -> bool:
    """Whether decisions are offered unasked. Raises NmemError."""
    return _said()[2]


def _said() -> Said:
    return config_table.load("recall", ([str], str, bool), _form, _unread)


def _form(document: dict[str, object], _file: str) -> Said:
    if not document:
        return [], "", True
    from nmem.settings import file  # on use: start-up stays short

    said = file.values("recall")
    folders, index = said.get("folders", ()), said.get("index", "")
    names = [str(each) for each in folders] if isinstance(folders, (list, tuple)) else []
    return names, str(index), said.get("offer", True) is not False


def _unread(trouble: str) -> Said:
    from nmem.errors import NmemError  # on use: start-up stays short

    raise NmemError(trouble)
