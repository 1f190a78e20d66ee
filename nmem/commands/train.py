"""`nmem train`: fits models on a person's corrections, keeps those that improve, and reports the change."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.terminal import count
from nmem.errors import NmemError
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.training.personal import Figures, Refit, Report
    from nmem.training.question import Report as QuestionReport

_KINDS = {"online": "When a prompt arrives", "revised": "When its turn has ended"}


@click.group()
def command() -> None:
    """Learn from your corrections."""


@command.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--reset", is_flag=True, help="Restore the built-in weights.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def boundaries(dry_run: bool, reset: bool, as_json: bool) -> None:
    """Refit where episodes begin, on your splits, merges, moves and answers.

    Drawn strongly towards the weights that nmem comes with, compared on sessions that the fit has not seen, and kept
    only when it is better there.
    """
    from nmem.training import personal  # on use: start-up stays short

    if reset and dry_run:
        raise click.UsageError("--reset and --dry-run exclude each other")
    path = paths.database()
    with terminal.writing() as db:
        if reset:
            was = personal.reset(db, path, terminal.now())
            _reset(was, as_json)
            return
        report = personal.train(db, path, terminal.now(), dry=dry_run)
    if as_json:
        click.echo(to_json({**asdict(report), "dry_run": dry_run}))
    else:
        _say(report, dry_run)


@command.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--reset", is_flag=True, help="Restore the built-in weights.")
@click.option("--card", is_flag=True, help="Show the model cards of the current classifiers, and fit nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def labels(dry_run: bool, reset: bool, card: bool, as_json: bool) -> None:
    """Refit the classifiers on the built-in corpus and on your corrections by `nmem relabel`.

    Each dimension is compared on sessions that the fit has not seen, and kept only when more of your words come out
    right there and the corpus does not suffer.
    """
    from nmem.commands import train_labels  # on use: start-up stays short

    if dry_run + reset + card > 1:
        raise click.UsageError("--reset, --dry-run and --card exclude each other")
    if card:
        train_labels.cards(as_json)
    elif reset:
        train_labels.reset(as_json)
    else:
        train_labels.train(as_json, dry=dry_run)


@command.command()
@click.option("--dry-run", is_flag=True, help="Ask the model, show what would change, and change nothing.")
@click.option("--reset", is_flag=True, help="Stop showing the model examples.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def question(dry_run: bool, reset: bool, as_json: bool) -> None:
    """Show the model examples of your splits, merges and names, if they improve its answers.

    Asks about your newest corrected sessions twice, with and without examples from the others: at most 16 questions,
    which count against the day's cap. Kept only when the answers agree better with you on sessions not shown.
    """
    from nmem.llm.connect import connect  # on use: start-up stays short
    from nmem.training import question as tuning  # on use: start-up stays short

    if reset and dry_run:
        raise click.UsageError("--reset and --dry-run exclude each other")
    with terminal.writing() as db:
        if reset:
            was = tuning.reset(db, terminal.now())
            told = "the model is shown no examples any more" if was else "the model was shown no examples"
            click.echo(to_json({"reset": was}) if as_json else told)
            return
        found = connect(paths.database(), look=True)
        if found.desk is None:
            raise NmemError(found.problem or "no model is set up or found: `nmem model` offers your own client")
        report = tuning.tune(db, found.desk, terminal.now(), dry=dry_run)
    if as_json:
        click.echo(to_json({**asdict(report), "dry_run": dry_run}))
    else:
        _say_question(report, dry_run)


def _say_question(report: QuestionReport, dry: bool) -> None:
    from nmem.training.question import said  # on use: start-up stays short

    if not report.enough:
        click.echo(f"nothing to learn from yet: {report.reason}")
        return
    basis = f"{count(report.questions, 'question')} about {count(report.sessions, 'session')}, {report.tokens:,} tokens"
    click.echo(f"{basis}; {count(report.decisions, 'decision')} of yours")
    click.echo(said(report) + (" (a dry run: nothing was changed)" if dry else ""))
    for line in report.lines:
        click.echo(printable(f"  {line}"))


def _reset(was: bool, as_json: bool) -> None:
    if as_json:
        click.echo(to_json({"reset": was}))
        return
    click.echo("the built-in weights are in use again" if was else "there were no weights of your own")


def _say(report: Report, dry: bool) -> None:
    if not report.enough:
        click.echo(f"nothing to learn from yet: {report.reason}")
        click.echo("split, merge, move and keep in `nmem episodes` or in the cockpit's review are decisions")
        return
    own = f"{count(report.decisions, 'decision')} of yours in {count(report.sessions, 'session')}"
    left = f"{count(report.prompts - report.decisions, 'prompt')} beside them left as they were"
    basis = [("", f"{own}, {left}")]
    terminal.say("Boundaries", [("", basis), *((_KINDS[each.kind], _rows(each, dry)) for each in report.refits),
                                ("", [("", _verdict(report, dry))])])  # fmt: skip


def _rows(refit: Refit, dry: bool) -> list[tuple[str, str]]:
    rows = [
        ("before", _figures(refit.before)),
        ("after", f"{_figures(refit.after)}, on sessions not seen"),
        (
            "verdict",
            f"better: {'would be ' if dry else ''}adopted" if refit.adopted else "not better: the shipped weights stay",
        ),
    ]
    if not refit.adopted:
        return rows
    moved = [
        f"“{each.words}” counts {'more' if abs(each.after) > abs(each.before) else 'less'}"
        f" ({each.before:+.2f} to {each.after:+.2f})" for each in refit.shifts
    ]  # fmt: skip
    rows += [("changed" if not number else "", text) for number, text in enumerate(moved)]
    return [*rows, ("", f"{refit.cuts_before} cuts in these sessions become {refit.cuts_after}")]


def _figures(found: Figures) -> str:
    return (f"F1 {found.f1:.2f}, precision {found.precision:.2f}, recall {found.recall:.2f};"
            f" against your decisions {found.wrong} wrong and {found.missed} missed")  # fmt: skip


def _verdict(report: Report, dry: bool) -> str:
    if dry:
        return "nothing was changed: a dry run"
    if report.path:
        return f"kept in {report.path}; it decides from the next prompt on; --reset goes back"
    return "the weights that nmem comes with go on deciding"
