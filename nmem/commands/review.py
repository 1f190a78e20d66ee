"""`nmem review`: shows samples of redacted texts, and records whether each was a secret."""

from __future__ import annotations

import dataclasses

import click

from nmem.commands import terminal
from nmem.text import printable, to_json

_WORDS = {"real": "real", "secret": "real", "false": "false", "alarm": "false"}


@click.command()
@click.argument("what", default="")
@click.argument("verdict", default="", metavar="[real|false]")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to draw or to list.")
@click.option("--judged", is_flag=True, help="List those that you have judged, newest first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(what: str, verdict: str, limit: int, judged: bool, as_json: bool) -> None:
    """Judge samples of what redaction found: `nmem review draw`, `nmem review`, `nmem review 3 false`.

    real: it was a secret; false: a false alarm. Of what the second detector of `nmem doctor --deep` saw, real means
    that a secret was kept. No secret is shown. Verdicts are counted in `nmem doctor`; `nmem undo` takes one back.
    """
    if what == "draw":
        _draw(limit)
    elif what:
        _judge(what, verdict)
    else:
        _show(limit, judged, as_json)


def _draw(limit: int) -> None:
    from nmem.audit import review

    with terminal.writing() as db:
        drawn = review.draw(db, terminal.now(), limit)
    click.echo(f"{drawn} to judge: nmem review" if drawn else "nothing new to judge: every redaction was drawn already")


def _judge(what: str, verdict: str) -> None:
    from nmem.audit import review

    if not what.isdigit() or verdict not in _WORDS:
        raise click.UsageError("use `nmem review NUMBER real` or `nmem review NUMBER false`; `nmem review` lists them")
    said = "real" if _WORDS[verdict] == "real" else "false"
    with terminal.writing() as db:
        review.judge(db, int(what), "real" if said == "real" else "false", terminal.now())
    click.echo(f"redaction {what} is judged {said} (`nmem undo` takes it back)")


def _show(limit: int, judged: bool, as_json: bool) -> None:
    from nmem.audit import review

    with terminal.reading() as db:
        found = review.queue(db, limit, judged=judged)
    if as_json:
        click.echo(to_json({"reviews": [dataclasses.asdict(one) for one in found]}, indent=1))
        return
    if not found:
        click.echo("nothing judged yet" if judged else "nothing to judge: `nmem review draw` draws a sample")
    for one in found:
        said = f"  [{one.verdict}]" if one.verdict else ""
        by = "" if one.found_by == review.BY_REDACTION else f"  seen by {one.found_by}, kept by redaction"
        click.echo(printable(f"{one.id}  {one.kind}  {one.target}  {one.day}{by}{said}"))
        click.echo(printable("    " + " ".join(f"{one.before}{one.masked}{one.after}".split())))
