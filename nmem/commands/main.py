"""The command line: lists every command, imports only the one that runs; survives closed streams and full disks."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules, resolve_name
from typing import TYPE_CHECKING, TextIO

import click

from capture.storage.sqlite import Error
from nmem import commands
from nmem.commands import examples
from nmem.errors import NmemError
from nmem.store import project
from nmem.text import lines, printable

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS: dict[str, str] = {
    "init": "connect nmem to your coding clients",
    "completion": "print the script that makes your shell complete nmem's words",
    "uninstall": "remove nmem's hooks and tools",
    "status": "what is recorded, and whether the hooks are alive",
    "doctor": "send an event through every registered hook and read it back",
    "import": "load past sessions from the clients' own transcripts",
    "tui": "open the cockpit",
    "now": "the state of a session: work unit, stance, the next injection, newest rows",
    "sessions": "list sessions and their states; name, tag, archive",
    "resume": "resume a session with its own client; restore a transcript that it deleted",
    "episodes": "list episodes of work; split, merge, rename, move, pin",
    "show": "the story of an episode, a session, a prompt or a thread; one call; who touched a file",
    "share": "write an episode or a session as Markdown and HTML for somebody else, redacted",
    "handoff": "hand an episode on: start another client with a brief of it",
    "sync": "share facts of chosen projects with a team, or your other machine, through a PostgreSQL server",
    "compactions": "what each compaction of a session dropped, and what was done again after it",
    "blame": "which prompt, episode and decision made a line of a file, and how its tests ended",
    "hot": "which files and folders see most edits, failures, taken-back work and people; what git moved",
    "search": "search everything recorded; filters such as type:test is:failed since:7d",
    "ask": "answer a question in quotes from the records, or say that nothing is recorded about it",
    "pin": "pin an item: first in searches, always told",
    "unpin": "remove a pin",
    "mark": "add a note, a decision or a rollback point to the current session",
    "undo": "undo your newest correction",
    "purge": "forget what you name: rows, stories, indexes, files; undo within a window",
    "when": "look up the written decision for a situation",
    "how": "look up the written decision for a procedure: how it is done here",
    "recall": "written decisions: check, migrate, write one, name one, report use",
    "decisions": "decisions made in conversation, and what replaced them; keep, dismiss, reword",
    "themes": "subjects of the work: episodes on the same subject, across sessions and threads",
    "attention": "sessions that wait for you or failed; try how they call you",
    "threads": "lines of work across sessions: link, unlink, choose what the next session continues",
    "stance": "how a session moves between thinking and acting, compared with others, with advice",
    "learn": "failures and requests that recur across sessions; accept a rule into CLAUDE.md or AGENTS.md",
    "skills": "recurring procedures of a project, step by step; promote one to a client's skill or to /how",
    "native": "check CLAUDE.md, AGENTS.md, GEMINI.md and memories for what is stale, contradicted, repeated or dear",
    "fix": "find what fixed an error before, by its text",
    "task": "queue work for a coding client; run it in panes of tmux, watch, attach, cancel, retry, schedule",
    "cost": "what sessions cost in tokens and money, by session, episode, thread, project, day or model",
    "context": "the exact text the next session is told, and why; also for a prompt, or at a past time",
    "model": "which language model writes stories, or none, and its cost; choose one, switch it off",
    "narrate": "rewrite an episode's story, with a language model if there is one",
    "settle": "close, narrate, summarize and link finished work; runs automatically",
    "train": "train on your corrections: where an episode begins, how calls are labelled",
    "relabel": "correct the labels of a call: thinking or acting, widening or narrowing ...; see the model's reasons",
    "backfill": "label past calls with the current model",
    "sweep": "forget records past their lifetime; preview, and the history of past sweeps",
    "maintain": "maintain the database file: text indexes, statistics, the log, empty pages",
    "review": "judge samples of redacted texts: a secret, or a false alarm",
    "redact": "remove secrets from standard input, or from everything stored",
    "mcp": "serve the memory to a coding agent; your client starts it",
    "backup": "copy everything recorded into one file, encrypted if you like, while sessions go on",
    "restore": "replace the memory by a backup; the current one is kept",
    "export": "write sessions as lines of JSON, or as tables, for `nmem import --from-export` on another machine",
    "stream": "send events as JSON lines to a file, a pipe, VictoriaLogs or Loki; go on from where it ended",
    "config": "settings: list, get, set, check, edit",
    "eval": "measure nmem on labelled data or on your own history",
}
"""The commands in the order in which a newcomer needs them, with their help; a module has the name of its command, with
an underscore behind it where Python needs one. A command that takes another one back stands beside it: ELSEWHERE."""
_NAME = 200
ELSEWHERE = {
    "tui": "nmem_tui.command:command",
    "completion": "nmem.commands.complete:command",
    "unpin": "nmem.commands.pin:unpin",
    "how": "nmem.commands.when:how",
    "maintain": "nmem.commands.sweep:maintain",
    "review": "nmem.commands.redact:review_",
    "restore": "nmem.commands.backup:restore_",
}
"""Commands of higher layers, and those that stand in the module of another command: the module and the name in it."""


@cache
def others() -> dict[str, str]:
    """Commands that are not listed above: modules whose first line is `nmem NAME`, in backticks, a colon, the help."""
    names = {each.name for each in iter_modules(commands.__path__)} - COMMANDS.keys()
    return {name: help_ for name in sorted(names) if (help_ := _help(name))}


def _help(name: str) -> str:
    """What the first line of a module says, without importing it; empty where it is no command."""
    spec = find_spec(f"{commands.__name__}.{name}")
    if spec is None or spec.origin is None:
        return ""
    with Path(spec.origin).open(encoding="utf-8") as file:
        called, _, help_ = file.readline().strip().partition(f'"""`nmem {name}`: ')
    return "" if called else help_.removesuffix('"""').removesuffix(".")


