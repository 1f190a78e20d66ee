"""Makes the command that goes on with a session: its client's own words, and the folder to run them in (SQL, reads).

A client finds a session by the folder that it was begun in, so that is where the command runs. Nothing is started here
but panes of tmux.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from nmem.dispatch import clients, tmux
from nmem.dispatch.child import without_parents
from nmem.dispatch.config import load
from nmem.errors import NmemError
from nmem.text import printable

_ID = re.compile(r"[0-9A-Za-z_][\w.:-]{0,199}")
"""What may stand as a word of a command: never an option."""
_NOT_IN_SLUG = re.compile(r"[^0-9A-Za-z]")


@dataclass(frozen=True, slots=True)
class Resume:
    """What resumes a session: its client's command, and the folder to run it in."""

    session_id: str
    client: str
    words: tuple[str, ...]
    folder: str
    transcript: str
    """Where the client keeps it, or kept it; empty where that is not known."""
    copied: bool
    """Whether nmem keeps a copy of it."""

    @property
    def deleted(self) -> bool:
        """Whether the client's transcript is gone: it cannot resume the session."""
        return bool(self.transcript) and not os.path.lexists(self.transcript)

    @property
    def folder_gone(self) -> bool:
        """Whether there is no folder to run it in."""
        return not Path(self.folder).is_dir()

    @property
    def line(self) -> str:
        """The command as a line for a shell."""
        return f"cd {shlex.quote(self.folder)} && {shlex.join(self.words)}"


def plan(db: Connection, session_id: str) -> Resume:
    """How to go on with a session. Raises NmemError where there is none, or its client resumes none."""
    row = db.execute(
        "SELECT s.client, s.cwd, p.root, s.transcript_path, EXISTS (SELECT 1 FROM transcript_copies c"
        " WHERE c.session_id = s.id AND c.packed IS NOT NULL) FROM sessions s JOIN projects p ON p.id = s.project_id"
        " WHERE s.id = ?", (session_id,)
    ).fetchone()  # fmt: skip
    if row is None:
        raise NmemError(f"there is no session {printable(session_id)}: `nmem sessions` lists them")
    client, cwd, root, transcript, copied = (row[0], row[1], row[2], row[3] or "", bool(row[4]))
    words = clients.resume(client, session_id)
    if not words:
        raise NmemError(f"nmem does not know how {printable(client)} resumes a session: use its own list of sessions")
    if not _ID.fullmatch(session_id):
        raise NmemError(f"{printable(session_id)} is no id that {client} would take: resume it from its own list")
    folder = begun_in(transcript, _folders(db, session_id, cwd, root)) if client == "claude" else cwd
    return Resume(session_id, client, tuple(words), folder or root, transcript, copied)


def _folders(db: Connection, session_id: str, cwd: str, root: str) -> list[str]:
    """Where a session may have begun, the likeliest first."""
    known = db.execute(
        "SELECT folder FROM project_folders WHERE project_id = (SELECT project_id FROM sessions WHERE id = ?)",
        (session_id,),
    ).fetchall()
    above = [str(each) for each in Path(cwd).parents] if cwd else []
    return list(dict.fromkeys([cwd, root, *(str(each[0]) for each in known), *above]))


def slug(folder: str) -> str:
    """The name of the folder in which Claude Code keeps the sessions of a folder."""
    return _NOT_IN_SLUG.sub("-", folder)


def begun_in(transcript: str, folders: list[str]) -> str:
    """Which of some folders a session of Claude Code began in, by where its transcript lies; else the first."""
    name = Path(transcript).parent.name if transcript else ""
    return next((each for each in folders if each and slug(each) == name), folders[0])


def ready(one: Resume) -> None:
    """Raises NmemError where the command cannot work: no folder, no program, no transcript."""
    if one.folder_gone:
        raise NmemError(f"its folder is gone: {printable(one.folder)}")
    if shutil.which(one.words[0]) is None:
        raise NmemError(f"{one.words[0]} is not on the PATH: install it, or run the command where it is")
    if one.deleted:
        raise NmemError(gone(one))


def gone(one: Resume) -> str:
    """That its client has deleted the transcript, and whether it comes back."""
    copy = f": `nmem resume {one.session_id} --restore` gives it back" if one.copied else ", and nmem has no copy of it"
    return f"{one.client} has deleted its transcript ({printable(one.transcript)}){copy}"


def pane(one: Resume, environ: Mapping[str, str] = os.environ) -> str:
    """Open it beside this pane of tmux, else in a window of the session of tasks; what was opened, in words.

    Raises NmemError where there is no tmux, or the command cannot work.
    """
    ready(one)
    program = shutil.which(one.words[0]) or one.words[0]  # tmux may have another PATH
    words = without_parents([program, *one.words[1:]])
    socket, target = environ.get("TMUX", "").partition(",")[0], environ.get("TMUX_PANE", "")
    if socket and target:
        tmux.open_beside(socket, target, one.folder, words)
        return "in a pane beside this one"
    config = load()
    name = f"resume {one.session_id[:8]}"
    opened = tmux.open_window(config.tmux_socket, config.tmux_session, name, one.folder, words)
    return f"in tmux: {shlex.join(tmux.attach(config.tmux_socket, opened, inside=False))}"


def likely(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a pane can be opened beside the person's own."""
    return bool(environ.get("TMUX") and environ.get("TMUX_PANE")) and tmux.installed()
