"""Gives a client back a transcript that it deleted: nmem's copy, written where the client had it, never over a file.

It is written only below the client's own folder of sessions. Where the file was read to its end that stays known (SQL:
the places that were read to), so nothing of it is recorded a second time.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from capture.files import remove
from capture.storage.store import transaction
from capture.transcript.cursor import LIVE, Cursor, fingerprint, save
from nmem.errors import NmemError
from nmem.importing import discover
from nmem.sessions import copies, packing
from nmem.sessions.resume import Resume, slug
from nmem.text import printable


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
    _read_already(db, one.session_id, found[0], path, len(data))
    return path


def _why(db: Connection, one: Resume) -> str:
    row = db.execute("SELECT state FROM transcript_copies WHERE session_id = ?", (one.session_id,)).fetchone()
    whys = {
        copies.LARGE: "it was larger than [sessions] copy_mb", copies.UNREAD: "it could not be read",
        copies.DROPPED: "it was past its lifetime, or there was no room for it", copies.PURGED: "it was purged",
    }  # fmt: skip
    return whys.get(row[0], "there is none") if row else "its client deleted it before, or it is new"


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
    if one.client == "codex" and name.startswith("rollout-"):
        at = db.execute("SELECT started_at FROM sessions WHERE id = ?", (one.session_id,)).fetchone()[0]
        return str(Path(folder, f"{datetime.fromtimestamp(at / 1000).astimezone():%Y/%m/%d}", name))
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


def _read_already(db: Connection, session_id: str, before: str, path: str, size: int) -> None:
    """Reading goes on behind what was given back, by whom the client's file was read to its end: an import or a hook.

    Whoever had read a part of it has no place in what was given back, and begins anew: what is known is passed over.
    """
    keys = {before: path, os.path.realpath(before): os.path.realpath(path)}
    with transaction(db):
        whole = db.execute("SELECT size FROM transcript_copies WHERE session_id = ?", (session_id,)).fetchone()
        for old, new in [*keys.items(), *((LIVE + old, LIVE + new) for old, new in keys.items())]:
            row = db.execute(
                "SELECT offset, state, updated_at FROM transcript_cursors WHERE path = ? AND session_id = ?",
                (old, session_id),
            ).fetchone()
            db.execute("DELETE FROM transcript_cursors WHERE path IN (?, ?) AND session_id = ?", (old, new, session_id))
            if row and whole and row[0] >= whole[0]:
                place = Cursor(new, session_id, size, fingerprint(path), row[1] or "")
                save(db, place, row[2])
