"""`nmem context`: prints the exact text that a session would be told now, or at a past time, and why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capture import paths
from capture.project import resolve
from nmem import upgrade
from nmem.commands import terminal
from nmem.context import past as read
from nmem.context.choosing import choose, project_of, promised, switched
from nmem.context.config import load
from nmem.context.past import FEW, MEASURES, Effect, Group, effect
from nmem.context.preview import Asked, after_reset
from nmem.context.preview import preview as previewed
from nmem.read import views
from nmem.store.project import key_of, unknown
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from nmem.context.items import Item
    from nmem.context.past import Telling, ToldItem
    from nmem.context.preview import Preview


@click.command()
@click.option("--preview", is_flag=True, help="Preview for --prompt TEXT; without it nothing changes.")
@click.option(
    "--prompt",
    default="",
    metavar="TEXT",
    help="Show what this prompt would be told; else what a session's start is told.",
)
@click.option("--recovery", is_flag=True, help="Show what a session is told after compaction.")
@click.option("--explain", is_flag=True, help="Show each item with score, reason and tokens, and the items left out.")
@click.option("--past", is_flag=True, help="Show past injections, newest first, and whether they were used.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, metavar="N", help="With --past: how many.")
@click.option("--as-of", "as_of", metavar="TIME", help="Use the memory as of this time: 2026-01-31T10:00, 7d, 12h.")
@click.option("--session", default="", metavar="ID", help="In this session: omits items it was told already.")
@click.option("--project", default="", help="Use this project (name, key or root); default: the current folder's.")
@click.option(
    "--branch", default="", help="Use this branch; default: the one checked out, or of the project's newest session."
)
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="At most this many tokens; default: as configured."
)
@click.option("--include", metavar="ITEM", help="Always tell this item to the project's sessions: file/src/a.py.")
@click.option("--exclude", metavar="ITEM", help="Never tell this item. --explain lists the ids of items.")
@click.option("--neither", metavar="ITEM", help="Select this item by its score again.")
@click.option(
    "--report", is_flag=True, help="Show whether telling helps: sessions told compared with sessions told nothing."
)
@click.option("--off", is_flag=True, help="Tell sessions of this project nothing from now on.")
@click.option("--on", "again", is_flag=True, help="Tell sessions of this project context again.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    *, preview: bool, prompt: str, recovery: bool, explain: bool, past: bool, limit: int, as_of: str | None,
    session: str, project: str, branch: str, budget: int | None, include: str | None, exclude: str | None,
    neither: str | None, report: bool, off: bool, again: bool, as_json: bool,
) -> None:  # fmt: skip
    """Print the exact text that the next session is told.

    What became of what sessions were told is shown by --past, and whether it helps by --report.
    """
    if preview and not prompt:
        raise click.UsageError("--preview needs --prompt TEXT")
    chosen = {"include": include, "exclude": exclude, "": neither}
    if report:
        _report(project, as_json=as_json)
    elif off or again:
        _switch(project or _here()[0], off=off)
    elif wanted := {choice: item for choice, item in chosen.items() if item is not None}:
        _choose(project or _here()[0], wanted)
    elif past:
        _past(project or _here()[0], limit, as_json=as_json)
    else:
        found = _recovered(session, project, budget) if recovery else _made(
            session, project, branch, prompt, as_of, budget
        )  # fmt: skip
        _say(found, explain=explain, as_json=as_json)


def _made(
    session: str, project: str, branch: str, prompt: str, as_of: str | None, budget: int | None
) -> Preview:  # fmt: skip

    upgrade.ready(paths.database())
    if not project and not session:
        project, here = _here()
        branch = branch or here
    now = terminal.now()
    then = terminal.when(as_of, "--as-of") if as_of else None
    if then is not None and then > now:
        raise click.UsageError("--as-of must not lie in the future; leave it out to see what is told now")
    asked = Asked(project, session, prompt, branch, now, then)
    return previewed(paths.database(), asked, budget or _budget("prompt" if prompt else "start"))


def _recovered(session: str, project: str, budget: int | None) -> Preview:
    """After a reset of the session, else of the project's newest."""
    with terminal.reading("context") as db:
        row = None if session else next(iter(views.sessions(db, 1, key_of(db, project) or _here()[0])), None)
        if row is None and not session:
            raise unknown(db, project or _here()[0])
        db.row_factory = None
        named = session or (row.id if row else "")
        return after_reset(db, named, terminal.now(), budget or _budget("recovery"))


