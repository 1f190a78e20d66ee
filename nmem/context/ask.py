"""Lines at the end of what is told: how and when to ask the memory, and who else is at work (on the hook's path).

An agent that is told so asks by itself. So the line is told whatever else is, and is no part of its budget; but not in
a project without a past, and not to a conversation that has it. That another session edits files, or edited them lately
and is not over, is told once for each such session.
"""

from __future__ import annotations

import os
import sys

from capture import cache, paths
from capture.clients.said import BEGIN, END
from nmem.context import selection_store
from nmem.context.items import ASK, BESIDE, Item, tokens
from nmem.context.places import edits
from nmem.names import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.config import Config
    from nmem.context.decide import Decision
    from nmem.context.places import Edit
    from nmem.context.present import Present

ID = "ask/memory"
MOST = 60
"""Tokens of the line with its marks."""
SETTING = "it is told at each start: nmem config set context.ask false"
_WHEN = (
    "Recorded by nmem: earlier sessions here can be searched. Before deciding how something should behave, or when"
    " something fails:"
)
_SAYS = ("{0} finds what was said and decided, {1} reads it.", "{0} finds what was said and decided.", "{0}")
_TOOLS = (
    "Recorded by nmem: before deciding how something should behave, or when something fails, {0} finds what earlier"
    " sessions said and decided. When the user turns to another task: {1}."
)
_CALLED = {"claude": "mcp__nmem__{}", "codex": "mcp__nmem__{}", "gemini": "mcp_nmem_{}"}
"""How a client's model calls a tool of the server."""


def add(db: Connection, present: Present, config: Config | None, made: Decision, most: int, source: str) -> None:
    """Put the line at the end of what a start tells, where there is a past to ask about.

    `most`: bytes that the client takes, 0 where nobody knows. Raises sqlite3.Error.
    """
    if config is None or not config.ask or not _wanted(present, source) or not _past(db, present, source):
        return
    from nmem.context.decide import silent  # on use: start-up stays short

    if silent(db, present, config):
        return
    said = line(present.client, present.cwd)
    if _added(made, Item(ID, ASK, said, score=1.0, reason=SETTING), most):
        made.reason = made.reason or "the memory can be asked"


def _added(made: Decision, item: Item, most: int) -> bool:
    """Put a line at the end of what is told; False where the client takes no more."""
    text = f"{made.text.removesuffix(END)}{item.text}\n{END}" if made.text else f"{BEGIN}\n{item.text}\n{END}"
    if most and len(text.encode("utf-8", "replace")) > most:
        return False
    made.items, made.text = [*made.items, item], text
    return True


_AT_WORK = "it edited lately and has not ended: nmem config set context.beside false"
_WORKS = ("working", "waiting")
"""States of a session in the midst of a turn; or that was left there: an interrupt, a kill and a closed terminal tell
no end."""
_NOW = 5 * 60_000
"""Milliseconds for which whoever edited a file is believed to be at it still."""
_LINES, _FILES = 3, 3
"""Sentences, and files in each, that are told."""


def beside(db: Connection, present: Present, config: Config | None, made: Decision, most: int) -> None:
    """Say which other sessions edit which files of the project, or did lately, each of them once. One query.

    `most` as for `add`. Raises sqlite3.Error.
    """
    if config is None or not config.beside or made.silent:
        return
    others: dict[tuple[str, str], list[Edit]] = {}
    unsaid = present.unsaid
    for one in edits(db, present.at, present.project_id, present.session_id):
        known = one.session_id == present.session_id or f"{BESIDE}/{one.session_id}" in present.given
        if one.state in _WORKS and not known and not (unsaid and unsaid.names(one.name)):
            others.setdefault((one.session_id, one.where), []).append(one)
    lines = [
        (session_id, said)
        for (session_id, where), files in others.items()
        if (said := _editing(files, where, present.at))
    ]
    for session_id, said in lines[:_LINES]:
        if _added(made, Item(f"{BESIDE}/{session_id}", BESIDE, said, score=1.0, reason=_AT_WORK), most):
            made.reason = made.reason or "another session edited lately"


def _editing(files: Sequence[Edit], where: str, now: int) -> str:
    """Who edits what, or did how long ago, and where, in one sentence; empty where no name can be told."""
    fresh, before = (_listed([one for one in files if (now - one.at <= _NOW) is new]) for new in (True, False))
    place = where and f" {where}"
    if fresh:
        said = f"is editing {fresh}{place} now{f', and edited {before} before' if before else ''}"
    else:
        from nmem.retrieval.terms import ago  # on use: start-up stays short

        said = f"edited {before}{place}, last {ago(now - files[0].at)}, and has not ended"
    return f"Another session ({files[0].client}) {said}." if fresh or before else ""


def _listed(files: Sequence[Edit]) -> str:
    """Files by name, the first few; empty where no name can be told."""
    names = [name for one in files[:_FILES] if (name := told(one.name))]
    if not names:
        return ""
    more = len(files) - _FILES
    names += [f"{more} more file{'s' if more > 1 else ''}"] if more > 0 else []
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


_FORGET = ("gemini",)
"""Clients whose conversation, taken up again, has lost what its start was told."""


def line(client: str, cwd: str = "") -> str:
    """The line itself: by the tools where this client has them, else by the commands."""
    prefix = _CALLED.get(client, "") if _served(client, cwd) else ""
    if prefix:
        return _TOOLS.format(prefix.format("search"), prefix.format("episode"))
    program = _program()
    ways = f"`{program} search WORDS`", f"`{program if program == 'nmem' else '…'} show ID`"
    room = MOST - tokens(f"{BEGIN}\n\n{END}")
    made = [f"{_WHEN} {each.format(*ways)}" for each in _SAYS]
    return next((each for each in made if tokens(each) <= room), made[-1])


def doors(db: str) -> str:
    """The file that says which clients have the tools; nmem.mcp.registration keeps it."""
    return os.path.join(paths.cache(db), "doors.bin")  # noqa: PTH118 - on the hook path


SHAPE = {str: [str]}
"""Client -> folders in which it has nmem's server; "" is everywhere."""


def _served(client: str, cwd: str) -> bool:
    found: dict[str, list[str]] | None = cache.read(doors(paths.database()), SHAPE)  # type: ignore[assignment]
    here = f"{cwd}/"
    return any(not folder or here.startswith(f"{folder}/") for folder in (found or {}).get(client, ()))


def _program() -> str:
    """How the commands are called from where this runs: by name where that is found, else by their place."""
    name = "nmem.exe" if os.name == "nt" else "nmem"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and os.access(f"{folder}/{name}", os.X_OK):
            return "nmem"
    beside = f"{os.path.dirname(sys.executable)}/{name}"  # noqa: PTH120 - on the hook path
    return beside if os.access(beside, os.X_OK) else "nmem"


def _wanted(present: Present, source: str) -> bool:
    """Whether the conversation does not have the line yet; a fork's was begun with it."""
    if source == "resume" and present.client in _FORGET:
        return True
    return source == "compact" or (source != "fork" and ID not in present.given)


def _past(db: Connection, present: Present, source: str) -> bool:
    """Whether anything was said in the project before: in another session, or in this one before it was folded."""
    return selection_store.has_past(db, present.project_id, "" if source == "compact" else present.session_id)
