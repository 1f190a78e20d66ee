"""`nmem show`: prints the story of an episode, session, prompt or thread; a call, a task, a file's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capture.project import resolve
from capture.text import whole as in_utf8
from nmem.commands import of_others, terminal
from nmem.commands.terminal import Section, clock, count, day, span
from nmem.context.choosing import project_of
from nmem.episodes.boundary import REASONS
from nmem.episodes.narrations import told_by
from nmem.errors import NmemError
from nmem.read import file_history, listing, views
from nmem.read.listing import observation, prompt
from nmem.read.stories import SMOOTH, story
from nmem.store.store import of_folder
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.decisions.store import Decision
    from nmem.read.episodes import EpisodeRow
    from nmem.read.file_history import History, Touch
    from nmem.read.listing import PromptStory
    from nmem.read.stories import Narrative, Story
    from nmem.read.views import SessionRow, StreamRow

KINDS = ("episode", "session", "prompt", "thread", "theme", "obs", "learning", "task", "decision", "file")
_FORMS = "last, episode/12, session/ID, prompt/5, obs/12, thread/3, theme/6, learning/2, task/7, decision/4, file PATH"
_FEW = 60
"""Rows of what happened that are shown without --all; the beginning and the end are."""
_TEXT = 600
_FILES = 12
_SAID_BY = {"user/prompt": "you", "user/late": "you", "user/command": "you", "agent/closing": "agent",
            "agent/thinking": "thinks", "agent/summary": "summary", "agent/subagent": "helper",
            "agent/title": "title"}  # fmt: skip
_BY = {"first": "the session begins here", "person": "you said so", "llm": "a language model said so",
       "agent": "the agent said so"}  # fmt: skip

Told = tuple[str, list[Section], dict[str, Any]]
"""Heading, sections, and the same as JSON."""


@click.command()
@click.argument("what", metavar="WHAT")
@click.argument("path", default="")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--all", "whole", is_flag=True, help="Show everything said and done, including thinking.")
@click.option("--diff", is_flag=True, help="What an episode changed: its edits and commits; with --all whole patches.")
@click.option("--project", default="", help="With file: use this project (name, key or root); default: the folder's.")
@click.pass_context
def command(ctx: click.Context, what: str, path: str, as_json: bool, whole: bool, diff: bool, project: str) -> None:
    """The story of WHAT: episode/12, session/ID, prompt/5, obs/12, thread/3, theme/6, learning/2, task/7, decision/4,
    or an ID alone.

    A number alone is an episode, `last` the newest one of the current folder's project; anything else is a session, of
    which the beginning is enough. `nmem show file PATH` tells who touched a file: episodes, what came of them, what was
    decided; the newest first; --project asks about another project's. team/ID is what another member of your team said.
    """
    if (path and what != "file") or (project and what.partition("/")[0] != "file"):
        raise click.UsageError(f"{printable(path or project)} is not expected: only `nmem show file PATH` takes that")
    if what.startswith(of_others.TEAM):
        of_others.tell(what, as_json=as_json)
        return
    if what == listing.LAST:
        with terminal.reading() as db:
            what = f"episode/{listing.newest_episode(db)}"
    kind, number = parsed(f"file/{path}" if what == "file" and path else what, f"cannot be shown: {_FORMS}")
    if diff:
        from nmem.commands import blame  # on use: start-up stays short

        blame.changed(kind, number, as_json=as_json, whole=whole)
        return
    limit = 1000 if whole else 20
    if kind == "learning":
        from nmem.commands import learn  # on use: start-up stays short

        ctx.invoke(learn.show, learning=int(number), limit=0 if whole else 12, as_json=as_json)
        return
    if kind == "thread":
        from nmem.commands import threads  # on use: start-up stays short

        ctx.invoke(threads.show, thread=int(number), as_json=as_json, limit=limit)
        return
    if kind == "theme":
        from nmem.commands import themes  # on use: start-up stays short

        ctx.invoke(themes.command, theme=int(number), project="", since=None, limit=limit, as_json=as_json)
        return
    if kind in ("decision", "task"):
        from nmem.commands import decisions, task_list  # on use: start-up stays short

        ctx.invoke(decisions.show if kind == "decision" else task_list.show_, as_json=as_json, **{kind: int(number)})
        return
    with terminal.reading() as db:
        heading, sections, found = _told(db, kind, number, whole=whole, project=project)
    click.echo(to_json(found)) if as_json else terminal.say(heading, sections)


def parsed(what: str, refused: str) -> tuple[str, str]:
    """The kind and the id of what is meant; `refused` says what a command takes."""
    kind, slash, rest = what.partition("/")
    if not slash or kind not in KINDS:
        kind, rest = ("episode" if what.isascii() and what.isdigit() else "session"), what
    number = rest.isascii() and rest.isdigit() and len(rest) < 19
    if not rest.strip() or not (number or kind in ("session", "file")):
        raise click.UsageError(f"{terminal.named(what)} {refused}")
    return kind, rest


def _told(db: Connection, kind: str, number: str, *, whole: bool, project: str = "") -> Told:
    if kind == "episode":
        found = story(db, int(number))
        if found is None:
            raise NmemError(f"there is no episode {number}: `nmem episodes` lists them")
        return _episode(found, whole)
    if kind == "prompt":
        said = prompt(db, int(number))
        if said is None:
            raise NmemError(f"there is no prompt {number}: `nmem show episode/ID` gives their numbers")
        return _prompt(said, whole)
    if kind == "file":
        return _file(db, number, project, whole=whole)
    if kind == "obs":
        return _observation(db, int(number), whole=whole)
    return _session(db, number)


# an episode


def _episode(found: Story, whole: bool) -> Told:
    row, told = found.row, found.narrative
    sections: list[Section] = [("", _facts(found))]
    if told is not None:
        sections.append((f"Story, {told_by(told.narrator)}", [("", text) for text in _wanted(told) if text]))
        shown = [
            text[:_QUOTED] for one in _telling(found.decisions) if len(text := " ".join(one.text.split())) >= _QUOTED
        ]
        learned = [text for text in told.learned if not any(one in text for one in shown)]
        for name, texts in (("Done", told.completed), ("Learned", learned), ("Next", told.next_steps)):
            sections.append((name, [("-", text) for text in texts]))
        sections.append(("Notes", [("-", text) for text in told.notes]))
    ending = [("", line) for line in found.last_words.split("\n") if line]
    if found.answered:
        ending.append(("", f"You answered: “{found.answered}”"))
    sections.append(("The agent's last words", ending))
    sections += _settled(found)
    sections.append(("Files", [(touched(each.reads, each.edits, each.failures), each.path)
                               for each in found.hot[:_FILES]]))  # fmt: skip
    sections.append(("What happened", _happened(found.said_and_done, whole, found.left_out)))
    title = " ".join(row.name.split())[:200]
    return f"episode/{row.id}  {title}", sections, asdict(found)


def _settled(found: Story) -> list[Section]:
    """What the person settled, each with its question and what replaced it."""
    from nmem.commands.decisions import rows  # on use: start-up stays short

    return [(f"Decided, decision/{one.id}", rows(one)) for one in _telling(found.decisions)]


def _telling(decisions: Sequence[Decision]) -> list[Decision]:
    """Those that say something by themselves or with their question, but for drafts of a later one."""
    texts = [" ".join(one.text.split()) for one in decisions]

    def draft(at: int) -> bool:
        again = (number for number in range(at + 1, len(texts)) if decisions[number].question == decisions[at].question)
        return len(texts[at]) >= _QUOTED and any(
            texts[one].startswith(texts[at][:_DRAFT].rstrip(" .")) for one in again
        )

    return [
        one for at, one in enumerate(decisions)
        if (len(texts[at].split()) >= _SAYS or one.question or one.wording) and not draft(at)
    ]  # fmt: skip


_SAYS, _DRAFT, _QUOTED = 3, 60, 30
"""Words of a decision that says something by itself; characters by which a later one is the same sent again, and by
which a line that was learned is the same decision."""


def _wanted(told: Narrative) -> Iterator[str]:
    """What was wanted first and later, a line each; how it ended and what stood in the way stands above."""
    first, *later = told.requests
    yield first
    if later:
        yield "Later:"
        yield from (f"  {text}" for text in later)
    yield _remark(told)


def _remark(told: Narrative) -> str:
    if told.stale:
        return "(it has changed since: `nmem narrate` tells it anew)"
    return f"(no model told it: {told.fallback})" if told.fallback else ""


def _facts(found: Story) -> list[tuple[str, str]]:
    row, told, today = found.row, found.narrative, terminal.now()
    where = " · ".join(text for text in (row.project, found.branch, found.client) if text)
    open_ = row.state == "open"
    until = _until(row.started_at, row.last_at, open_)
    work = "" if open_ and not row.active_ms else f"{span(row.active_ms)} of work, "
    length = f"{work}{count(row.turns, 'prompt')}, {count(found.observations, 'action')}"
    rows = [
        ("where", where),
        ("when", f"{day(row.started_at, today)}, {clock(row.started_at)} to {until}: {length}"),
        ("session", f"session/{row.session_id}"),
        ("thread", f"thread/{row.thread_id}  {row.thread}" if row.thread_id else ""),
        ("wanted", found.intent[:_TEXT] if found.intent != found.row.name and not (told and told.goal) else ""),
        ("outcome", found.ended or row.outcome.words),
        *(("commit", f"{each.hash[:10]}  {each.message}") for each in found.commits if not told or told.stale),
        ("obstacle", found.hindered or SMOOTH * (found.smooth and found.observations > 0 and not open_)),
        ("begins", _why(found.cut_by, found.cut_reason, found.cut_confidence)),
        ("goes on with", f"episode/{found.resumes.id}  {found.resumes.name[:120]}" if found.resumes else ""),
        *(("taken up in", f"episode/{each.id}  {each.name[:120]}") for each in found.resumed_by),
        ("pinned", "yes" if row.pinned else ""),
        ("ask", f"{count(row.offered, 'prompt')} may begin another task: `nmem tui`, r" if row.offered else ""),
    ]
    return [(label, text) for label, text in rows if text]


def _until(start: int, end: int, on: bool) -> str:
    """When something ended; the day only where it is another one."""
    if on:
        return "now"
    same = terminal.local(start).date() == terminal.local(end).date()
    return clock(end) if same else f"{day(end, terminal.now())}, {clock(end)}"


def _why(by: str, reason: str, sure: float) -> str:
    """Why something begins at a prompt."""
    if by in _BY:
        return _BY[by] + (f": {reason}" if by == "llm" and reason and reason != REASONS["model"] else "")
    return f"{reason or 'decided by what was said and done'} ({sure:.0%} sure)"


def touched(reads: int, edits: int, failures: int) -> str:
    parts = ((edits, "changed"), (reads, "read"), (failures, "failed"))
    return ", ".join(f"{number}x {word}" for number, word in parts if number)


def _happened(rows: Sequence[StreamRow], whole: bool, left_out: int = 0) -> list[tuple[str, str]]:
    """What was said and done, a line each; of many the first and the last."""
    shown = [row for row in rows if whole or row.word != "agent/thinking"]
    if whole or len(shown) <= _FEW + 1:
        out = [_one(row, whole) for row in shown]
        if left_out:
            out.insert(len(out) // 2, ("", f"({left_out} more are left out)"))
        return out
    ends = _FEW // 2
    gap = len(shown) - 2 * ends + left_out
    return [*(_one(row, whole) for row in shown[:ends]), ("", f"({gap} more: --all shows them)"),
            *(_one(row, whole) for row in shown[-ends:])]  # fmt: skip


def _one(row: StreamRow, whole: bool) -> tuple[str, str]:
    who = _SAID_BY.get(row.word)
    if who is None and "/" in row.word:
        who = row.word.partition("/")[2]
    if who is not None:
        text = row.text if whole else row.text[:_TEXT] + ("…" if len(row.text) > _TEXT else "")
        number = f"prompt/{row.key // 2}  " if row.word.startswith("user/") else ""
        return f"{clock(row.at)}  {who}", number + text.strip()
    text = row.path if row.path and row.word.startswith("file") else _line(row.text)
    changed = f"  +{row.added or 0} -{row.removed or 0}" if row.added or row.removed else ""
    again = f"  and {count(row.repeats, 'time')} again" if row.repeats else ""
    code = f" (exit {row.exit_code})" if row.exit_code else ""
    failed = f"  FAILED{code}" if row.outcome == "failed" else f"  {row.refusal.upper()}".rstrip()
    return f"{clock(row.at)}  {row.word.replace('_', ' ')}", text + changed + again + failed


def _line(text: str, most: int = 200) -> str:
    """The first line that says something."""
    first = next((line for line in text.split("\n") if line.strip()), "").strip()
    return first[:most] + ("…" if len(first) > most else "")


# a prompt


def _prompt(found: PromptStory, whole: bool) -> Told:
    who = _SAID_BY.get(f"{found.source}/{found.kind}", found.source)
    rows = [
        ("when", f"{day(found.at, terminal.now())}, {clock(found.at)}"), ("by", who),
        ("session", f"session/{found.session_id}"),
        ("episode", f"episode/{found.unit_id}{', which it opens' if found.opens else ''}" if found.unit_id else ""),
        ("decided", _decided(found)),
        ("ask", "it may begin a task of its own: split there, or keep it" if found.offered else ""),
    ]  # fmt: skip
    sections: list[Section] = [
        ("", [row for row in rows if row[1]]),
        ("Said", [("", found.text if whole else found.text[:4_000])]),
        ("Done after it", _happened(found.done, whole)),
    ]
    return f"prompt/{found.id}", sections, found._asdict()


def _decided(found: PromptStory) -> str:
    if not found.decided_by:
        return ""
    new = "something new begins here" if found.label == "new" else "it goes on with what was before"
    if found.decided_by in _BY:
        return f"{new}: {_BY[found.decided_by]}"
    sure = "" if found.score is None else f", {found.score:.0%} likely to be something new"
    return f"{new}{': ' + found.reason if found.reason else ''}{sure}"


# a session


def _session(db: Connection, beginning: str) -> Told:
    row = views.session(db, listing.session_of(db, beginning))
    assert row is not None
    episodes, summary = listing.of_session(db, row.id), listing.summary(db, row.id)
    sections: list[Section] = [("", _about(row, episodes))]
    if summary is not None:
        sections.append((f"Story, {told_by(summary.narrator)}", [("wanted", summary.intent)]))
        for name, texts in (("Done", summary.completed), ("Learned", summary.learned), ("Next", summary.next_steps)):
            sections.append((name, [("-", text) for text in texts]))
        sections.append(("Notes", [("-", text) for text in summary.notes.split("\n") if text]))
    sections.append(("Episodes", list(_lines(episodes))))
    found = {**row._asdict(), "summary": summary,
             "episodes": episodes}  # fmt: skip
    return f"session/{row.id}", sections, found


def _about(row: SessionRow, episodes: Sequence[EpisodeRow]) -> list[tuple[str, str]]:
    today = terminal.now()
    where = " · ".join(text for text in (row.project, row.branch, row.client, row.model) if text)
    until = _until(row.started_at, row.last_at, row.state == "working")
    active = sum(each.active_ms for each in episodes)
    held_by = sorted({(each.thread_id, each.thread) for each in episodes if each.thread_id})
    rows = [
        ("where", where), ("folder", row.cwd),
        ("when", f"{day(row.started_at, today)}, {clock(row.started_at)} to {until}"),
        ("work", f"{span(active)} in {count(len(episodes), 'episode')}" if episodes else "no episodes are known yet"),
        *(("thread", f"thread/{number}  {title}") for number, title in held_by),
    ]  # fmt: skip
    return [(label, text) for label, text in rows if text]


def _lines(episodes: Iterable[EpisodeRow]) -> Iterable[tuple[str, str]]:
    for each in episodes:
        outcome = each.outcome.words
        name = " ".join(each.name.split())[:160]
        yield f"{clock(each.started_at)}  episode/{each.id}", name + (f"  ({outcome})" if outcome else "")


_MOST = 4_000
_TOUCHES, _EVERY = 20, 10_000
_NAMES = 6

# a call, a file


def _observation(db: Connection, number: int, *, whole: bool) -> Told:
    """One observation: what was done, and what came of it. Raises NmemError."""
    found = observation(db, number)
    if found is None:
        raise NmemError(f"there is no obs/{number}: `nmem search` finds some")
    again = f" and {count(found.repeats, 'time')} again" if found.repeats else ""
    lines = f"+{found.added or 0} -{found.removed or 0}" if found.added or found.removed else ""
    rows = [
        ("what", f"{found.type.replace('_', ' ')}{f', a {found.mark}' if found.mark else ''}{again}"),
        ("tool", found.tool), ("when", f"{day(found.at, terminal.now())}, {clock(found.at)}"), ("file", found.path),
        ("lines", lines), ("outcome", found.outcome), ("pinned", "yes" if found.pinned else ""),
        ("prompt", f"prompt/{found.prompt_id}" if found.prompt_id else ""),
        ("episode", f"episode/{found.unit_id}" if found.unit_id else ""),
        ("session", f"session/{found.session_id}"),
    ]  # fmt: skip
    sections: list[Section] = [("", [row for row in rows if row[1]]), ("Done", [("", _cut(found.text, whole))])]
    if found.answer:
        sections.append(("Answered", [("", _cut(found.answer, whole))]))
    return f"obs/{number}", sections, {**found._asdict(), "id": f"obs/{number}"}


def _cut(text: str, whole: bool) -> str:
    return text if whole or len(text) <= _MOST else f"{text[:_MOST]}\n({len(text) - _MOST} characters more: --all)"


def _file(db: Connection, path: str, named: str, *, whole: bool) -> Told:
    """Who touched a file, the newest first: in the named project, else in this folder's where known, else in all."""
    cwd = in_utf8(str(Path.cwd()))
    here = resolve(cwd)
    ours = of_folder(db, here.key, here.root)
    project = project_of(db, named) if named else ours
    name = file_history.beside(path, cwd, here.root) if project == ours else file_history.within(db, path, project)
    limit = _EVERY if whole else _TOUCHES
    found = file_history.history(db, name, project, limit) if project is not None else file_history.History(())
    if not found.total and not named:
        found = file_history.history(db, name, None, limit)
    if not found.total:
        of = f"{path} in {named}" if named else path
        raise NmemError(f"nothing is recorded of {of}: `nmem search file:{Path(path).name}` finds a part of a name")
    return f"file/{name}", _history(found), {"file": name, **asdict(found)}


