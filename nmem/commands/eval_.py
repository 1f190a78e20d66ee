"""`nmem eval SUBJECT`: prints figures next to a named baseline; imports only the subject asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capture import paths
from nmem import upgrade
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.store.project import key_of
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from rich.table import Table


SUBJECTS = {
    "boundaries": "whether episodes are cut where a person would cut them, on labelled sessions",
    "titles": "whether episodes are called what a person would call them, on labelled sessions",
    "secrets": "what redaction finds, and what it spoils, on labelled texts",
    "linking": "whether new threads are linked with the earlier ones that they continue",
    "labels": "how well calls are labelled: phase, scope, locus, novelty, friction",
    "recall": "whether written decisions are found by what one would ask, and nonsense is answered by none",
    "retrieval": "whether search finds, and a session is told, the earlier session that is related",
    "told": "how much of what sessions would have been told was of their work, on your own history",
    "compactions": "what compactions drop, and how much of it is told again before it is needed, on your own history",
    "context": "whether what a session would have been told names a file that it then edits, on your own history",
}


class Subjects(click.Group):
    """The subjects by name; `nmem.evaluate.SUBJECT` is imported by the subject itself."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All subjects."""
        return list(SUBJECTS)


@contextmanager
def _text(files: Sequence[Path]) -> Iterator[None]:
    """What is no text is one line."""
    try:
        yield
    except UnicodeDecodeError as error:
        named = ", ".join(printable(str(file)) for file in files)
        raise NmemError(f"{named}: not UTF-8 text: {error.reason} at byte {error.start}") from None


def _print(table: Table) -> None:
    """A table on a terminal; in a pipe a line a row, columns by tabs."""
    if terminal.is_terminal():
        from rich.console import Console  # on use: start-up stays short

        Console().print(table)
        return
    rows = zip(*(map(str, column.cells) for column in table.columns), strict=True)
    heads = [str(column.header) for column in table.columns]
    click.echo("\n".join([f"# {table.title}", *("\t".join(map(printable, row)) for row in (heads, *rows))]))


def _tell(figures: object, as_json: bool, table: Callable[[], Table]) -> None:
    """The figures as JSON, or as a table."""
    if as_json:
        click.echo(to_json(figures))
    else:
        _print(table())


@click.group(cls=Subjects)
def command() -> None:
    """Measure nmem on labelled data or on your own history."""


@command.command(help=SUBJECTS["secrets"])
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--strict", is_flag=True, help="By sensitivity strict; default: by your settings.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def secrets(files: tuple[Path, ...], *, strict: bool, as_json: bool) -> None:
    """Evaluate redaction on JSONL records {text, is_secret, value, kind, source}."""
    from capture.redaction.settings import Within  # on use: start-up stays short
    from nmem.evaluate.secrets import evaluate, records

    with _text(files), Within((), strict):
        figures = evaluate(records(files))
    if as_json:
        click.echo(to_json(figures))
    else:
        _show(figures)


