"""`nmem relabel`: shows why the classifiers label a call so, and records a person's correction."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.terminal import number_of
from nmem.labels import corrections, read
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.commands.terminal import Section
    from nmem.labels.read import Labelled, Said, Word

OBSERVATION = number_of("observation", "obs")
_REASONS = 4
_MODEL = (" (the model is not sure)", " (the model)")


@click.command()
@click.argument("observation", required=False, type=OBSERVATION)
@click.argument("words", nargs=-1, metavar="[DIMENSION=WORD]...")
@click.option("--clear", multiple=True, metavar="DIMENSION", help="Restore the model's label; may be repeated.")
@click.option("--list", "listing", is_flag=True, help="List your corrections, newest first.")
@click.option("--recent", is_flag=True, help="List the newest calls, with their numbers and labels.")
@click.option("--unsure", is_flag=True, help="List calls that the model cannot label: correcting these helps it most.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many calls to show.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    *, observation: int | None, words: tuple[str, ...], clear: tuple[str, ...], listing: bool, recent: bool,
    unsure: bool, limit: int, as_json: bool,
) -> None:  # fmt: skip
    """Say what a call was, or see what the model says of it and why.

    `nmem relabel 4711` shows; `nmem relabel 4711 phase=act scope=diverge` decides. Dimensions and their words: phase
    think|act, scope diverge|converge, locus internal|external, novelty routine|novel, friction smooth|friction.
    Your word stands whatever model labels later; `nmem train labels` learns from it, `nmem undo` takes it back.
    """
    if listing or recent or unsure:
        if observation is not None or clear or listing + recent + unsure > 1:
            raise click.UsageError("--list, --recent and --unsure each stand alone")
        _list(limit, as_json, own=listing, unsure=unsure)
        return
    if observation is None:
        raise click.UsageError("name an observation (--recent gives numbers), or --list")
    _one(observation, _asked(words, clear), as_json)


def _one(observation: int, asked: dict[str, str | None], as_json: bool) -> None:
    """Say what is asked of a call, and show it."""
    if asked:
        with terminal.writing() as db:
            corrections.relabel_many(db, observation, asked, terminal.now())

    with terminal.reading("labels") as db:
        found = read.labelled(db, paths.database(), observation)
    if as_json:
        click.echo(to_json({**asdict(found), "relabelled": asked}))
    elif asked:
        click.echo(_decided(found, asked))
    else:
        terminal.say(f"obs/{found.id}", _sections(found))


def _asked(words: tuple[str, ...], clear: tuple[str, ...]) -> dict[str, str | None]:
    """What is to be said: dimension -> word, or None to take it back."""
    out: dict[str, str | None] = {}
    for text in words:
        name, equals, word = text.partition("=")
        if not (name and equals and word):
            raise click.UsageError(f"{printable(text)[:60]} is not DIMENSION=WORD, such as phase=act")
        if name in out:
            raise click.UsageError(f"{printable(name)[:40]} is given twice")
        out[name] = word
    for name in clear:
        if out.get(name):
            raise click.UsageError(f"{printable(name)[:40]} is both set and cleared")
        out[name] = None
    return out


def _decided(found: Labelled, asked: dict[str, str | None]) -> str:
    """One line for what is so now."""
    told = [f"{each.dimension} {each.word or 'open'}{'' if asked[each.dimension] else _MODEL[bool(each.word)]}"
            for each in found.words if each.dimension in asked]  # fmt: skip
    return f"observation {found.id} is {', '.join(told)}; `nmem undo` takes it back"


def _sections(found: Labelled) -> list[Section]:
    call = [
        ("call", f"{found.obs_type} {found.tool_name} {found.outcome}"), ("", found.file_path or found.content),
        ("when", f"{terminal.day(found.at, terminal.now())} {terminal.clock(found.at)}, session {found.session_id}"),
        ("prompt", found.prompt or "none"),
    ]  # fmt: skip
    return [("", call), *((_title(each), _why(each)) for each in found.words)]


def _title(word: Word) -> str:
    """The word, and whose it is."""
    if word.own:
        return f"{word.dimension}: {word.word}, by your word"
    if not word.model:
        return f"{word.dimension}: not labelled yet"
    return f"{word.dimension}: {word.word or 'too close to tell'}" + (f" ({word.score:+.2f})" if word.score else "")


def _why(word: Word) -> list[tuple[str, str]]:
    """What the model in force thinks, with what speaks for it and against it."""
    if not word.thinks:
        return [("model", "there is none")]
    sure = "" if abs(word.leaning) >= word.threshold else f", below the {word.threshold:.2f} that it takes to say so"
    rows = [("model", f"{word.thinks} ({word.leaning:+.2f}{sure})")]
    for label, some in (("for it", [each for each in word.reasons if each.weight > 0]),
                        ("against", [each for each in word.reasons if each.weight < 0])):  # fmt: skip
        if some:
            rows.append((label, " · ".join(f"{each.words} ({each.weight:+.1f})" for each in some[:_REASONS])))
    return rows


def _list(limit: int, as_json: bool, *, own: bool, unsure: bool) -> None:
    with terminal.reading("labels") as db:
        found = read.said(db, limit) if own else read.recent(db, limit, unsure=unsure)
    if as_json:
        click.echo(to_json({"observations": found}))
    elif not found:
        click.echo("no corrections yet: `nmem relabel OBSERVATION phase=act` makes one" if own else "no such calls")
    else:
        title = (
            "Your words, the newest first"
            if own
            else "Calls with a word that is open"
            if unsure
            else "The newest calls"
        )
        terminal.say(title, [("", [_row(each, named=own) for each in found])])


def _row(said: Said, *, named: bool) -> tuple[str, str]:
    """The words with their dimensions, or alone; "?" where the model cannot tell."""
    words = ", ".join(f"{name} {word}" if named else word or f"{name} ?" for name, word in said.words.items())
    return f"obs/{said.id}", f"{words}: {said.obs_type} {' '.join(said.content.split())[:120]}"
