"""`nmem attention`: which sessions wait for you or failed; tries how you are called."""

from __future__ import annotations

import os
import sys

import click

from nmem.attention import config, signals, waiting
from nmem.commands import terminal
from nmem.commands.terminal import Default
from nmem.text import printable, to_json

_ON = "`nmem config set attention.how bell` has sessions call you (bell, osc9, osc777, desktop, or several)"


@click.group(cls=Default, epilog="`nmem attention` alone is `nmem attention list`.")
def command() -> None:
    """Sessions that wait for you or failed, and how they call you: list, test."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(as_json: bool) -> None:
    """List the sessions that wait for you since the last ten minutes."""
    now, own = terminal.now(), config.load()
    with terminal.reading("sessions") as db:
        found = waiting.all_of(db, now)
    if as_json:
        shown = [{**one._asdict(), "text": one.text} for one in found]
        click.echo(to_json({"waiting": shown, "how": list(own.how), "quiet": own.quiet, "silent": own.silent(now)}))
        return
    for one in found:
        click.echo(f"{terminal.local(one.at):%H:%M}  {one.text}  (session/{printable(one.session_id)[:8]})")
    if not found:
        click.echo("no session waits for you")
    if found and not own.how and not own.problems and terminal.is_terminal():
        click.echo(_ON, err=True)
    for each in own.problems:
        click.echo(printable(each), err=True)


@command.command("test")
@click.option("--how", "given", multiple=True, type=click.Choice(config.WAYS), metavar="WAY",
              help="bell, osc9, osc777 or desktop, whatever is set; may be given several times.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def test_(given: tuple[str, ...], as_json: bool) -> int:
    """Call you once, so that you see that it works; quiet hours do not matter here.

    Without --how it is done as `attention.how` says, by the bell where that is off. Exit code 1: one way did not work.
    """
    own = config.load()
    ways = tuple(dict.fromkeys(given)) or own.how or (config.BELL,)
    place = _terminal()
    done = signals.call(ways, "nmem", "a session would call you so", os.environ, place)
    missing = [each for each in ways if each not in done]
    if as_json:
        click.echo(to_json({"how": list(ways), "sent": list(done), "failed": missing, "set": list(own.how)}))
        return 1 if missing else 0
    for each in ways:
        click.echo(f"{each}: {'sent' if each in done else _why(each, place)}")
    if not own.how:
        click.echo(_ON, err=True)
    if own.silent(terminal.now()):
        click.echo(f"it is quiet now ({own.quiet}): sessions do not call you", err=True)
    for each in own.problems:
        click.echo(printable(each), err=True)
    return 1 if missing else 0


def _terminal() -> str:
    """The terminal that a person looks at, by its path."""
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        try:
            return os.ttyname(stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue
    return signals.terminal_of(os.getpid())


def _why(way: str, place: str) -> str:
    if way == config.DESKTOP:
        return "no desktop took it: it needs notify-send, or osascript on macOS, and a desktop"
    return "there is no terminal here" if not place else "this terminal does not take it (TERM)"
