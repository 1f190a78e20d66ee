"""Merges what an export holds beyond single sessions : learnings, thread links, pins, corrections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from capture.seal import identity
from nmem.transfer.incoming import find

if TYPE_CHECKING:
    from nmem.transfer.incoming import Incoming, Row

_STANDING = ("state", "state_at", "state_by", "snoozed_until", "rule", "remedy")
UNDONE_HERE = ("pin", "unpin", "everywhere", "here", "mark", "label")
"""Corrections whose undo needs no rows of before: they can be taken back wherever they are."""


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
