"""Imports an export, as lines of JSON or as tables: skips known records, redacts everything.

A session that is not known here comes whole: its facts through the seal, its episodes, thread, summary, what it was
told; each in one transaction, so it can be broken off and begun again. Of a session that is known, rows that are
missing are added, and pins; what is concluded of it stays as it is here, and settling counts the new rows in.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from capture.event import Batch, Observation, Prompt
from capture.jsonio import dumps
from capture.seal import identity, seal
from capture.storage import store
from capture.storage.rows import Sessions
from capture.storage.schema import MIGRATIONS, NewerDatabase, fold
from capture.storage.session import KNOWN
from capture.storage.store import transaction
from nmem import sealing, tables
from nmem.backup import copying
from nmem.database import worded
from nmem.errors import NmemError
from nmem.store.corrections import UNDONE_HERE
from nmem.store.registry import Table, exported
from nmem.transfer import facts
from nmem.transfer.facts import read_lines
from nmem.transfer.incoming import Folders, Incoming, Report, Row, find, versions
from nmem.transfer.outgoing import of_session

_WAIT = 30.0
_FOLD = 4000
"""Pages of the write-ahead log after which it is folded back: an import must not pile it up."""
Told = Callable[[int, int], None]


def take_in(db_path: str, source: str, folders: Folders, told: Told = lambda _done, _all: None) -> Report:
    """Merge an export, another memory's database or a backup into this one; `-` is standard input, lines only.

    Broken off, it goes on where it was when it is begun again. Raises NmemError.
    """
    begun = time.monotonic()
    report = Report()
    try:
        with closing(store.connect(db_path, timeout=_WAIT, autocheckpoint=_FOLD)) as db:
            tables.ensure(db)
            if source == "-":
                _lines(db, sys.stdin.buffer, "standard input", report, folders)
            elif _is_tables(source):
                _tables(db, source, report, folders, told)
            else:
                with Path(source).open("rb") as lines:
                    _lines(db, lines, source, report, folders)
            fold(db, int(_WAIT * 1000))
    except (sqlite3.Error, NewerDatabase) as error:
        raise NmemError(f"{db_path}: {worded(error)}; run it again to continue") from None
    except OSError as error:
        raise NmemError(f"{error.filename or db_path}: {error.strerror}") from None
    report.seconds = round(time.monotonic() - begun, 3)
    return report


def _is_tables(source: str) -> bool:
    with Path(source).open("rb") as file:
        head = file.read(64)
    if head.startswith(sealing.AGE):
        raise NmemError(f"{source} is an encrypted backup: use nmem restore")
    return head.startswith(b"SQLite format 3\0")


def _lines(db: sqlite3.Connection, lines: BinaryIO, name: str, report: Report, folders: Folders) -> None:
    facts.store_all(db, read_lines(lines, name, report), report, folders)


def _tables(db: sqlite3.Connection, source: str, report: Report, folders: Folders, told: Told) -> None:
    try:
        with copying.held(source) as there:
            _refuse(there, source)
            merge = Merge(there, db, report, folders)
            merge.all(told)
    except sqlite3.DatabaseError as error:
        if "malformed" in str(error) or "not a database" in str(error):
            raise NmemError(f"{source} is damaged: {error}") from None
        raise


def _refuse(there: sqlite3.Connection, source: str) -> None:
    """Raise NmemError for what is none of ours, or newer."""
    found = versions(there)
    if found is None:
        raise NmemError(f"{source} is a database, but not nmem's")
    facts_of, meaning = found
    if facts_of > len(MIGRATIONS) or meaning > tables.VERSION:
        known = f"{len(MIGRATIONS)}.{tables.VERSION}"
        raise NmemError(f"{source} has version {facts_of}.{meaning}, this nmem knows {known}: upgrade nmem")


_STANDING = ("state", "state_at", "state_by", "snoozed_until", "rule", "remedy")


def bring(merge: Incoming) -> None:
    """Everything, inside a transaction; twice is as once."""
    _projects(merge)
    for row in merge.rows("label_models", "1"):
        merge.insert("label_models", merge.wash(row))
    _threads(merge)
    _learnings(merge)
    _links(merge)
    _choices(merge)
    _corrections(merge)


def _projects(merge: Incoming) -> None:
    """Ids of projects whose sessions were all known before."""
    for row in merge.rows("projects", "1"):
        known = merge.numbers.of("projects", row["id"]) is not None
        if not known and (found := find(merge.here, "projects", "id", key=merge.folders.project(row).key)):
            merge.numbers.note("projects", row["id"], int(found[0]))
    for row in merge.rows("project_folders", "1"):
        project = merge.numbers.of("projects", row["project_id"])
        if project is not None:
            new = {**row, "folder": merge.folders.here(row["folder"]), "root": merge.folders.here(row["root"])}
            merge.insert("project_folders", merge.wash({**new, "project_id": project}))


def _threads(merge: Incoming) -> None:
    """The episode that stands for a thread, once all of them are there."""
    for row in merge.rows("threads", "primary_unit_id IS NOT NULL"):
        thread, unit = merge.numbers.of("threads", row["id"]), merge.numbers.of("work_units", row["primary_unit_id"])
        if thread is not None and unit is not None:
            merge.set_primary(thread, unit)


def _learnings(merge: Incoming) -> None:
    for row in merge.rows("learnings", "1 ORDER BY id"):
        project = merge.numbers.of("projects", row["project_id"])
        if project is None:
            continue
        new = merge.wash({**row, "project_id": project})
        here = find(merge.here, "learnings", "id, state", project_id=project, kind=new["kind"], key=new["key"])
        if here is None:
            merge.report.learnings += merge.insert("learnings", new) is not None
        else:
            merge.numbers.note("learnings", row["id"], int(here[0]))
            if here[1] == "open" and row["state"] != "open":
                # where it stands there counts where nobody has said anything here
                merge.change("learnings", int(here[0]), {name: new[name] for name in _STANDING if name in new})
                merge.report.learnings += 1
        _evidence(merge, row["id"])


def _evidence(merge: Incoming, old: int) -> None:
    learning = merge.numbers.of("learnings", old)
    for row in merge.rows("learning_evidence", "learning_id = ?", old):
        new = merge.wash({name: value for name, value in row.items() if name != "id"})
        new |= {"learning_id": learning, "observation_id": merge.numbers.of("observations", row["observation_id"]),
                "prompt_id": merge.numbers.of("prompts", row["prompt_id"])}  # fmt: skip
        own = {"role": row["role"], "session_id": new["session_id"], "at": row["at"]}
        there = find(merge.here, "learning_evidence", "1", learning_id=learning, **own)
        if not there and find(merge.here, "sessions", "1", id=new["session_id"]):
            merge.insert("learning_evidence", new)


def _links(merge: Incoming) -> None:
    for row in merge.rows("episode_links", "1"):
        earlier, later = (merge.numbers.of("threads", row[f"{which}_thread_id"]) for which in ("earlier", "later"))
        if earlier is not None and later is not None and earlier != later:
            new = merge.wash(row)
            new |= {"earlier_thread_id": earlier, "later_thread_id": later}
            merge.insert("episode_links", new)


def _choices(merge: Incoming) -> None:
    for table in ("context_choices", "context_usefulness", "pins_everywhere"):
        for row in merge.rows(table, "1"):
            project, item = merge.numbers.of("projects", row["project_id"]), merge.numbers.item(row["item"])
            if project is not None and item is not None:
                merge.insert(table, {**merge.wash(row), "project_id": project, "item": item})


def _corrections(merge: Incoming) -> None:
    """What a person changed there, older than all that was changed here."""
    for row in merge.rows("corrections", "1 ORDER BY id DESC"):
        target = merge.numbers.item(row["target"])
        if target is None or find(merge.here, "corrections", "1", at=row["at"], kind=row["kind"], target=target):
            continue
        new = {**merge.wash(row), "target": target}
        if not (merge.fresh and merge.numbers.same):
            new["id"] = merge.lowest_correction()
            if row["kind"] not in UNDONE_HERE:
                new["before"] = "{}"
        merge.put("corrections", new, ours=False)
        merge.report.corrections += 1


_ID, _PATH, _PROMPT = 0, 4, 9
"""Of a row of a trace: see nmem.store.trace."""


def moved(merge: Incoming, name: str, row: Row) -> Row:
    """A row of the tables of forgetting as it is here: ids, folders, nothing secret."""
    if name == "swept_keys":
        keys = "\n".join(identity(key) for key in row["keys"].split("\n"))
        return {**row, "session_id": identity(row["session_id"]), "keys": keys}
    if name == "swept_files":
        row = {**row, "file_path": merge.folders.here(row["file_path"])}
    if name == "swept_traces":
        row = {**row, "trace": _trace(merge, row["trace"])}
    return merge.wash(row)


def _trace(merge: Incoming, stored: str) -> str:
    """A trace with prompts of here, and with ids that no row here has or will get."""
    told = json.loads(stored)
    lines = told.get("rows", [])
    for line, number in zip(lines, _numbers(merge, "observations", [each[_ID] for each in lines]), strict=True):
        merge.numbers.note("observations", line[_ID], number)
        line[_ID], line[_PROMPT] = number, merge.numbers.of("prompts", line[_PROMPT])
        line[_PATH] = merge.folders.here(line[_PATH]) if line[_PATH] else None
    said = told.get("said", [])
    for one, number in zip(said, _numbers(merge, "prompts", [each[0] for each in said]), strict=True):
        one[0] = number
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _numbers(merge: Incoming, table: str, old: list[int]) -> list[int]:
    """Ids for what has no row: its own where nothing else was here, and never anybody else's from now on."""
    if not old:
        return []
    if merge.fresh:
        new = old
    else:
        places = {number: place for place, number in enumerate(sorted(old), merge.newest_number(table) + 1)}
        new = [places[number] for number in old]
    merge.hold_numbers(table, max(new))
    return new


