"""`nmem when` and `nmem how`: print the decision for a situation; nmem.commands.start answers plain questions."""

from __future__ import annotations

import sys
from typing import Any

import click

from nmem.recall import asked

_MOST = 1_000_000
"""Characters of standard input that are read."""
_HELP = """Answer QUERY with the decision that was written down, or with the nearest ones.

Words are one query; phrases are one each; - reads them from standard input, one a line. A dot asks for a section by its
heading, two for a file of the decisions folder, ..file.md#Heading for a section of it.

Which of when and how was asked never keeps an entry from being found. Exit code 1: something asked was not found.
"""


def made(operator: str) -> click.Command:
    """The command of an operator."""

    @click.command(operator, help=_HELP)
    @click.argument("query", nargs=-1)
    @click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
    @click.option(
        "--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="How many decisions to suggest."
    )
    @click.option(
        "--project",
        "folder",
        default="",
        metavar="DIR",
        help="Use the project of this folder; default: of the current one.",
    )
    @click.option("--index", default="", metavar="FILE", help="With --decisions: use this index.")
    @click.option("--decisions", default="", metavar="DIR", help="Use this folder of decisions.")
    def command(query: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401 - click's options
        return _asked(operator, list(query), options)

    return command


def _asked(operator: str, given: list[str], options: dict[str, Any]) -> int:
    if not given and sys.stdin.isatty():
        raise click.UsageError(f"no question: nmem {operator} WORDS, or nmem recall list")
    if not given or given == ["-"]:
        queries = [line.strip() for line in sys.stdin.read(_MOST).splitlines() if line.strip()]
        if not queries:
            raise click.UsageError(f"no question: nmem {operator} WORDS, or nmem recall list")
    else:
        queries = asked.queries(given)
    return asked.run(
        operator, queries, as_json=options["as_json"], limit=options["limit"], cwd=options["folder"],
        index=options["index"], decisions=options["decisions"],
    )  # fmt: skip


command = made("when")
how = made("how")