def _here() -> tuple[str, str]:
    """The project of the folder this runs in, and its branch."""
    found = resolve(str(Path.cwd()))
    return found.key, found.branch or ""


def _budget(what: str) -> int:
    config = load()
    return {"prompt": config.prompt_tokens, "start": config.start_tokens, "recovery": config.recovery_tokens}[what]


def _say(found: Preview, *, explain: bool, as_json: bool) -> None:
    if as_json:
        click.echo(to_json(_object(found)))
    elif explain:
        _explain(found)
    else:
        if found.text:
            click.echo(found.text)
        if found.why_silent:
            click.echo(f"nothing{' else' if found.text else ''}: {found.why_silent}", err=True)
        if found.why_silent and not found.prompt and not found.session_id:
            click.echo("to preview a prompt: nmem context --prompt TEXT", err=True)


def _object(found: Preview) -> dict[str, object]:
    return {
        "project": found.project, "session": found.session_id or None, "prompt": found.prompt, "at": found.at,
        "budget": found.budget, "tokens": found.tokens, "text": found.text, "why_silent": found.why_silent or None,
        "occasion": found.occasion or None, "items": [_item(each) for each in found.items],
        "before": [_item(each) for each in found.before],
        "left_out": [_item(each) for each in found.left_out], "held": [_item(each) for each in found.held],
        "excluded": [_item(each) for each in found.excluded],
        "choices": found.choices,
    }  # fmt: skip


def _item(item: Item) -> dict[str, object]:
    return {"id": item.id, "kind": item.kind, "score": round(item.score, 4), "reason": item.reason,
            "tokens": item.tokens, "files": list(item.files), "text": item.text}  # fmt: skip


def _explain(found: Preview) -> None:
    when = "at a prompt" if found.prompt else "after a reset" if found.session_id else "when a session starts"
    heading = f"context of {found.project}, {when}: {found.tokens} of {found.budget} tokens"
    text = [("", line) for line in found.text.split("\n") if found.text]
    if found.why_silent:
        text.append(("", f"nothing{' else' if found.text else ''}: {found.why_silent}"))
    told = [(each.id, _why(each)) for each in found.items]
    left = [(each.id, f"{_why(each)}: {each.text}") for each in found.left_out]
    held = [(each.id, f"{each.reason}: {each.text}") for each in found.held]
    never = [(each.id, each.text) for each in found.excluded]
    before = [(each.id, each.text) for each in found.before]
    terminal.say(heading, [("", text), ("Told", told), ("Told before, at its start", before), ("Left out", left),
                           ("Not told: it quotes what you excluded", held),
                           ("Never told: you excluded it", never)])  # fmt: skip


def _why(item: Item) -> str:
    """For a file the chance that the session edits this one; for anything else its score, .25 at least when told."""
    score = f"{item.score:>4.0%}" if item.kind == "file" else f"{item.score:.2f}"
    return f"{score}  {terminal.count(item.tokens, 'token'):>10}  {item.reason}"


_DID = {True: "of use", False: "not of use", None: "not known yet"}
_NAMES = {"turns": "turns", "failures": "failed calls", "rereads": "files read again"}


def _report(project: str, *, as_json: bool) -> None:
    """Sessions that were told something beside those that were kept without."""
    with terminal.reading() as db:
        found = effect(db, project_of(db, project) if project else None)
    if as_json:
        told = {**asdict(found), "enough": found.enough, "verdicts": {each: found.verdict(each) for each in MEASURES}}
        click.echo(to_json(told))
        return
    for line in _lines(found):
        click.echo(line)


