"""`nmem recall`: maintains the written decisions that `nmem when` and `nmem how` answer from."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capture import paths
from capture.storage import store
from nmem.commands import terminal
from nmem.commands.terminal import number_of
from nmem.decisions import store as decided
from nmem.errors import NmemError
from nmem.recall import changes, config, corpus
from nmem.recall import compress as compressing
from nmem.recall import folder as folders
from nmem.recall import loaded as entries
from nmem.recall import report as reporting
from nmem.recall.changes import Change
from nmem.recall.grammar import written
from nmem.recall.index import EXTRAS, FILE, OPERATOR, TRIGGER
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.recall.changes import Change
    from nmem.recall.corpus import Corpus
    from nmem.recall.folder import Place
    from nmem.recall.migrate import Plan


@click.group()
def command() -> None:
    """Written decisions: check and fix their index, write one, name one, report use."""


def _placed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which decisions are meant."""
    for option in (
        click.option("--decisions", default="", metavar="DIR", help="Use this folder of decisions."),
        click.option("--index", default="", metavar="FILE", help="With --decisions: use this index."),
        click.option(
            "--project",
            "folder",
            default="",
            metavar="DIR",
            help="Use the project of this folder; default: of the current one.",
        ),
    ):
        function = option(function)
    return function


_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")
_DRY = click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")


def _place(folder: str, index: str, decisions: str) -> Place:
    return folders.named(index, decisions) if decisions else folders.find(folder or str(Path.cwd()), *config.load())


def _older(folder: str, index: str, decisions: str) -> Corpus:
    """The decisions with the index to migrate: where none is found, an index.md of the older form counts."""
    place = _place(folder, index, decisions)
    for path in folders.plain(place.folder) if not place.index else ():
        found = corpus.read(folders.Place(place.root, place.folder, path))
        if corpus.is_passive(found):
            return found
    return corpus.read(place)


def _corpus(folder: str, index: str, decisions: str) -> Corpus:
    return corpus.read(_place(folder, index, decisions))


@contextmanager
def _writing() -> Iterator[sqlite3.Connection]:
    """The database, made where there is none: it keeps what undoing needs."""
    if not Path(paths.database()).exists():
        try:
            store.connect(paths.database(), timeout=5).close()
        except (sqlite3.Error, OSError) as error:
            raise NmemError(
                f"{paths.database()} cannot be created, so the change could not be undone: {error}"
            ) from None
    with terminal.writing() as db:
        yield db


def _apply(change: Change, *, yes: bool, dry_run: bool, ask: str) -> bool:
    """Write a change when it is wanted; whether it was."""
    if dry_run:
        return False
    if not yes and not (sys.stdin.isatty() and click.confirm(ask, default=False)):
        raise NmemError("nothing is written: add --yes to write, or --dry-run to preview")
    with _writing() as db:
        count = changes.apply(db, change, terminal.now())
    click.echo(f"{terminal.count(count, 'file')} written (`nmem undo` takes it back)")
    return True


@command.command()
@click.option("--fix", is_flag=True, help="Move and add entries so that the index fits; no line is removed.")
@_DRY
@_placed
@_JSON
def check(fix: bool, dry_run: bool, folder: str, index: str, decisions: str, as_json: bool) -> int:
    """Check index against decisions: entries and headings both ways, names, order. Exit code 1 if they differ."""
    from nmem.recall import mend  # on use: start-up stays short

    found = _older(folder, index, decisions)
    if corpus.is_passive(found):
        raise NmemError(
            f"{found.place.index} is an older index: `nmem recall migrate --dry-run` shows the migrated form"
        )
    if fix and found.index_lines:
        change = Change("fixed the index", found.place.root)
        lines = change.text(found.place.index).split("\n")
        change.put(found.place.index, "\n".join(mend.mended(found, lines)))
        if change.changed:
            if not as_json:
                click.echo(change.diff())
            if not dry_run:
                with _writing() as db:
                    changes.apply(db, change, terminal.now())
                found = _corpus(folder, index, decisions)
    findings = mend.check(found)
    if as_json:
        figures = {
            "entries": len(found.entries),
            "files": len(found.files),
            "findings": [each.form() for each in findings],
        }
        click.echo(to_json(figures))
        return int(bool(findings))
    for each in findings:
        where = f"{each.file}:{each.line}: " if each.file else ""
        click.echo(printable(f"{where}{each.text}: {each.todo} [{each.kind}]"))
    entries = f"{len(found.entries)} {'entry' if len(found.entries) == 1 else 'entries'}"
    click.echo(f"{entries}, {terminal.count(len(found.files), 'file')}, "
               f"{terminal.count(len(findings), 'finding')}")  # fmt: skip
    return int(bool(findings))


