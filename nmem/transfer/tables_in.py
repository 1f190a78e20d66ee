"""Imports an export of tables session by session, and merges it with existing rows.

A session that is not known here comes whole: its facts through the seal, its episodes, thread, summary, what it was
told; each in one transaction, so it can be broken off and begun again. Of a session that is known, rows that are
missing are added, and pins; what is concluded of it stays as it is here, and settling counts the new rows in.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice

from capture.event import Batch, Observation, Prompt
from capture.jsonio import dumps
from capture.seal import identity, seal
from capture.storage.sessions import KNOWN, Sessions
from capture.storage.store import transaction
from nmem.store.registry import Table, exported
from nmem.transfer import across, facts
from nmem.transfer.incoming import Incoming, Row, find
from nmem.transfer.outgoing import of_session

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
            across.bring(self)
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
            new = across.moved(self, table.name, row) if table.name.startswith("swept_") else self.moved(table, row)
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
