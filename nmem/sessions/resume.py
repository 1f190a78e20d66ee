"""Makes the command that goes on with a session, in its client's own words; gives the client a deleted transcript back.

A client finds a session by the folder that it was begun in, so that is where the command runs. Nothing is started here
but panes of tmux. A copy is written only below the client's own folder of sessions, never over a file; where the file
was read to its end that stays known, so nothing of it is recorded a second time.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from capture.files import remove
from capture.transcript.cursor import fingerprint
from nmem.dispatch import clients, tmux
from nmem.dispatch.child import without_parents
from nmem.dispatch.config import load
from nmem.errors import NmemError
from nmem.importing import discover
from nmem.sessions import copies, packing, store
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
    row = store.begun(db, session_id)
    if row is None:
        raise NmemError(f"there is no session {printable(session_id)}: `nmem sessions` lists them")
    client, cwd, root, transcript, copied, _ = row
    words = clients.resume(client, session_id)
    if not words:
        raise NmemError(f"nmem does not know how {printable(client)} resumes a session: use its own list of sessions")
    if not _ID.fullmatch(session_id):
        raise NmemError(f"{printable(session_id)} is no id that {client} would take: resume it from its own list")
    folder = begun_in(transcript or "", _folders(db, session_id, cwd, root)) if client == "claude" else cwd
    return Resume(session_id, client, tuple(words), folder or root, transcript or "", bool(copied))


def _folders(db: Connection, session_id: str, cwd: str, root: str) -> list[str]:
    """Where a session may have begun, the likeliest first."""
    above = [str(each) for each in Path(cwd).parents] if cwd else []
    return list(dict.fromkeys([cwd, root, *store.folders(db, session_id), *above]))


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


# The transcript, where its client deleted it


def restore(db: Connection, one: Resume) -> str:
    """Write the copy of a session's transcript; the path that it was written to. Outside a transaction.

    Raises NmemError where there is no copy, the client's file is there, or it cannot be written.
    """
    found = copies.give(db, one.session_id)
    if found is None:
        raise NmemError(f"nmem has no copy of this session's transcript: {_why(db, one)}")
    path = _place(db, one, found[0])
    if os.path.lexists(path):
        raise NmemError(f"{printable(path)} is there: nothing was written")
    # once more by the rules of today: they may have changed since it was copied
    with copies.within_rules(db, one.session_id):
        data = packing.unpack(packing.pack(found[1], document=path.endswith(".json")))
    _write(path, data)
    keys = {found[0]: path, os.path.realpath(found[0]): os.path.realpath(path)}
    store.read_already(db, one.session_id, keys, len(data), fingerprint(path))
    return path


def _why(db: Connection, one: Resume) -> str:
    known = store.copy(db, one.session_id)
    whys = {
        store.LARGE: "it was larger than [sessions] copy_mb", store.UNREAD: "it could not be read",
        store.DROPPED: "it was past its lifetime, or there was no room for it", store.PURGED: "it was purged",
    }  # fmt: skip
    return whys.get(known[2], "there is none") if known else "its client deleted it before, or it is new"


def _place(db: Connection, one: Resume, path: str) -> str:
    """Where it goes: where the client had it, if that is its own folder here, else where it would look for it."""
    folders = [str(each) for each in discover.folders(one.client)]
    if not any(copies.within(path, folder) for folder in folders):
        path = _here(db, one, Path(path).name, folders[0] if folders else "")
        if path and not copies.within(path, folders[0]):
            raise NmemError(f"{printable(path)} leads out of {printable(folders[0])}: nothing was written")
    if not path:
        raise NmemError(f"{one.client} keeps its sessions nowhere on this machine: nothing was written")
    return path


def _here(db: Connection, one: Resume, name: str, folder: str) -> str:
    """Where a client would look for a session of another place; empty where nobody knows."""
    if one.client == "claude":
        return str(Path(folder, slug(one.folder), f"{one.session_id}.jsonl"))
    if one.client == "codex" and name.startswith("rollout-") and (row := store.begun(db, one.session_id)):
        return str(Path(folder, f"{datetime.fromtimestamp(row[-1] / 1000).astimezone():%Y/%m/%d}", name))
    return ""


def _write(path: str, data: bytes) -> None:
    """Write a file that is not there yet, for the user alone; whole or not at all."""
    aside = f"{path}.{os.getpid()}.nmem"
    try:
        paths.make(str(Path(path).parent))
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            os.link(aside, path)  # never over another file
        finally:
            remove(aside)
    except FileExistsError:
        raise NmemError(f"{printable(path)} is there: nothing was written") from None
    except OSError as error:
        raise NmemError(f"{printable(path)} cannot be written: {error.strerror or error}") from None
