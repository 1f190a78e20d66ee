"""`nmem ask`: answers a question from the records, in quotes; says so where nothing is recorded about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from capture import paths
from nmem.ask import answer as asking
from nmem.ask import others as asking_others
from nmem.ask.hits import FEW, NOTHING
from nmem.commands import of_others, terminal
from nmem.context.choosing import project_of
from nmem.llm import Cancel, Failure
from nmem.llm.connect import Connected, connect
from nmem.recall import kept
from nmem.store.project import here
from nmem.store.store import with_folders
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.ask.answer import Answer, Quote
    from nmem.ask.model import Told

_WHO = {"decision": "you decided", "prompt": "you said", "closing": "the agent said", "story": "the story says",
        "learning": "learned", "recall": "written decision"}  # fmt: skip
_SECONDS = 120.0
"""Seconds that a model may take."""
_LINE = 300


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--project", default="", help="Ask about this project only (name, key or root); default: the folder's, then others."
)
@click.option(
    "--limit", type=terminal.LIMIT, default=3, show_default=True, metavar="N", help="How many quotes to show."
)
@click.option("--no-model", is_flag=True, help="Quotes only, even if a language model is set up.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(question: tuple[str, ...], project: str, limit: int, no_model: bool, as_json: bool) -> int:
    """Answer QUESTION from what was decided, said, learned and written down, in quotes with their ids and dates.

    The best quote stands first, one that was superseded behind what replaced it. Where a language model is set up
    (`nmem model`), a short answer stands above them; each sentence of it rests on a quote. `nmem show ID` opens a
    quote's place. The project of the folder answers; where it has nothing, what others have stands under "Elsewhere:".
    Exit code 1: nothing is recorded about it; what comes nearest stands beneath (it and elsewhere do not count).
    """
    text = " ".join(question).strip()
    if not text:
        raise click.UsageError('no question given: nmem ask "why do half-cents round down?"')
    found = Connected(None) if no_model else connect(paths.database())
    with terminal.reading() as db:
        place = _Place(project_of(db, project), project) if project else _here(db)
        most = max(limit, asking.SHOWN) if found.desk else limit
        near = asking.answer(db, text, terminal.now(), place.number, most, asking.NEAR, place.folder)
        told, problem = _told(near, found) if near.quotes else (None, "")
        recorded = bool(near.quotes) and (told.recorded if told else near.coverage >= asking.ENOUGH)
        ours = not project and (place.number is not None or place.folder)
        other = asking.answer(db, text, terminal.now(), None, limit).quotes if ours and not recorded else ()
        theirs = asking_others.found(db, text, place.number, limit)
    elsewhere = tuple(one for one in other if one not in near.quotes)
    shown = near.quotes[:limit] if near.coverage >= asking.ENOUGH or recorded else ()
    nearest = () if shown else near.quotes[: min(limit, FEW)]
    if as_json:
        form = _form(near, shown, told, problem, recorded=recorded) | {"nearest": nearest}
        click.echo(to_json({**form, "project": place.name, "elsewhere": elsewhere,
                            **of_others.forms(theirs)}))  # fmt: skip
    else:
        more = bool(elsewhere or nearest)
        _say(near, shown, told, problem, place.name if ours else "", recorded=recorded, more=more)
        if nearest:
            click.echo("\nNearest, and no answer:\n")
            _list(nearest)
        if elsewhere:
            click.echo("\nElsewhere:\n")
            _list(elsewhere, project=True)
        of_others.show(theirs)
    return 0 if recorded else 1


class _Place(NamedTuple):
    """What is asked about: a project, a folder with written decisions and no session, or neither: everything."""

    number: int | None = None
    name: str = ""
    folder: str = ""


def _here(db: Connection) -> _Place:
    """What the current folder belongs to."""
    cwd = str(Path.cwd())
    known = here(db, cwd)
    if known and any(one[0] == known.id for one in with_folders(db)):
        return _Place(known.id, known.name)
    written = kept.place(cwd)
    return _Place(None, Path(written.root).name, written.root) if written else _Place()


def _told(near: Answer, found: Connected) -> tuple[Told | None, str]:
    """The model's answer, or why there is none although one is set up."""
    if found.desk is None:
        return None, found.problem
    from nmem.ask.model import tell  # on use: only with a model

    try:
        return tell(found.desk, near.question, near.quotes, Cancel(_SECONDS)).value, ""
    except Failure as failure:
        return None, str(failure)


def _form(
    near: Answer, shown: tuple[Quote, ...], told: Told | None, problem: str, *, recorded: bool
) -> dict[str, object]:  # fmt: skip
    return {
        "question": near.question, "recorded": recorded, "words": list(near.words),
        "coverage": round(near.coverage, 3),
        "answer": told.sentences if told else [], "no_model": problem,
        "quotes": shown,
    }  # fmt: skip


def _say(
    near: Answer, shown: tuple[Quote, ...], told: Told | None, problem: str, name: str, *, recorded: bool, more: bool
) -> None:  # fmt: skip
    """The answer and its quotes; what went wrong with a model on standard error."""
    if problem:
        click.echo(f"no model answered: {printable(problem)}", err=True)
    if not recorded:
        where = f" in {printable(name)}" if name else ""
        why = ": the model finds no answer in the nearest quotes" if shown else "" if more else _tried(near)
        click.echo(NOTHING + where + why)
    for one in told.sentences if told else ():
        no_more = "superseded, holds no more: " if one.superseded else ""
        click.echo(terminal.wrapped(f"{no_more}{printable(one.text)} [{', '.join(map(printable, one.quotes))}]"))
    if shown and (not recorded or (told and told.sentences)):
        click.echo()
    _list(shown)


def _list(quotes: tuple[Quote, ...], *, project: bool = False) -> None:
    """The quotes; with the name of the `project` also where they are of several."""
    project = project or len({one.project for one in quotes}) > 1
    for place, quote in enumerate(quotes):
        if place:
            click.echo()
        for line in _lines(quote, project=project):
            click.echo(line)


def _tried(near: Answer) -> str:
    words = " ".join(near.words[:6])
    return f'; nmem search "{printable(words)}" lists what comes near' if words else ": it names no subject"


def _lines(quote: Quote, *, project: bool) -> list[str]:
    """A quote: its id, when and who; what it answers, the words, how they were said again."""
    at = f"{terminal.local(quote.at):%Y-%m-%d %H:%M}" if quote.at else ""
    head = (quote.id, at, quote.project if project else "", fit(quote.path, 60),
            f"superseded by {quote.superseded}" if quote.superseded else "")  # fmt: skip
    parts = (("asked", quote.asked), (_WHO[quote.kind], quote.text), ("agent", quote.restated))
    return [
        "  ".join(printable(one) for one in head if one),
        *(terminal.wrapped(f"    {label}: {fit(printable(text), _LINE)}") for label, text in parts if text),
    ]
