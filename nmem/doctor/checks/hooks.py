"""Checks hooks: whether they are registered, start, and store what they are sent."""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import uuid
from contextlib import closing, suppress
from pathlib import Path

from capture import paths
from capture.clients import CLIENTS
from capture.install import hook_entries, registered, targets
from capture.install.hook_entries import Entry
from capture.install.registered import Command
from capture.install.targets import Target, title
from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem.doctor import probe, registrations
from nmem.doctor.checks import NOTE, OK, WRONG, Finding
from nmem.read import hook_cost

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
            Finding("settings", WRONG, trouble, f"mend the file by hand, then {init(target)}", client)
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
    if not connected:
        out.append(Finding("hooks", WRONG, "no coding client has nmem's hooks: nothing is recorded", "nmem init"))
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
        hook_cost.keep(db, whole, bare)


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
    said += f", {hook_cost.times(ratio, bare[interpreter])}" if ratio else ""
    if ratio > _DEAR:
        return Finding("round trip", NOTE, said, "nmem doctor --fix", target.client, ms)
    return Finding("round trip", OK, said, "", target.client, ms)
