"""Loads what sessions did with each rule, learning and written decision, to tell whether it held.

Taken from what is recorded: findings of sessions (nmem.learn.find), calls, what sessions were told, questions about
decisions. Sessions count that were read and in which something was called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from sqlite3 import Connection

from nmem.learn import lessons, read, worded
from nmem.learn.commands import normalise
from nmem.learn.find import COMMAND, ERROR, STRETCH
from nmem.learn.kinds import skills, words
from nmem.learn.learning import (
    ACCEPTED,
    CORRECTION,
    FAILED_COMMAND,
    OPEN,
    RECURRING_ERROR,
    RESOLVED,
    SKILL,
    SNOOZED,
    STUCK_LOOP,
    Learning,
)
from nmem.learn.lessons import Exposure, Lesson, Report, Seen, Session
from nmem.learn.remedies import SPELLING
from nmem.learn.rows import Row
from nmem.learn.worded import Worded
from nmem.read import figures
from nmem.read.figures import SAME_END, SAME_FILE, SAME_TOOL
from nmem.text import whole

_STATES = (ACCEPTED, OPEN, SNOOZED, RESOLVED)
_MOST = 1_000_000
_NAMED = ("client: does not exist", "client: unknown", "client: no skill", "client: mcp", "client: no tool")
"""Errors about one thing that is not there: using the tool is not their situation."""
ASKED = "asked again, not broken"
NO_COMMAND = "names no command"
UNHEARD = "never ran here"
IN_WORDS = "a text, no command"
"""Why it cannot be told whether a lesson holds."""


def report(db: Connection, now: int, project_id: int | None = None, since: int = 0) -> Report:
    """All that sessions begun at `since` or later made of what is known; `project_id` None: of all projects."""
    sessions = _sessions(db, project_id, since)
    known = read.learnings(db, now, project_id, _STATES, limit=_MOST)
    promoted = read.learnings(db, now, project_id, (ACCEPTED,), limit=_MOST, kinds=(SKILL,))
    found = [_lesson(db, one, sessions) for one in (*known, *promoted)]
    return lessons.report([*found, *_decisions(db, sessions, project_id)], sessions)


def of(db: Connection, one: Learning) -> Lesson:
    """What the sessions of its project made of one learning."""
    return _lesson(db, one, _sessions(db, one.project_id, 0))


def _sessions(db: Connection, project_id: int | None, since: int) -> list[Session]:
    found = figures.lesson_sessions(db, project_id, since)
    return [Session(row[0], row[1], row[2], bool(row[3]), bool(row[4])) for row in found]


def _lesson(db: Connection, one: Learning, sessions: Sequence[Session]) -> Lesson:
    """A learning as a lesson, by its kind; a rule that a person worded by what its words say of commands."""
    began = {each.id: each.began for each in sessions if each.project_id == one.project_id}
    since = _accepted(db, one) or (one.first_at if one.kind == CORRECTION else 0)
    made = Lesson(
        f"learning/{one.id}", words(one.kind).label, one.rule or one.title, one.project_id, one.project, one.state,
        since, exposed=_exposed(db, f"learning/{one.id}"),
    )  # fmt: skip
    if one.kind == SKILL:
        return replace(made, seen=_steps(db, one, began))
    if one.kind in (FAILED_COMMAND, RECURRING_ERROR, STUCK_LOOP):
        seen, blind = _failures(db, one, began)
        return replace(made, seen=seen, blind=blind)
    return _by_words(db, one, made, began)


def _accepted(db: Connection, one: Learning) -> int:
    """When its rule was accepted; 0 where none is. What was resolved since keeps its rule, and the time of that."""
    if one.state == ACCEPTED:
        return one.state_at or 0
    if not one.rule:
        return 0
    return figures.accepted_at(db, f"learning/{one.id}")


def _exposed(db: Connection, item: str) -> dict[str, Exposure]:
    return {session: Exposure(at, bool(kept_back)) for session, at, kept_back in figures.exposed(db, item)}


# A failing command, an error, a stuck stretch


def _failures(db: Connection, one: Learning, began: dict[str, int]) -> tuple[dict[str, Seen], bool]:
    """Where it failed again, and where what fails so was done without it; whether only the first is recorded."""
    command, _, error = one.key.partition(" | ") if one.kind == FAILED_COMMAND else ("", "", one.key)
    stretch = one.kind == STUCK_LOOP
    if command and not error:
        failed = figures.findings(db, one.project_id, COMMAND, [command])
    else:
        failed = figures.findings(db, one.project_id, STRETCH if stretch else ERROR, [error])
    broke: dict[str, tuple[int, ...]] = {}
    unclear: set[str] = set()
    tried: set[str] = {command} if command else set()
    for session, _, data in failed:
        met = [each for each in _list(data.get("failures")) if not (command and error) or each.get("c") == command]
        tried.update(str(each["c"]) for each in met if each.get("c"))
        if whole(data.get("count")) and met:
            broke[session] = tuple(whole(each.get("at")) for each in met)
        elif met or whole(data.get("work")):
            unclear.add(session)
    if one.key.startswith("shell: cd "):
        tried = set()  # the situation is the folder, which no record has
    kept = _passes(db, one, tried, unclear)
    where = None if tried or one.key.startswith("shell: ") else _tool(one)
    if where:
        kept = figures.worked(db, one.project_id, *where)
    unclear.difference_update(broke)
    kept = {session: at for session, at in kept.items() if session not in unclear}
    sessions = {*kept, *broke, *unclear}.intersection(began)
    return {
        each: Seen(began[each], broke.get(each, ()), kept.get(each, 0), each in unclear) for each in sorted(sessions)
    }, not (tried or where)


def _passes(db: Connection, one: Learning, tried: set[str], unclear: set[str]) -> dict[str, int]:
    """When the commands that fail so passed last, by session; those that ran and did not pass go into `unclear`.

    What is run instead counts as well, for what the lesson says is to do that.
    """
    instead: set[str] = set()
    if one.kind == FAILED_COMMAND and one.remedy and one.remedy.kind == SPELLING and one.remedy.commands:
        other = normalise(one.remedy.commands[-1])
        instead = {other.key} if other else set()
    kept: dict[str, int] = {}
    silent: set[str] = set()
    for session, key, data in figures.findings(db, one.project_id, COMMAND, tried | instead):
        if at := whole(data.get("passed_at")):
            kept[session] = max(at, kept.get(session, 0))
        elif key in tried and whole(data.get("runs")):
            silent.add(session)
    unclear |= silent.difference(kept)
    return kept


def _tool(one: Learning) -> tuple[str, str] | None:
    """Which calls are its situation, where no command is: use of the client's tool that fails so, or of the file."""
    if one.kind == STUCK_LOOP:
        return None if " | " in one.key else (SAME_FILE, one.key)
    if one.key.startswith(_NAMED):
        meant = one.remedy.text.split("`")[1:2] if one.remedy else []
        return (SAME_END, meant[0]) if meant else None
    return SAME_TOOL, str(one.id)