@command.command(help=SUBJECTS["boundaries"])
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--method", type=click.Choice(["default", "jaccard", "llm"]), default="default", show_default=True)
@click.option("--online", is_flag=True, help="Decide at the prompt, before its turn.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def boundaries(files: tuple[Path, ...], *, method: str, online: bool, as_json: bool) -> None:
    """Evaluate detection on JSONL records {prompts, labels} or {utterances, boundaries}."""
    from nmem.evaluate.boundaries import evaluate, model_judge, records, table  # on use: start-up stays short

    with _text(files):
        figures = evaluate(records(files), method, online=online, judge=model_judge() if method == "llm" else None)
    _tell(figures, as_json, lambda: table(figures, f"{method}, online" if online else method))


@command.command(help=SUBJECTS["titles"])
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def titles(files: tuple[Path, ...], *, as_json: bool) -> None:
    """Evaluate titles on JSONL records {prompts, titles}."""
    from nmem.evaluate.titles import evaluate, records, table  # on use: start-up stays short

    with _text(files):
        figures = evaluate(records(files))
    _tell(figures, as_json, lambda: table(figures))


@command.command(help=SUBJECTS["linking"])
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--method", type=click.Choice(["fitted", "seed"]), default="fitted", show_default=True)
@click.option(
    "--folds", is_flag=True, help="Refit for each project on the others: for files that the formula was fitted on."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def linking(files: tuple[Path, ...], *, method: str, folds: bool, as_json: bool) -> None:
    """Evaluate linking on JSONL records {linked, gap_minutes, earlier, later}."""
    from nmem.evaluate.linking import evaluate, records, table  # on use: start-up stays short

    with _text(files):
        figures = evaluate(records(files), method, folds=folds)
    _tell(figures, as_json, lambda: table(figures))


@command.command(help=SUBJECTS["labels"])
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--by", type=click.Choice(["tool", "repo"]), help="Print accuracy by tool or by repository instead.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def labels(files: tuple[Path, ...], *, by: str | None, as_json: bool) -> None:
    """Evaluate the classifiers on JSONL records {prompt, previous, tool, arg, error, phase, scope, ...}."""
    from nmem.evaluate.labels import evaluate, records, table  # on use: start-up stays short

    with _text(files):
        figures = evaluate(records(files))
    _tell(figures, as_json, lambda: table(figures, by or ""))


@command.command(help=SUBJECTS["recall"])
@click.argument("queries", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--index", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--decisions", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--nonsense", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSONL: {query}.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def recall(queries: tuple[Path, ...], *, index: Path, decisions: Path, nonsense: Path | None, as_json: bool) -> None:
    """Evaluate recall on JSONL records {query, operator, heading, file, also_ok, kind}."""
    from nmem.evaluate.recall import evaluate, records, table  # on use: start-up stays short

    with _text(queries):
        figures = evaluate(index, decisions, records(queries), records([nonsense] if nonsense else []))
    _tell(figures, as_json, lambda: table(figures))


@command.command(help=SUBJECTS["retrieval"])
@click.argument("database", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def retrieval(database: Path, files: tuple[Path, ...], *, as_json: bool) -> None:
    """Evaluate retrieval in DATABASE on JSONL records {project, title, text, sessions, superseded}."""
    from nmem.evaluate.retrieval import evaluate, records, table  # on use: start-up stays short

    with _text(files):
        figures = evaluate(str(database), records(files), terminal.now())
    _tell(figures, as_json, lambda: table(figures))


@command.command(help=SUBJECTS["context"])
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option(
    "--budget", type=click.IntRange(min=50), help="Compare whole texts within this many tokens; default: names only."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def context(project: str, budget: int | None, *, as_json: bool) -> None:
    """Replay every session of the database with only what came before it."""
    from nmem.evaluate.context import evaluate, table  # on use: start-up stays short

    with closing(upgrade.reader(paths.database())) as db:
        project = key_of(db, project)
    figures = evaluate(paths.database(), project, budget)
    _tell(figures, as_json, lambda: table(figures, budget))


@command.command("compactions", help=SUBJECTS["compactions"])
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def dropped(project: str, *, as_json: bool) -> None:
    """Replay every compaction of the database with only what came before it."""
    from nmem.evaluate.compactions import evaluate, table  # on use: start-up stays short

    with closing(upgrade.reader(paths.database())) as db:
        project = key_of(db, project)
    figures = evaluate(paths.database(), project)
    _tell(figures, as_json, lambda: table(figures))


@command.command(help=SUBJECTS["told"])
@click.argument("folder", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option(
    "--count", type=click.IntRange(min=1), default=48, show_default=True, help="Replay at most this many sessions."
)
@click.option("--seed", type=int, default=11, show_default=True, help="Which sessions to replay.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def told(folder: Path | None, project: str, count: int, seed: int, *, as_json: bool) -> None:
    """Replay first prompts of the database, or of the transcripts in FOLDER, with only what came before each."""
    from nmem.evaluate.told import evaluate, imported, table  # on use: start-up stays short
    from nmem.settle import settle  # on use: start-up stays short

    if folder is None:
        with closing(upgrade.reader(paths.database())) as db:
            project = key_of(db, project)
        figures = evaluate(paths.database(), project, count, seed)
    else:
        with imported(folder, partial(settle, models=False), _left_out) as path:
            figures = evaluate(path, project, count, seed)
    _tell(figures, as_json, lambda: table(figures))


def _left_out(what: str) -> None:
    click.echo(f"nmem: left out: {printable(what)}", err=True)


def _show(figures: dict[str, object]) -> None:
    from rich.table import Table  # on use: start-up stays short

    by = figures["by"]
    baseline = figures["baseline"]
    if not isinstance(by, dict) or not isinstance(baseline, dict):
        raise TypeError("an evaluation has `by` and `baseline`")
    table = Table("", "recall", "false alarms", "secrets", "others", title="redaction", title_justify="left")
    table.add_row("nmem", *_row(figures))
    table.add_row("nmem, without UUIDs", *_row(by["without_uuid"]))
    table.add_row(baseline["name"], *_row(baseline))
    table.add_row("the same, without UUIDs", _share(baseline["recall_without_uuid"]), "", "", "")
    _print(table)
    for part in ("kind", "source"):
        table = Table(part, "recall", "false alarms", "secrets", "others", title=f"by {part}", title_justify="left")
        for name, row in by[part].items():
            table.add_row(name, *_row(row))
        _print(table)


def _row(figures: dict[str, object]) -> list[str]:
    return [
        _share(figures["recall"]),
        _share(figures["false_alarm_rate"]),
        "" if figures["secrets"] is None else str(figures["secrets"]),
        "" if figures["others"] is None else str(figures["others"]),
    ]


def _share(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, int | float) else ""
