"""`nmem resume`: prints the command that resumes a session, runs it here or in a pane; restores its transcript."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, replace

import click

from nmem.commands import terminal
from nmem.dispatch.child import own_environment
from nmem.errors import NmemError
from nmem.read.listing import LAST, elsewhere, session_of
from nmem.sessions import resume
from nmem.text import printable, to_json


@click.command(epilog="`nmem sessions` lists the ids.")
@click.argument("session", required=False, type=terminal.session)
@click.option("--project", default="", help="The newest session of this project (name, key or root folder).")
@click.option("--run", "run_", is_flag=True, help="Run it in this terminal.")
@click.option("--pane", is_flag=True, help="Run it in a pane of tmux beside this one, or in a window of tmux.")
@click.option("--restore", "back", is_flag=True,
              help="First give a transcript back that the client has deleted, from nmem's copy.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output; nothing runs.")
def command(session: str | None, project: str, run_: bool, pane: bool, back: bool, as_json: bool) -> None:
    """Resume SESSION with its own client: prints the command to paste, with the folder to run it in.

    Of SESSION's id the beginning is enough; episode/12 is its session. Without one, or with last: the newest of the
    folder's project, else, only printed, the newest of all.
    Exit code 1 where the client has deleted its transcript: --restore gives it back.
    """
    if session and project:
        raise click.UsageError("give either SESSION or --project: a session belongs to one project")
    if run_ + pane + as_json > 1:
        raise click.UsageError("give only one of --run, --pane and --json")
    with terminal.reading("sessions") as db:
        one = resume.plan(db, session_of(db, session, project))
        unasked = session in (None, LAST) and not project
        other = elsewhere(db, one.session_id) if unasked else ""
    if other:
        said = f"no session is recorded of this folder: the newest session of all is {one.session_id[:8]} of"
        if run_ or pane or back:
            raise NmemError(f"{said} {printable(other)}; name it if you mean it")
        click.echo(f"note: {said} {printable(other)}", err=True)
    given = _give_back(one) if back else ""
    one = replace(one, transcript=given or one.transcript)
    if as_json:
        known = {**asdict(one), "command": one.line, "transcript_deleted": one.deleted, "restored": given,
                 "folder_gone": one.folder_gone}  # fmt: skip
        click.echo(to_json(known))
    elif pane:
        click.echo(f"resumed {printable(resume.pane(one))}")
        return
    elif run_:
        _run(one)
    else:
        click.echo(printable(one.line))
    if one.deleted:
        raise NmemError(resume.gone(one))
    if one.folder_gone and not as_json:
        click.echo(f"note: its folder is gone ({printable(one.folder)}): the command needs it", err=True)


def _give_back(one: resume.Resume) -> str:
    """Restore the transcript; where it was written, empty where it is there already."""
    if not one.deleted and one.transcript:
        click.echo("note: its transcript is there: nothing to restore", err=True)
        return ""
    with terminal.writing() as db:
        path = resume.restore(db, one)
    click.echo(f"restored: {printable(path)}", err=True)
    return path


def _run(one: resume.Resume) -> None:
    """Become its client, in its folder."""
    resume.ready(one)
    if not sys.stdin.isatty():
        raise NmemError(f"there is no terminal here: run `{printable(one.line)}` in one")
    os.chdir(one.folder)
    environ = {**own_environment(), "PWD": one.folder}
    os.execvpe(one.words[0], list(one.words), environ)  # noqa: S606 - a list of words: no shell
