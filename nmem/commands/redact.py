"""`nmem redact`: standard input to standard output, without its secrets."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

import click

from capture.redaction import redact
from capture.text import clean

_BEGIN, _END, _KEY = "-----BEGIN ", "-----END ", "PRIVATE KEY"
_LONGEST_KEY = 400
"""Lines of one key; a BEGIN without an END does not hold the stream up for ever."""


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Line by line, but a private key in one piece."""
    held: list[str] = []
    for line in lines:
        if held or (_BEGIN in line and _KEY in line):
            held.append(line)
            if _closed(line) or len(held) > _LONGEST_KEY:
                yield "".join(held)
                held = []
        else:
            yield line
    if held:
        yield "".join(held)


def _closed(line: str) -> bool:
    end = line.rfind(_END)
    return end >= 0 and end > line.rfind(_BEGIN)


@click.command()
@click.option("--stats", is_flag=True, help="How many secrets of each kind, as JSON on stderr.")
def command(*, stats: bool) -> None:
    """Take the secrets out of standard input, line by line.

    What is left is what nmem would store of the same text.
    """
    counts: dict[str, int] = {}
    lines = (raw.decode("utf-8", "replace") for raw in sys.stdin.buffer)
    for piece in _pieces(lines):
        end = "\n" if piece.endswith("\n") else ""
        changed = redact(clean(piece.removesuffix("\n")), counts)
        sys.stdout.buffer.write((changed + end).encode())
        sys.stdout.buffer.flush()
    if stats:
        click.echo(json.dumps(counts, sort_keys=True), err=True)
