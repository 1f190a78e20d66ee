"""The command line in this process, as `python -m nmem` runs it: without an interpreter and its imports each time."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import click
import pytest

from nmem.commands import start
from nmem.commands.main import nmem

BY_THIS = f"#!/bin/sh\n'''exec' \"{sys.executable}\" -IS \"$0\" \"$@\"\n' '''\n"
"""How a script begins that this interpreter runs, whatever folder that one lies in."""


def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run `nmem words`; what it says, and its exit code. Its settings of this process are put back."""
    streams = [TextIOWrapper(BytesIO(text.encode()), encoding="utf-8") for text in (given, "", "")]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    environ, folder, code = {**os.environ}, Path.cwd(), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["nmem", *words])
        patch.setattr(os, "nice", lambda _by: 0)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            start.main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else bool(stop.code)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.environ.clear()
            os.environ.update(environ)
            os.chdir(folder)
    for stream in streams[1:]:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])
    return subprocess.CompletedProcess(words, code, out, err)


SHELL = {"|", ">", "<", "&&"}
"""Words at which a shell ends a command."""


def parse(line: str) -> None:
    """Have the command line take the command that a line shows, up to what would run it; raises as click does."""
    run_ = line.partition("  #")[0]
    words = shlex.split(run_[run_.rindex("nmem ") :].replace(')"', "").replace(")", ""))
    command: click.Command = nmem
    args = words[1 : next((at for at, word in enumerate(words) if word in SHELL), len(words))]
    context: click.Context | None = None
    try:
        while True:
            context = command.make_context(command.name, list(args), parent=context)
            args = [*context._protected_args, *context.args]
            if not isinstance(command, click.Group) or not args:
                break
            _, found, args = command.resolve_command(context, args)
            assert found is not None
            command = found
    except click.exceptions.Exit:
        return  # answered while it was parsed, as --help is
    assert not isinstance(command, click.Group) or command.invoke_without_command or not args