def _list(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


# A skill


def _steps(db: Connection, one: Learning, began: dict[str, int]) -> dict[str, Seen]:
    """Where its steps were due, and whether they were followed."""
    due_steps = [skills.form(each) for each in (one.remedy.commands if one.remedy else ())]
    endings = {each.removeprefix("*") for each in one.files}
    out: dict[str, Seen] = {}
    for session, _, data in figures.findings(db, one.project_id, skills.STEPS):
        found = [each for each in _list(data.get("failures"))
                 if not endings or endings.intersection(_texts(each.get("e")))]  # fmt: skip
        if not found or session not in began:
            continue
        done = [whole(each.get("at")) for each in found if skills.followed(due_steps, _did(each))]
        missed = () if done else tuple(whole(each.get("at")) for each in found)
        out[session] = Seen(began[session], missed, max(done, default=0))
    return out


def _did(each: dict[str, object]) -> list[str]:
    found = each.get("d")
    return [str(pair[0]) for pair in found if pair] if isinstance(found, list) else []


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


# A rule in words


def _by_words(db: Connection, one: Learning, made: Lesson, began: dict[str, int]) -> Lesson:
    """A rule of a person's, or their wording of one: what its words say of commands, else why nothing can be told."""
    said = worded.of(one.rule or (one.title if one.kind == CORRECTION else ""))
    if said is None:
        return replace(made, why=NO_COMMAND if one.kind == CORRECTION or bool(one.rule) else ASKED)
    ran, known_programs = _ran(db, one.project_id, said, began)
    if not said.quoted and not said.programs & known_programs:
        return replace(made, why=UNHEARD)
    blind = bool(said.bad) and not (said.good or worded.situation(said.bad))
    return replace(made, blind=blind, seen={session: seen for session, rows in ran.items()
                               if (seen := _judged(said, rows, began[session]))})  # fmt: skip


def _ran(db: Connection, project_id: int, said: Worded, began: dict[str, int]) -> tuple[dict[str, list[Row]], set[str]]:
    """The calls of a shell that have one of the programs in their text, by session in their order; those that ran."""
    wanted = said.programs | ({said.good[0]} if said.good else set())
    ran: dict[str, list[Row]] = defaultdict(list)
    heads: set[str] = set()
    for name in sorted(wanted):
        for session, *rest in figures.calls_with(db, project_id, name):
            row = Row(*rest)
            if session in began and row.is_shell and name in worded.heads(row.content, row.powershell):
                heads.add(name)
                if all(each.id != row.id for each in ran[session][-1:]):
                    ran[session].append(row)
    for rows in ran.values():
        rows.sort(key=lambda row: (row.seq, row.id))
    return ran, heads


def _judged(said: Worded, rows: Sequence[Row], began: int) -> Seen | None:
    """What a session did with a rule; None where its situation did not occur."""
    if said.due:
        return _in_order(said, rows, began)
    broke = tuple(row.at for row in rows if worded.ran(said.bad, row.content, row.powershell))
    kept = 0
    for right in (said.good, worded.situation(said.bad)):
        done = [row.at for row in rows if right and worded.ran(right, row.content, row.powershell)
                and row.at not in broke]  # fmt: skip
        kept = max(kept, *done) if done else kept
    return Seen(began, broke, kept) if broke or kept else None


def _in_order(said: Worded, rows: Sequence[Row], began: int) -> Seen | None:
    """Whether what is due came only after what goes first: once in a session is enough, in one line as well."""
    broke: list[int] = []
    kept, ready = 0, False
    for row in rows:
        ready = ready or (not row.failed and worded.ran(said.first, row.content, row.powershell))
        if worded.ran(said.due, row.content, row.powershell):
            kept, broke = (row.at, broke) if ready else (kept, [*broke, row.at])
    return Seen(began, tuple(broke), kept) if broke or kept else None


# Written decisions


def _decisions(db: Connection, sessions: Sequence[Session], project_id: int | None) -> list[Lesson]:
    """The entries that sessions asked for or were offered: that they applied is recorded, not what came of it."""
    began = {one.id: one.began for one in sessions}
    of: dict[tuple[str, int, str], dict[str, Seen]] = defaultdict(dict)
    for entry, project, name, session in figures.entries_asked(db, project_id):
        if session in began:
            of[entry, project or 0, name][session] = Seen(began[session], unclear=True)
    return [
        Lesson(f"recall/{entry.removeprefix('/')}", "written decision", entry, project, name, "written",
               why=IN_WORDS, seen=seen, exposed=_exposed(db, f"recall/{entry.removeprefix('/')}"))
        for (entry, project, name), seen in of.items()
    ]  # fmt: skip