@command.command()
@click.argument("heading", nargs=-1, required=True)
@_placed
@_JSON
def compress(heading: tuple[str, ...], folder: str, index: str, decisions: str, as_json: bool) -> int:
    """Print the shortest name that finds HEADING, and its lead over the next. Exit code 1: only the whole one."""
    text = " ".join(heading)
    recall = entries.of(_place(folder, index, decisions))
    found = compressing.candidates(recall.index, text)
    best = next((each for each in found if each.good), None)
    if as_json:
        each = [{"trigger": one.trigger, "leads_there": one.own, "margin": round(one.margin, 3),
                 "confidence": round(one.confidence, 3), "next": one.rival, "good": one.good}
                for one in found]  # fmt: skip
        click.echo(to_json({"heading": text, "trigger": best.trigger if best else "", "candidates": each}))
        return int(best is None)
    for one in found:
        words = f"{len(one.trigger.split())} words"
        told = f"unique, {words}, margin {one.margin:.2f}" if one.good else (
            f"too close to {one.rival}, margin {one.margin:.2f}" if one.own
            else f"leads to {one.rival or 'nothing'}")  # fmt: skip
        click.echo(printable(f"{one.trigger}  # {told}"))
    if best is None:
        click.echo("no shorter name is unique: use the whole heading")
    return int(best is None)


@command.command()
@click.option("--rules", is_flag=True, help="Ask no language model: name by rules.")
@_DRY
@_YES
@_placed
def migrate(rules: bool, dry_run: bool, yes: bool, folder: str, index: str, decisions: str) -> None:
    """Migrate an index of `Key — description` lines to /when and /how; headings get the words to ask by.

    The index is memory-index.md or decision-index.md in the decisions folder, beside it or in the project's root, else
    index.md of the folder. A line is `Key — description` or `- Key - description`; Key may be a file's name. Lines in
    another form stay as they are.

    Keys become situations (/when working on X, before doing Y) and procedures (/how do Z), named by your language
    model where one is set up. What loaded the index into every session, and its older header, goes. References among
    the decision files follow their headings; what else speaks of one is listed and left.
    """
    from nmem.llm.connect import connect  # on use: start-up stays short
    from nmem.recall import migrate as migrating

    desk = None if rules else connect(paths.database()).desk
    plan = migrating.plan(_older(folder, index, decisions), desk)
    _planned(plan)
    click.echo(plan.change.diff())
    _apply(plan.change, yes=yes, dry_run=dry_run, ask="Write this?")


def _planned(plan: Plan) -> None:
    """What a migration would do, in lines."""
    click.echo(f"{plan.entries} lines become entries, {len(plan.renamed)} headings are renamed; "
               f"of all entries {plan.when} are /when, {plan.how} /how")  # fmt: skip
    if plan.by_model:
        click.echo(f"{terminal.count(plan.by_model, 'name')} given by the model, the others by rules")
    if plan.problem:
        click.echo(f"note: the model was not asked for all, rules name the rest: {printable(plan.problem)}")
    for one in plan.renamed:
        click.echo(printable(f"  {one.file}:{one.line}  {one.before}  ->  {one.after}"))
        for place in one.references:
            click.echo(printable(f"      mentioned in {place}"))
    follow = [f"{ref.file}:{ref.line}  {ref.before}  ->  {ref.after}" for ref in plan.rewritten]
    _lines("references to update:", follow)
    if plan.unread:
        unread = terminal.count(plan.unread, "file")
        click.echo(f"{unread} of the project were not searched: the time limit was reached")
    _lines("the older header, and what was always loaded, go:", plan.gone)
    rest = [line for line in plan.kept if line not in plan.unknown]
    _lines("no decision found for these lines; they stay above the sections:", rest)
    many = terminal.count(len(plan.unknown), "line")
    have = "has" if len(plan.unknown) == 1 else "have"
    _lines(f"{many} {have} no known form, and will be kept:", plan.unknown)


def _lines(head: str, lines: list[str]) -> None:
    if lines:
        click.echo(head)
    for line in lines:
        click.echo(f"  {printable(line)}")


