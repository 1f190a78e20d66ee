"""The fields of the task form: typed text, parsed values, and errors by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from nmem import hours
from nmem.dispatch import accept
from nmem.dispatch.task import CLIENTS, LONGEST_LIMIT, MOST_RETRIES, NewTask, Task
from nmem.errors import NmemError
from nmem.learn import places
from nmem.text import fit, fit_path, lines, printable

_MOST_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the fields."""

    prompt: str = ""
    client: str = CLIENTS[0]
    folder: str = ""
    after: str = ""
    priority: str = ""
    needs: str = ""
    retries: str = ""
    worktree: str = "yes"
    stays: str = "no"
    limit: str = ""
    quiet: str = ""


HINTS = {
    "client": "← → choose",
    "folder": "or a project's name",
    "after": "30m, 22:30, tonight, tomorrow",
    "priority": "higher first",
    "needs": "tasks that must succeed: 3, 4",
    "retries": "tries after the first",
    "worktree": "a checkout of its own, in git",
    "stays": "stays open in its pane",
    "limit": "it is ended after 90s, 10m, 2h",
    "quiet": "23:00-07:00: not then; none",
}
"""Field -> what may stand in it."""
EMPTY = {"folder": "a folder", "after": "now", "priority": "0", "needs": "none", "retries": "0",
         "limit": "as configured", "quiet": "as configured"}  # fmt: skip
"""Field -> what none means."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a draft means."""

    values: Mapping[str, Any]
    """Fields of a new task; of an edited one only those that were changed."""
    wrong: Mapping[str, str] = field(default_factory=dict)
    """Field -> what is wrong with it, in a line."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the rest of the checks said, which need files and the database."""

    draft: Draft
    project: str = ""
    secrets: int = 0
    wrong: str = ""
    no_folder: str = ""
    """Why it cannot run in its folder."""


def of_task(one: Task) -> Draft:
    """A queued task as a draft."""
    return Draft(
        shown(one.prompt), one.client, printable(one.cwd), _moment(one.not_before),
        str(one.priority or ""), ", ".join(str(need) for need in one.needs), str(one.retries or ""),
        "yes" if one.worktree else "no", "yes" if one.interactive else "no", _span(one.time_limit),
        "" if one.quiet_hours is None else printable(one.quiet_hours) or "none",
    )  # fmt: skip


def _moment(at: int) -> str:
    """A time as it may be typed; nothing for none, or for one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(at / 1000, UTC).astimezone():%Y-%m-%d %H:%M}" if at else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _span(seconds: int) -> str:
    """A span as it may be typed; nothing for none."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds and not seconds % size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s" if seconds else ""


def of_new(new: NewTask, client: str) -> Draft:
    """A task that was made of something as a draft."""
    return Draft(shown(new.prompt), client, printable(new.cwd))


def shown(prompt: str) -> str:
    """A prompt as it may stand in a field: its own lines, nothing that a terminal would obey."""
    return "\n".join(lines(prompt, _MOST_LINES))


def meant(draft: Draft, now: int, before: Draft | None = None) -> Meant:
    """What was typed, as far as it can be told without files and the database; `before`: what is edited."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    known = asdict(before) if before is not None else {}
    for name, text in asdict(draft).items():
        if known.get(name) == text:
            continue
        try:
            own, value = _READ[name](text, now)
        except (NmemError, ValueError) as error:
            wrong[name] = str(error)
        else:
            values[own] = value
    return Meant(values, wrong)


def _prompt(text: str, _now: int) -> tuple[str, Any]:
    if not text.strip():
        raise ValueError("describe what to do")
    return "prompt", text


def _folder(text: str, _now: int) -> tuple[str, Any]:
    if not text.strip():
        raise ValueError("name a folder or a project to run in")
    return "cwd", text.strip()


def _after(text: str, now: int) -> tuple[str, Any]:
    return "not_before", hours.when(text, now)


def _number(name: str, low: int, high: int) -> Any:  # noqa: ANN401 -- a function like its neighbours
    def read(text: str, _now: int) -> tuple[str, Any]:
        try:
            number = int(text.strip() or 0)
        except ValueError:
            number = high + 1
        if not low <= number <= high:
            raise ValueError(f"use a whole number from {low} to {high}")
        return name, number

    return read


def _needs(text: str, _now: int) -> tuple[str, Any]:
    words = text.replace(",", " ").split()
    ids = [word.removeprefix("task/") for word in words]
    if not all(each.isdecimal() and each.isascii() and len(each) < 12 for each in ids):
        raise ValueError("use numbers of tasks: 3, 4")
    return "needs", tuple(dict.fromkeys(int(each) for each in ids))


def _limit(text: str, _now: int) -> tuple[str, Any]:
    seconds = hours.span(text) if text.strip() else 0
    if seconds > LONGEST_LIMIT:
        raise ValueError(f"at most {LONGEST_LIMIT // 86_400} days")
    return "time_limit", seconds


def _quiet(text: str, _now: int) -> tuple[str, Any]:
    return "quiet_hours", hours.quiet(text) if text.strip() else None


_READ: dict[str, Any] = {
    "prompt": _prompt, "client": lambda text, _now: ("client", text), "folder": _folder, "after": _after,
    "priority": _number("priority", -1000, 1000), "needs": _needs,
    "retries": _number("retries", 0, MOST_RETRIES),
    "worktree": lambda text, _now: ("worktree", None if text == "yes" else False),
    "stays": lambda text, _now: ("interactive", text == "yes"), "limit": _limit, "quiet": _quiet,
}  # fmt: skip


def new_task(base: NewTask | None, values: Mapping[str, Any]) -> NewTask:
    """The task that is meant; what it was made of keeps what no field says."""
    return (base or NewTask("", ""))._replace(**values)


def folder(db: Connection, text: str) -> str:
    """The folder that is meant: a path, else the folder of a project of this name. Raises NmemError."""
    path = Path(text).expanduser()
    if "/" in text or text.startswith(("~", ".")) or path.is_dir():
        return text
    try:
        return places.root(db, places.named(db, text)[0])
    except NmemError as error:
        raise NmemError(f"{fit(printable(text), 40)} is not a folder, and {error}") from None


def instead(db: Connection, gone: str, here: str) -> tuple[str, str]:
    """What stands for a session's folder that is gone: another one of its project, else `here`; what to say of it."""
    said = f"the session's folder, {fit_path(printable(gone), 40)}, is gone: "
    try:
        return places.root(db, places.named(db, gone)[0], here), said + "another one of its project stands here"
    except NmemError:
        return here, said + ("the one that nmem was started in stands here" if here else "name one that is there")


def placed(db: Connection, draft: Draft) -> Checked:
    """Whether its folder is there: told also while the rest is still to be written."""
    if not draft.folder.strip():
        return Checked(draft)
    try:
        return Checked(draft, accept.project(accept.folder(folder(db, draft.folder.strip()))))
    except NmemError as error:
        return Checked(draft, no_folder=printable(str(error)))


def checked(db: Connection, draft: Draft, new: NewTask, task_id: int) -> Checked:
    """Whether it would be taken as it is."""
    hidden = accept.secrets(new.prompt)
    if (place := placed(db, draft)).no_folder:
        return replace(place, secrets=hidden)
    try:
        found = accept.accepted(db, new._replace(cwd=folder(db, new.cwd)))
        if task_id:
            accept.needs(db, task_id, new.needs)
    except NmemError as error:
        return Checked(draft, secrets=hidden, wrong=printable(str(error)))
    return Checked(draft, found.project, hidden)