def _lines(found: Effect) -> list[str]:
    """The report as a person reads it."""
    told, without = found.told, found.without
    out = [f"{'':18}{'told':>10}{'kept without':>15}", f"{'sessions':18}{told.sessions:>10}{without.sessions:>15}"]
    for measure in MEASURES:
        row = f"{_NAMES[measure]:18}{_mean(told, measure):>10}{_mean(without, measure):>15}"
        out.append(f"{row}   {found.verdict(measure)}{_between(found.ranges[measure])}")
    out.append(
        f"{'items of use':18}{_share(told):>10}{_share(without):>15}   (kept without: it came to them by itself)"
    )
    if not without.sessions:
        out.append("No session was kept without: [context] holdout = 0.2 in config.toml keeps one in five without.")
    elif not found.enough:
        out.append(f"Under {FEW} sessions in a group a difference says nothing.")
    if found.told_before:
        out.append(f"{terminal.count(found.told_before, 'session')} from before the first kept without: not compared.")
    if found.late:
        out.append(f"{terminal.count(found.late, 'time')} selecting took too long, and nothing was said.")
    return out


def _mean(group: Group, measure: str) -> str:
    mean = group.mean(measure)
    return "-" if mean is None else f"{mean:.1f}"


def _share(group: Group) -> str:
    return "-" if group.use is None else f"{group.use:.0%}"


def _between(found: tuple[float, float] | None) -> str:
    return "" if found is None else f" ({found[0]:+.1f} to {found[1]:+.1f})"


def _switch(project: str, *, off: bool) -> None:
    """Tell the sessions of a project nothing from now on, or what is selected again."""
    with terminal.writing() as db:
        switched(db, project_of(db, project), terminal.now(), off=off)
    click.echo(f"sessions of {project} are told {'nothing' if off else 'what is selected for them'} from now on")


def _choose(project: str, wanted: dict[str, str]) -> None:
    """Have items always told, never told, or chosen by their score again."""
    with terminal.writing() as db:
        number = project_of(db, project)
        for choice, item in wanted.items():
            own = choose(db, number, item, choice, terminal.now())
            click.echo(f"{printable(own)} is {promised(own, choice)} (`nmem undo` takes it back)")


def _past(project: str, limit: int, *, as_json: bool) -> None:
    """What sessions were told, the newest first, each thing with what became of it."""
    with terminal.reading("context") as db:
        found = read.past(db, project_of(db, project), limit)
        told = [one for each in found.found if (one := read.telling(db, each.id)) is not None]
    if as_json:
        shown = [{**asdict(one.told), "undecided": one.told.undecided, "text": one.text,
                  "items": one.items} for one in told]  # fmt: skip
        click.echo(to_json({"tellings": found.tellings, "sessions": found.sessions, "items": found.items,
                            "used": found.used, "unused": found.unused, "told": shown}))  # fmt: skip
        return
    heading = (
        f"{terminal.count(found.tellings, 'text')} told in {terminal.count(found.sessions, 'session')}:"
        f" {found.used} of {terminal.count(found.used + found.unused, 'thing')} of use"
    )
    terminal.say(heading, [(_title(one), [(each.id, _became(each)) for each in one.items]) for one in told])


def _title(one: Telling) -> str:
    told = one.told
    asked = f": “{fit(printable(told.prompt), 60)}”" if told.prompt else ""
    kept = ", kept back" if told.withheld else ""
    when = f"{terminal.local(told.at):%Y-%m-%d %H:%M}"
    return f"{when}  {told.session_id}  {told.event}{asked}  {terminal.count(told.tokens, 'token')}{kept}"


def _became(item: ToldItem) -> str:
    how = f": {item.how}" if item.how else ""
    return f"{item.score:.2f}  {terminal.count(item.tokens, 'token'):>10}  {_DID[item.used]}{how}  ({item.reason})"
