"""Checks hooks and status line: whether they are registered, start, and store what they are sent."""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import tempfile
import time
import uuid
from contextlib import closing, suppress
from pathlib import Path

from capture import install, paths
from capture.clients import CLIENTS
from capture.install import atomic, hook_entries, installed, registered, status_line, targets
from capture.install.hook_entries import Entry
from capture.install.registered import Command
from capture.install.status_line import Line
from capture.install.targets import Target, title
from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem.audit import NOTE, OK, WRONG, Finding
from nmem.doctor import probe, registrations
from nmem.read import health

_DEAR = 5.0
"""Times a bare interpreter, from which on something is amiss: bytecode or the rule cache is missing."""


def found(folder: str) -> list[str]:
    """Clients that are on this machine or have hooks of nmem's in this project."""
    return [name for name in CLIENTS if targets.found(name) or any(registrations.all_of(name, folder))]


def init(target: Target) -> str:
    """The command that writes a settings file anew."""
    scope = "" if target.scope == targets.USER else f" --scope {target.scope}"
    return f"nmem init --client {target.client}{scope}"


def registered_hooks(folder: str) -> list[Finding]:
    """Which clients are connected, and whether their settings say what they should."""
    out: list[Finding] = []
    connected = 0
    for client in found(folder):
        here = list(registrations.all_of(client, folder))
        connected += bool(here)
        unfit = [
            Finding("settings", WRONG, trouble, f"fix the file by hand, then {init(target)}", client)
            for target in targets.targets(client, folder)
            if (trouble := registrations.problem(target))
        ]
        out += unfit
        if not here and not unfit:
            evidence = f"{title(client)} is here, but nmem is not in its settings"
            out.append(Finding("hooks", NOTE, evidence, f"nmem init --client {client}", client))
        for target, entries in here:
            out.append(_complete(target, entries))
        out += _twice(client, here, folder)
    out += (plugins := registrations.by_plugin())
    if not connected and not plugins:
        out.append(registrations.UNCONNECTED)
    return out


def _complete(target: Target, entries: list[Entry]) -> Finding:
    wanted = hook_entries.events(target.client)
    have = {entry.event for entry in entries}
    if missing := [event for event in wanted if event not in have]:
        evidence = f"{target.path} lacks {', '.join(missing)}"
        return Finding("hooks", WRONG, evidence, init(target), target.client)
    if strange := [event for event in have if event not in wanted]:
        evidence = f"{target.path} has hooks of an older nmem: {', '.join(sorted(strange))}"
        return Finding("hooks", NOTE, evidence, init(target), target.client)
    return Finding("hooks", OK, f"{len(have)} events in {target.path}", "", target.client)


def _twice(client: str, here: list[tuple[Target, list[Entry]]], folder: str) -> list[Finding]:
    out = []
    for target, entries in here:
        events = [entry.event for entry in entries]
        if len(events) > len(set(events)):
            evidence = f"{target.path} has nmem's hook more than once for an event; each event is stored once"
            out.append(Finding("double", NOTE, evidence, init(target), client))
    if here and (others := registrations.elsewhere(here[0][0], folder)):
        evidence = f"also registered in {', '.join(others)}: each event comes twice and is stored once"
        out.append(Finding("double", NOTE, evidence, f"nmem uninstall --client {client}, then nmem init", client))
    return out


def files(folder: str) -> list[Finding]:
    """Whether what the commands name exists: the interpreter, the entry file, the same database."""
    out: list[Finding] = []
    for client in found(folder):
        for target, entries in registrations.all_of(client, folder):
            seen = {(e.command.interpreter, e.command.entry, e.command.db): e.command for e in entries}
            for command in seen.values():
                out += _command(target, command)
    return out


def _gone(command: Command) -> list[str]:
    """Of what a command runs, what is not there any more."""
    gone = [] if os.access(command.interpreter, os.X_OK) else [f"the interpreter {command.interpreter}"]
    return gone if Path(command.entry).is_file() else [*gone, command.entry]


def _command(target: Target, command: Command) -> list[Finding]:
    out = []
    if gone := _gone(command):
        said = f"{' and '.join(gone)} {'are' if len(gone) > 1 else 'is'} gone: no hook in {target.path} runs"
        out.append(Finding("command", WRONG, said, init(target), target.client))
    elif not Path(command.entry).samefile(registered.entry()):
        other = f"the hooks run another nmem: {command.entry}"
        out.append(Finding("command", NOTE, other, init(target), target.client))
    if probe.database(command) != paths.database():
        other = f"the hooks write to {probe.database(command)}, this shell reads {paths.database()}"
        out.append(Finding("database", WRONG, other, init(target), target.client))
    return out


def round_trips(folder: str) -> list[Finding]:
    """Run every registered command with an event of its own, and look for it in the database it went to."""
    out: list[Finding] = []
    bare: dict[str, float] = {}
    whole: list[float] = []
    for client in found(folder):
        seen: set[str] = set()
        for target, entries in registrations.all_of(client, folder):
            # what is gone was said once: running it ten times says nothing more
            todo = [entry for entry in entries if entry.command.line not in seen and not _gone(entry.command)]
            seen |= {entry.command.line for entry in todo}
            out += _round_trip(target, todo, bare, whole)
    if whole and any(bare.values()):
        _keep(statistics.median(whole), max(bare.values()))
    return out


def _keep(whole: float, bare: float) -> None:
    """What was timed stands beside what hooks say of themselves; where the database cannot be written, it does not."""
    with suppress(sqlite3.Error, OSError, NewerDatabase), closing(store.connect(paths.database(), timeout=1)) as db:
        health.keep_measured(db, whole, bare)


