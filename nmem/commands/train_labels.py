"""`nmem train labels`: fits and reports the label classifiers."""

from __future__ import annotations

import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.terminal import count
from nmem.errors import NmemError
from nmem.labels import cards as read
from nmem.labels.cards import Card, Figures
from nmem.text import to_json
from nmem.training import personal_labels_kept as kept

if TYPE_CHECKING:
    from nmem.training.personal_labels import Refit, Report

_NEEDS = "scikit-learn"
_STRONGEST = 6
_MISSED = 5


def train(as_json: bool, *, dry: bool) -> None:
    """Fit, say what came of it, and keep what is better."""
    fitting = _fitting()
    with terminal.writing() as db:
        report = fitting.train(db, paths.database(), terminal.now(), dry=dry)
    if as_json:
        click.echo(to_json({**asdict(report), "dry_run": dry}))
    else:
        _say(report, dry)


def reset(as_json: bool) -> None:
    """The weights of the package label again."""
    with terminal.writing() as db:
        was = kept.reset(db, paths.database(), terminal.now())
    if as_json:
        click.echo(to_json({"reset": was}))
    elif was:
        click.echo("the built-in weights are in use again; `nmem backfill` labels past calls with them")
    else:
        click.echo("there were no weights of your own")


def _fitting() -> ModuleType:
    try:
        from nmem.training import personal_labels  # on use: start-up stays short
    except ImportError as error:
        raise NmemError(f"this needs scikit-learn ({error.name} is missing): {_adding(_NEEDS)}") from None
    return personal_labels


def _adding(package: str) -> str:
    """The command that adds a package where this very nmem runs, whatever it was installed from."""
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx inject nmem {package}"
    pip = "-m pip install" if find_spec("pip") else ""
    return f"{sys.executable} {pip} {package}" if pip else f"uv pip install --python {sys.executable} {package}"


def _say(report: Report, dry: bool) -> None:
    if not report.enough:
        click.echo(f"nothing to learn from yet: {report.reason}")
        click.echo("`nmem relabel OBSERVATION phase=act`, or the cockpit, corrects a call's labels")
        return
    basis = [("", f"{count(report.calls, 'call')} of yours in {count(report.sessions, 'session')}, and the corpus")]
    basis += [("", each) for each in report.lacking]
    terminal.say("Labels", [("", basis), *((each.dimension, _rows(each, dry)) for each in report.refits),
                            ("", [("", _verdict(report, dry))])])  # fmt: skip


def _rows(refit: Refit, dry: bool) -> list[tuple[str, str]]:
    right = f"right {refit.right_before} before, {refit.right_after} after"
    better = f"better: {'would be ' if dry else ''}adopted"
    rows = [
        ("your words", f"{refit.own} in {count(refit.sessions, 'session')}: {right}, on sessions not seen"),
        ("corpus before", _figures(refit.corpus_before)),
        ("corpus after", f"{_figures(refit.corpus_after)}, on sessions not seen"),
        ("verdict", better if refit.adopted else f"the shipped weights stay: {refit.why}"),
    ]
    if refit.adopted:
        rows += [("changed" if not place else "", f"{each.words}: {each.before:+.2f} to {each.after:+.2f}")
                 for place, each in enumerate(refit.shifts)]  # fmt: skip
    return rows


def _figures(found: Figures) -> str:
    return (f"macro-F1 {found.macro_f1:.3f}, accuracy {found.accuracy:.3f};"
            f" {found.accuracy_answered:.3f} where it answers ({found.coverage:.0%})")  # fmt: skip


def _verdict(report: Report, dry: bool) -> str:
    if dry:
        return "nothing was changed: a dry run"
    if report.path:
        return (f"model {report.after}, kept in {report.path}, labels from the next call on;"
                " `nmem backfill` labels past ones, --reset goes back")  # fmt: skip
    back = "" if report.before == report.after else f"; `nmem backfill` labels what {report.before} has labelled"
    return f"the weights that nmem comes with go on labelling{back}"


def cards(as_json: bool) -> None:
    """The model cards."""
    found = read.cards()
    if not found:
        raise NmemError("the model card is missing: run `nmem train labels`, or install nmem again")
    if as_json:
        click.echo(to_json({"cards": found}))
        return
    terminal.say(f"Model {found[0].model} ({found[0].source})", [(each.dimension, _card(each)) for each in found])


def _other(card: Card, word: str) -> str:
    return card.words[word == card.words[0]]


def _card(card: Card) -> list[tuple[str, str]]:
    classes = ", ".join(f"{'undecided' if word == '?' else word} {number:,}" for word, number in card.classes if number)
    spoken = ", ".join(f"{name} {number}" for name, number in card.languages)
    own = f", and {count(card.own, 'call')} of yours" if card.own else ""
    rows = [
        ("corpus", f"{card.calls:,} calls in {card.sessions:,} written sessions{own}: {classes}"),
        ("", f"sessions by language: {spoken}" if spoken else ""),
        ("model", f"{_figures(card.folds)}, on sessions not seen"),
        ("rules", f"macro-F1 {card.rules.macro_f1:.3f}, accuracy {card.rules.accuracy:.3f} on the same calls"),
        ("answers", f"from {card.threshold:.2f} on, set so that {card.held_to:.1%} are right"),
    ]
    rows += [(word, " · ".join(some[:_STRONGEST])) for word, some in zip(card.words, card.strongest, strict=True)]
    rows += [("gets wrong" if not place else "", f"{each.call}: is {each.truth}, not {_other(card, each.truth)}")
             for place, each in enumerate(card.missed[:_MISSED])]  # fmt: skip
    return [row for row in rows if row[1]]