_AT_ONCE = 400
_KEPT = ("id", "session_id", "prompt_id", "seq", "repeats", "last_at", "pinned", "phase", "scope", "locus", "novelty",
         "friction", "label_model", "exit_code", "duration_ms", "lines_added", "lines_removed")  # fmt: skip
"""Columns of an observation that the seal does not look at: numbers, and the name of a model."""


class Merge(Incoming):
    """One export on its way in."""

    def all(self, told: Callable[[int, int], None]) -> None:
        """Everything. Raises sqlite3.Error."""
        ids = self.session_ids()
        for number, session_id in enumerate(ids):
            self.numbers.next_session()
            with transaction(self.here):
                known = find(self.here, "sessions", "1", id=identity(session_id)) is not None
                if not known:
                    self._session(session_id)
            if known:
                facts.store_all(self.here, of_session(self.there, session_id), self.report, self.folders)
            told(number + 1, len(ids))
        self.numbers.next_session()
        with transaction(self.here):
            bring(self)
        self.report.redacted += self.washer.total

    # one session

    def _session(self, session_id: str) -> None:
        """All of a session that is not known here."""
        session = next(self.rows("sessions", "id = ?", session_id))
        project = next(self.rows("projects", "id = ?", session["project_id"]))
        row = self._head(session, project)
        self._prompts(session_id, row)
        self._observations(session_id, row)
        for table in exported("session"):
            self._others(table, session_id)
        self.report.sessions += 1

    def _head(self, session: Row, project: Row) -> Row:
        """The session's own row, and its project's."""
        batch = Batch(session["client"], session["id"], session["last_at"], self.folders.here(session["cwd"]),
                      session["origin"])  # fmt: skip
        batch.project = self.folders.project(project)
        batch.session = {name: session.get(name) for name in KNOWN if name != "cwd"}
        sealed = seal(batch).batch
        self.report.redacted += sum(sealed.redactions.values())
        project_id = Sessions(self.here).of(sealed).project_id
        self.numbers.note("projects", int(project["id"]), project_id)
        row = {**session, **sealed.session, "id": sealed.session_id, "project_id": project_id, "cwd": sealed.cwd,
               "client": sealed.client, "origin": sealed.origin}  # fmt: skip
        row["state"] = "idle" if session["state"] == "working" else session["state"]
        self.change("sessions", row["id"], {name: row[name] for name in self.columns("sessions") if name != "id"})
        return row

    def _sealed(self, session: Row) -> Batch:
        return Batch(session["client"], session["id"], session["last_at"], session["cwd"], session["origin"])

    def _prompts(self, session_id: str, session: Row) -> None:
        rows = self.rows("prompts", "session_id = ? ORDER BY at, id", session_id)
        while some := list(islice(rows, _AT_ONCE)):
            batch = self._sealed(session)
            batch.prompts = [
                Prompt(row["at"], row["source"], row["kind"], row["content"], dedup_key=row["dedup_key"],
                       native_id=row["native_id"] or "", agent_id=row["agent_id"] or "") for row in some
            ]  # fmt: skip
            sealed = seal(batch).batch
            self.report.redacted += sum(sealed.redactions.values())
            for row, said in zip(some, sealed.prompts, strict=True):
                new = {"id": row["id"], "session_id": sealed.session_id, "at": said.at, "source": said.source,
                       "kind": said.kind, "content": said.content, "native_id": said.native_id or None,
                       "agent_id": said.agent_id or None, "dedup_key": said.dedup_key}  # fmt: skip
                self.report.prompts += self.insert("prompts", new) is not None

    def _observations(self, session_id: str, session: Row) -> None:
        rows = self.rows("observations", "session_id = ? ORDER BY seq", session_id)
        while some := list(islice(rows, _AT_ONCE)):
            batch = self._sealed(session)
            batch.observations = [self._seen(row) for row in some]
            sealed = seal(batch).batch
            self.report.redacted += sum(sealed.redactions.values())
            for row, seen in zip(some, sealed.observations, strict=True):
                new = {name: row[name] for name in self.columns("observations") if name in _KEPT}
                new |= {"session_id": sealed.session_id, "prompt_id": self.numbers.of("prompts", row["prompt_id"]),
                        "at": seen.at, "obs_type": seen.obs_type, "tool_name": seen.tool_name or None,
                        "tool_use_id": seen.tool_use_id or None, "agent_id": seen.agent_id or None,
                        "file_path": seen.file_path, "content": seen.content, "outcome": seen.outcome,
                        "metadata": dumps(seen.metadata) if seen.metadata else None,
                        "dedup_key": seen.dedup_key}  # fmt: skip
                self.report.observations += self.insert("observations", new) is not None

    def _seen(self, row: Row) -> Observation:
        seen = Observation(row["at"], row["obs_type"], row["content"], dedup_key=row["dedup_key"])
        seen.outcome, seen.tool_name = row["outcome"], row["tool_name"] or ""
        seen.tool_use_id, seen.agent_id = row["tool_use_id"] or "", row["agent_id"] or ""
        seen.file_path = self.folders.here(row["file_path"]) if row["file_path"] else None
        try:
            found = json.loads(row["metadata"] or "{}")
        except ValueError:
            found = {}
        seen.metadata = found if isinstance(found, dict) else {}
        return seen

    # what is concluded of it

    def _others(self, table: Table, session_id: str) -> None:
        assert table.export is not None
        where = table.rows_of("(?)") + (" ORDER BY id" if table.export.own else "")
        for row in self.rows(table.name, where, session_id):
            if table.name == "session_threads":
                self._thread(row["thread_id"])
            new = moved(self, table.name, row) if table.name.startswith("swept_") else self.moved(table, row)
            if new is not None and self.insert(table.name, new) is not None:
                self.report.episodes += table.name == "work_units"

    def _thread(self, old: int) -> None:
        """The thread of a session, entered with the first session of it."""
        if self.numbers.of("threads", old) is not None:
            return
        for row in self.rows("threads", "id = ?", old):
            new = self.wash(
                {**row, "project_id": self.numbers.of("projects", row["project_id"]), "primary_unit_id": None}
            )
            self.report.threads += self.insert("threads", new) is not None

    def moved(self, table: Table, row: Row) -> Row | None:
        """A row with ids of here; None where what it belongs to is not here."""
        new, export = self.wash(row), table.export
        assert export is not None
        for column, space in export.refs.items():
            if row.get(column) in (None, 0) and column in row:
                continue
            new[column] = self.numbers.of(space, row.get(column))
            if new[column] is None and column not in export.optional.split():
                if column != "annotated_prompt":
                    return None
                new[column] = 0
        if table.name == "work_units" and not self.fresh:
            new["obs_trace"] = json.dumps(self.numbers.trace(json.loads(new["obs_trace"])), ensure_ascii=False)
        if table.name == "injection_items":
            new["item"] = self.numbers.item(row["item"]) or row["item"]
        if not export.own:
            new.pop("id", None)
        return new