def _round_trip(target: Target, entries: list[Entry], bare: dict[str, float], whole: list[float]) -> list[Finding]:
    """One finding for all commands that work, and one for each cause for which others do not."""
    times: list[float] = []
    failed: dict[str, list[Entry]] = {}
    logged: dict[str, list[Entry]] = {}
    for entry in entries:
        outcome = probe.send(entry, f"nmem-doctor-{uuid.uuid4()}")
        if not outcome.arrived or outcome.fault:
            failed.setdefault(_cause(outcome), []).append(entry)
            continue
        times.append(outcome.ms)
        if outcome.logged:
            logged.setdefault(_cause(outcome), []).append(entry)
    whole += times
    out = [_cost(target, entries[0].command.interpreter, len(entries), times, bare)] if times else []
    for said, of in failed.items():
        mend = f"see {paths.log(probe.database(of[0].command))}; a command: {of[0].command.line}"
        out.append(Finding("round trip", WRONG, f"{_names(of)}: {said}", mend, target.client))
    for said, of in logged.items():
        mend = f"see {paths.log(probe.database(of[0].command))}"
        out.append(
            Finding("round trip", NOTE, f"{_names(of)} arrived, but the hook logged: {said}", mend, target.client)
        )
    return out


def _cause(outcome: probe.Outcome) -> str:
    """What was wrong, without the time and process of a log line, so that equal causes are one."""
    said = outcome.fault or outcome.logged
    if said == outcome.logged and said[4:5] == "-" and said.count(" ") > 2:
        said = said.split(" ", 2)[2]
    return said if outcome.arrived else f"did not arrive: {said}"


def _names(entries: list[Entry]) -> str:
    return ", ".join(entry.event for entry in entries)


def _cost(target: Target, interpreter: str, sent: int, times: list[float], bare: dict[str, float]) -> Finding:
    if interpreter not in bare:
        try:
            bare[interpreter] = probe.bare(interpreter)
        except (OSError, subprocess.SubprocessError):
            bare[interpreter] = 0.0
    ms = statistics.median(times)
    ratio = ms / bare[interpreter] if bare[interpreter] else 0.0
    said = f"{len(times)} of {sent} events arrived; the client waits {ms:.0f} ms for each"
    said += f", {health.times(ratio, bare[interpreter])}" if ratio else ""
    if ratio > _DEAR:
        return Finding("round trip", NOTE, said, "nmem doctor --fix", target.client, ms)
    return Finding("round trip", OK, said, "", target.client, ms)


_LIMIT = 20
_TEXT = b'{"session_id":"nmem-doctor","model":{"id":"none"}}\x00\xff\n'


def status_lines(folder: str) -> list[Finding]:
    """One finding for each settings file that has a status line."""
    out = []
    for client in status_line.CLIENTS if os.name != "nt" else ():
        for target in targets.targets(client, folder):
            try:
                data = atomic.read(target.path)
                command, ours = status_line.present(install.text_of(data), target) if data else (None, None)
            except (ValueError, OSError):
                continue  # said by the check of the file itself
            if ours is not None:
                out.append(_ours(target, ours))
            elif command is not None and installed.load(paths.database(), target.path):
                out.append(_theirs(target))
    return out


def _init(target: Target) -> str:
    return f"nmem init --client {target.client}{'' if target.scope == targets.USER else f' --scope {target.scope}'}"


def _theirs(target: Target) -> Finding:
    record = installed.load(paths.database(), target.path)
    said = f"the status line in {target.path} is your own, without nmem's: window sizes come from the transcript"
    if record and record.no_line:
        return Finding("status line", OK, said, "", target.client)
    return Finding("status line", NOTE, said, _init(target), target.client)


def _ours(target: Target, ours: Line) -> Finding:
    gone = [path for path in (ours.interpreter, ours.file) if not Path(path).exists()]
    if gone:
        left = "your own line still runs" if ours.own is not None else "the status line is empty"
        said = f"{' and '.join(gone)} is gone: {left}, but nmem reads nothing ({target.path})"
        return Finding("status line", NOTE, said, _init(target), target.client)
    if (ours.db or paths.database()) != paths.database():
        said = f"the status line writes to {ours.db}, this shell reads {paths.database()}"
        return Finding("status line", WRONG, said, _init(target), target.client)
    if ours.own is None:
        return Finding("status line", OK, f"nmem's own line is in {target.path}", "", target.client)
    return _passes(target, ours)


def _passes(target: Target, ours: Line) -> Finding:
    """Send bytes through nmem's part, with `cat` where the person's command would stand: theirs is not run."""
    said = status_line.wrapped("cat; exit 7", ours.db)
    before = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="nmem-doctor-") as made:
            done = subprocess.run(
                ["sh", "-c", said], input=_TEXT, cwd=made, capture_output=True, timeout=_LIMIT, check=False
            )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("status line", WRONG, f"does not run: {type(error).__name__}", _init(target), target.client)
    ms = (time.perf_counter() - before) * 1000
    if (done.stdout, done.stderr, done.returncode) != (_TEXT, b"", 7):
        told = "the output of your command does not arrive unchanged"
        return Finding(
            "status line", WRONG, told, f"nmem init --client {target.client} --no-status-line", target.client
        )
    evidence = f"{title(target.client)} runs your own line in {target.path}, {ms:.0f} ms with `cat`; nmem reads along"
    return Finding("status line", OK, evidence, "", target.client, ms)
