"""The command line: names every command, imports only the one that runs."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

import click

from capture.storage.sqlite import Error
from nmem import commands
from nmem.commands import streams
from nmem.errors import NmemError
from nmem.text import printable

COMMANDS: dict[str, str] = {
    "init": "connect nmem to your coding clients",
    "uninstall": "take nmem's hooks out again",
    "status": "what is recorded, and whether the hooks are alive",
    "doctor": "send an event through every registered hook and read it back",
    "import": "load past sessions from the clients' own transcripts",
    "tui": "open the cockpit",
    "now": "where a session stands: its work unit, its stance, what it is told next, its newest rows",
    "episodes": "what was worked on, task by task; split, merge, rename, move, pin",
    "show": "the story of an episode, a session, a prompt or a thread; one call; who touched a file",
    "search": "one box over everything recorded; filters such as type:test is:failed since:7d",
    "pin": "keep something in mind: first in searches, always told",
    "unpin": "take a pin away",
    "mark": "keep a note, a decision or a point to come back to, beside what is done now",
    "undo": "take back your newest correction",
    "purge": "forget what you name, wholly: rows, stories, indexes, files; undone within a window",
    "when": "the decision for a situation: what was written down about it",
    "how": "the decision for a procedure: how it is done here",
    "recall": "written decisions: check, migrate, write one, name one, see what is asked for",
    "decisions": "what was settled in conversation; what replaced it; keep, dismiss, word",
    "themes": "what the work is about: episodes on the same subject, across sessions and threads",
    "threads": "lines of work across sessions: what belongs together, what the next session continues",
    "stance": "how a session moves between thinking and acting, what is usual, what is worth knowing now",
    "learn": "what fails or is asked again across sessions; accept it into CLAUDE.md or AGENTS.md",
    "skills": "what goes together in a project, step by step; promote it to a client's skill or to /how",
    "fix": "what put an error right before, by its text",
    "task": "queue work for a coding client; run it in panes of tmux, watch, attach, cancel, retry, schedule",
    "context": "what the next session is told, exactly, and why; as it would be for a prompt, or was at a time",
    "model": "which language model tells what is over, or none; what it costs; choose one, switch it off",
    "narrate": "tell an episode anew, by a language model where there is one",
    "settle": "close, tell, sum up and link what is over; starts by itself",
    "train": "learn from your corrections: where a task begins, what a call is",
    "relabel": "say what a call was: thinking or acting, widening or narrowing ...; see why the model thinks otherwise",
    "backfill": "label past calls by the model in force",
    "sweep": "forget what is past its lifetime; see first what would go; what went and why",
    "maintain": "look after the file: text indexes, statistics, the log, empty pages",
    "review": "judge samples of what redaction took out: a secret, or a false alarm",
    "redact": "take the secrets out of standard input, or out of all that is stored",
    "mcp": "serve the memory to a coding agent; your client starts it by itself",
    "backup": "copy everything recorded into one file, encrypted if you like, while sessions go on",
    "restore": "make the memory what a backup says; what is there now is kept first",
    "export": "sessions as lines of JSON, or as tables, for another machine; import --from-export takes them in",
    "config": "what can be set, and what is set; get, set, check, edit",
    "eval": "measure nmem on labelled data or on your own history",
}
"""The commands in the order in which a newcomer needs them, with their help; a module has the name of its command, with
an underscore behind it where Python needs one."""
_NAME = 200
ELSEWHERE = {"tui": "nmem_tui.command"}
"""Commands of higher layers, known here by name only."""


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


def _module(name: str) -> str:
    return ELSEWHERE.get(name) or f"nmem.commands.{name}{'_' if name in ('import', 'eval') else ''}"


class Lazy(click.Group):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click calls it so
        """All names, in the order in which a newcomer needs them."""
        return [*COMMANDS, *others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click calls it so
        """The command, imported now."""
        if cmd_name not in COMMANDS and cmd_name not in others():
            return None
        command = importlib.import_module(_module(cmd_name)).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{_module(cmd_name)}.command is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click calls it so
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *others().items()])


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nmem", message="nmem %(version)s")
def nmem() -> None:
    """The memory of your coding sessions, and the cockpit you steer it from."""


def main() -> None:
    """Run the command line; an expected error is one line on stderr: exit 2 for usage, 1 for failure."""
    streams.whole()
    try:
        code = _run()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else _failed(str(stop.code)) if stop.code else 0
    if code := code or streams.flushed():
        streams.flushed(quiet=True)
        sys.exit(code)


def _run() -> int:
    try:
        found = nmem.main(standalone_mode=False)
        return found if type(found) is int else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return _failed("stopped")
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
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


def _failed(said: str, code: int = 1) -> int:
    streams.tell(f"nmem: {said}")
    return code