def imported(name: str) -> click.Command:
    """The command of a name, imported now. Raises TypeError where the module defines another thing."""
    found = ELSEWHERE.get(name) or f"nmem.commands.{name}{'_' if name in ('import', 'eval') else ''}:command"
    command = resolve_name(found)
    if not isinstance(command, click.Command):
        raise TypeError(f"{found} is not a click command")
    return command


class Lazy(click.Group):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click calls it so
        """All names, in the order in which a newcomer needs them."""
        return [*COMMANDS, *others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click calls it so
        """The command, imported now."""
        if cmd_name not in COMMANDS and cmd_name not in others():
            return None
        return imported(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command as click does, which knows only loaded ones when it names the nearest; teach its help."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=self.list_commands(ctx), ctx=ctx) from None
        if command is not None and (examples.HELP & set(rest) or (not rest and command.no_args_is_help)):
            examples.teach(command, str(name))
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click calls it so
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *others().items()])


@click.group(
    cls=Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`nmem COMMAND --help` says what a command is for, and shows examples.\n\n"
    "\b\nExamples:\n  nmem init            # connect your coding clients\n"
    "  nmem tui --demo      # look around in a recorded session\n  nmem search --help",
)
@click.version_option(package_name="nmem", message="nmem %(version)s")
def nmem() -> None:
    """The memory of your coding sessions, and the cockpit you steer it from."""
    project.tell = lambda said: tell(f"nmem: {said}")


def main() -> None:
    """Run the command line; an expected error is one line on stderr: exit 2 for usage, 1 for failure."""
    whole()
    out = sys.stdout
    try:
        code = exit_code(_run)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else _failed(str(stop.code)) if stop.code else 0
        if sys.stdout is not out:  # click puts another one in the place of a closed one, and exits with 1
            code = 0  # whoever read has enough
    if code := code or flushed():
        flushed(quiet=True)
        sys.exit(code)


def _run() -> int:
    found = nmem.main(standalone_mode=False)
    return found if type(found) is int else 0


def exit_code(run: Callable[[], int]) -> int:
    """What a command returns, or the code of what went wrong, which is said in one line. Raises what nobody expects."""
    try:
        return run()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _failed("stopped")
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _failed(_worded(error), error.exit_code)
    except NmemError as error:
        return _failed(str(error))
    except Error as error:
        return _failed(f"the database cannot be read or written: {printable(str(error))}; `nmem doctor` says more")
    except UnicodeEncodeError as error:
        return _failed(
            f"{printable(str(error.object)[:_NAME])} is not UTF-8: nmem knows such names with \ufffd in them"
        )
    except BrokenPipeError:
        return 0  # whoever read has enough
    except OSError as error:
        return _failed(f"{f'{printable(str(error.filename))}: ' if error.filename else ''}{error.strerror or error}")


def _worded(error: click.ClickException) -> str:
    """An error of usage, with the command whose help lists what can be given; not where click names the nearest."""
    said = error.format_message()
    if not isinstance(error, click.NoSuchCommand | click.NoSuchOption | click.MissingParameter):
        return said
    if error.ctx is None or said.endswith("?"):
        return said
    path = error.ctx.command_path.rpartition("nmem")[2].split()
    return f"{said.rstrip('.')}: see `{' '.join(['nmem', *path])} --help`"


def _failed(said: str, code: int = 1) -> int:
    tell(f"nmem: {said}")
    return code


def whole() -> None:
    """Make the three usable: a closed one swallows what is written, and what it cannot spell becomes a question mark.

    A closed number would be given to the next file that is opened: to the database.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _swallow(number)
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - while we run
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")


def flushed(*, quiet: bool = False) -> int:
    """Write out what is held back: 0, or 1 with one line when it cannot be written (`quiet`: without the line)."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout, 1)
    except (OSError, ValueError) as error:
        _drop(sys.stdout, 1)
        if not quiet:
            tell(f"nmem: the output cannot be written: {getattr(error, 'strerror', None) or error}")
        return 1
    return 0


def tell(text: str) -> None:
    """A text on standard error, where there is one that takes it; of what it quotes, nothing acts on a terminal."""
    try:
        sys.stderr.write("\n".join(lines(text)) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr, 2)


def _drop(stream: TextIO, number: int) -> None:
    """What is held back goes nowhere, so that the end of the process does not try again."""
    _swallow(number)
    try:
        stream.flush()
    except (OSError, ValueError):
        return


def _swallow(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