@command.command()
@click.argument("trigger", nargs=-1, required=True)
@click.option("--how", "operator", flag_value="how", help="A procedure: how to TRIGGER.")
@click.option("--when", "operator", flag_value="when", help="A situation: when TRIGGER (the default).")
@click.option("--text", default="", help="The decision; default: from standard input.")
@click.option("--episode", default="", metavar="ID", help="Use what this episode learned and noted.")
@click.option("--decision", default="", metavar="ID", help="Use this decision: see `nmem decisions`.")
@click.option("--extra", "extras", multiple=True, help="Another trigger; may be given several times.")
@click.option("--file", default="", help="The decision file; default: the one with the nearest decision.")
@click.option("--under", default="", metavar="HEADING", help="Write below this heading of the file.")
@_DRY
@_YES
@_placed
def remember(
    trigger: tuple[str, ...],
    operator: str | None,
    text: str,
    episode: str,
    decision: str,
    extras: tuple[str, ...],
    **options: Any,  # noqa: ANN401 - click's options
) -> None:
    """Write a decision: a section of a file, and its entry. TRIGGER: what would one type who needs it?"""
    from nmem.recall import remember as remembering  # on use: start-up stays short

    if options["decisions"]:
        place = _place("", options["index"], options["decisions"])
    else:
        place = remembering.place(options["folder"] or str(Path.cwd()), *config.load())
    if decision:
        text = _decided(decision)
    elif episode:
        text = _learned(episode)
    elif not text and not sys.stdin.isatty():
        text = sys.stdin.read(1_000_000)
    plan = remembering.plan(
        corpus.read(place, None if Path(place.folder).is_dir() else []), " ".join(trigger), text,
        operator=operator or "", extras=extras, file=options["file"], under=options["under"],
    )  # fmt: skip
    click.echo(plan.change.diff())
    for remark in plan.remarks:
        click.echo(f"note: {printable(remark)}")
    _apply(plan.change, yes=options["yes"], dry_run=options["dry_run"], ask=f"Write {printable(plan.entry)}?")


def _decided(decision: str) -> str:
    number = number_of("decision")(decision)
    with terminal.reading("decisions") as db:
        found = decided.get(db, number)
    if found is None:
        raise NmemError(f"there is no decision {number}: `nmem decisions` lists them")
    return found.written


def _learned(episode: str) -> str:
    from nmem.mcp import tool  # on use: start-up stays short
    from nmem.read.stories import story  # on use: start-up stays short
    from nmem.recall.remember import learned  # on use: start-up stays short

    with terminal.reading() as db:
        found = story(db, tool.parse(db, f"episode/{episode.removeprefix('episode/')}").number)
    told = found.narrative if found else None
    if told is None:
        raise NmemError(f"episode {printable(episode)} has no story yet: run `nmem settle`, or give the text")
    text = learned({"learned": told.learned, "notes": told.notes})
    if not text:
        raise NmemError(f"episode {printable(episode)} learned and noted nothing: give the text with --text")
    return text


@command.command()
@click.option("--since", default="", metavar="TIME", help="2026-01-31, 7d, 12h or 4w.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many entries to list.")
@_placed
@_JSON
def report(since: str, limit: int, folder: str, index: str, decisions: str, as_json: bool) -> None:
    """Report questions, offers and uses by entry; unneeded entries; unanswered questions."""
    from nmem.recall import remember  # on use: start-up stays short

    recall = entries.of(_place(folder, index, decisions))
    short = remember.promoted(corpus.read(recall.place))
    with terminal.reading("questions") as db:
        found = reporting.report(db, recall, terminal.when(since) if since else 0, limit)
    if as_json:
        click.echo(to_json({**asdict(found), "better_always_read": short}))
        return
    told = [
        (
            "asked",
            f"{found.asked} ({', '.join(f'{name} {count}' for name, count in found.by_origin.items()) or 'by nobody'})",
        ),
        ("came to", ", ".join(f"{name} {count}" for name, count in found.by_outcome.items()) or "nothing"),
        ("offered", f"{found.offered}, used {found.used}"),
        ("never needed", f"{len(found.dead)} of {len(recall.index.docs)} entries"),
    ]
    uses = [
        (use.entry, f"answered {use.answered}, offered {use.offered}, used {use.used}") for use in found.entries[:limit]
    ]
    unanswered = [(query, terminal.count(count, "time")) for query, count in found.unanswered]
    terminal.say("Recall", [("", told), ("Entries", uses), ("Asked, without an answer", unanswered),
                            ("Never needed", [(link, "") for link in found.dead[:limit]]),
                            ("Hardly longer than their entries: better in CLAUDE.md or AGENTS.md",
                             [(link, "") for link in short[:limit]])])  # fmt: skip


@command.command("list")
@_placed
@_JSON
def listing(folder: str, index: str, decisions: str, as_json: bool) -> None:
    """List every entry, file by file."""
    recall = entries.of(_place(folder, index, decisions))
    if as_json:
        each = [
            {"operator": doc[OPERATOR], "trigger": doc[TRIGGER], "extras": doc[EXTRAS], "file": doc[FILE]}
            for doc in recall.index.docs
        ]
        click.echo(to_json({"folder": recall.place.folder, "index": recall.place.index, "entries": each}))
        return
    last = ""
    for doc in recall.index.docs:
        if doc[FILE] != last:
            last = doc[FILE]
            click.echo(printable(f"{last or '(no file)'}"))
        click.echo(f"  {printable(written(doc[OPERATOR], doc[TRIGGER], doc[EXTRAS]))}")
    for warning in recall.warnings:
        click.echo(f"note: {printable(warning)}", err=True)