def _history(found: History) -> list[Section]:
    changed = sum(one.edits for one in found.touches)
    about = [("touched in", count(found.total, "episode")), ("changed", count(changed, "time"))]
    if len(found.names) > 1:
        more = f" and {len(found.names) - _NAMES} more" if len(found.names) > _NAMES else ""
        about.append(("known as", "\n".join(found.names[:_NAMES]) + more))
    if found.forgotten:
        about.append(("forgotten", f"{count(found.forgotten, 'older call')} known by their trace only"))
    many = len({one.project for one in found.touches}) > 1
    rows = [row for one in found.touches for row in _rows(one, many)]
    if found.more:
        rows.append(("", f"({found.total - len(found.touches)} more: --all shows them)"))
    return [("", about), ("History, the newest first", rows)]


def _rows(one: Touch, many: bool) -> list[tuple[str, str]]:
    what = f"episode/{one.unit_id}" if one.unit_id else f"session/{one.session_id}"
    name = " ".join(one.episode.name.split())[:160] if one.episode else ""
    parts = [_touched(one), one.episode.outcome.words if one.episode else "", one.client, one.project if many else ""]
    at, said = f"{terminal.local(one.last_at):%Y-%m-%d %H:%M}", " · ".join(part for part in parts if part)
    rows = [(at, f"{what}  {name}\n{said}")]
    return rows + [("decided", f"{each.text}  (obs/{each.id})") for each in one.decisions]


def _touched(one: Touch) -> str:
    lines = f" (+{one.added} -{one.removed})" if one.added or one.removed else ""
    parts = (
        (one.edits, f"changed{lines}"),
        (one.reads, "read"),
        (one.others, "named by a call"),
        (one.failures, "failed"),
    )
    return ", ".join(f"{number}x {word}" for number, word in parts if number)
