"""Says which script a command asks a runner for (npm, make ...) and whether a file of the checkout defines it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nmem.native.checkout import Checkout, Gone

_SCRIPT = r"(?P<script>[A-Za-z][\w:-]*)"


@dataclass(frozen=True, slots=True)
class Runner:
    """A program that runs scripts by name."""

    asks: re.Pattern[str]
    files: re.Pattern[str]
    """Names of the files that define them."""
    defines: Callable[[str], set[str] | None]
    """The scripts of a file's text; None where that cannot be told."""
    word: str
    """How a file writes the name, for its history."""
    alone: bool
    """It runs nothing else: a name that no file defines is an error, whatever is installed."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A script that no file of the checkout defines."""

    script: str
    files: tuple[str, ...]
    defined: tuple[str, ...]
    """Those that are defined instead, nearest names first."""
    gone: Gone | None
    alone: bool
    """Its runner runs nothing else: the command is surely an error."""


def _package(text: str) -> set[str] | None:
    try:
        found = json.loads(text)
        return set(found.get("scripts") or {}) if isinstance(found, dict) else None
    except (ValueError, TypeError, RecursionError):
        return None


_TARGET = re.compile(r"^([\w./-]+(?:[ \t]+[\w./-]+)*)[ \t]*:(?!=)", re.MULTILINE)


def _make(text: str) -> set[str] | None:
    text = text.replace("\\\n", " ")
    if re.search(r"^-?s?include\b|^[^#\t\n]*%[^\n]*:|\$\(eval|^[^#\t\n:=]*\$[^\n]*:(?!=)", text, re.MULTILINE):
        return None
    return {name for found in _TARGET.finditer(text) for name in found[1].split()}


def _just(text: str) -> set[str] | None:
    if re.search(r"^(?:import|mod)\b", text, re.MULTILINE):
        return None
    # a parameter's default may hold anything: a line that begins with a name and assigns nothing is a recipe
    named = re.findall(r"^@?([A-Za-z_][\w-]*)(?![\w-]|[^\n:=\"'`(]*:=)[^\n]*:", text, re.MULTILINE)
    return {*named, *re.findall(r"^alias\s+([\w-]+)", text, re.MULTILINE)}


def _tables(*path: str) -> Callable[[str], set[str] | None]:
    """The keys of a table of a TOML file, and the other names that they give themselves."""

    def read(text: str) -> set[str] | None:
        try:
            found: object = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return None
        if "includes" in _inner(found, "task_config"):
            return None
        if path[:2] == _POE and {"include", "include_script"} & set(_inner(found, *_POE)):
            return None
        table = _inner(found, *path)
        return {*table, *(name for each in table.values() for name in _aliases(each))}

    return read


def _inner(found: object, *path: str) -> dict[str, object]:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _aliases(task: object) -> list[str]:
    found = task.get("alias") if isinstance(task, dict) else None
    every = found if isinstance(found, list) else [found]
    return [each for each in every if isinstance(each, str)]


def _entry_points(text: str) -> set[str] | None:
    one, other = _tables("project", "scripts")(text), _tables("tool", "poetry", "scripts")(text)
    return None if one is None or other is None else one | other


_POE = ("tool", "poe")
_PACKAGE, _PYPROJECT = re.compile(r"package\.json"), re.compile(r"pyproject\.toml")
RUNNERS = (
    Runner(re.compile(rf"(?:npm|pnpm) (?:run|run-script) {_SCRIPT}(?: .*)?"), _PACKAGE, _package, '"{}":', alone=True),
    Runner(re.compile(r"npm (?P<script>test|start)"), _PACKAGE, _package, '"{}":', alone=True),
    Runner(re.compile(rf"(?:yarn|bun) run {_SCRIPT}(?: .*)?"), _PACKAGE, _package, '"{}":', alone=False),
    Runner(re.compile(rf"g?make {_SCRIPT}"), re.compile(r"GNUmakefile|[Mm]akefile|.*\.mk"), _make, "{}:", alone=True),
    Runner(re.compile(rf"just {_SCRIPT}(?: .*)?"), re.compile(r"\.?[Jj]ustfile"), _just, "{}", alone=True),
    Runner(re.compile(rf"mise (?:run|r) {_SCRIPT}(?: .*)?"), re.compile(r"\.?mise(?:\.\w+)?\.toml"), _tables("tasks"),
           "{}", alone=True),
    Runner(re.compile(rf"poe {_SCRIPT}(?: .*)?"), _PYPROJECT, _tables(*_POE, "tasks"), "{}", alone=True),
    Runner(re.compile(rf"(?:uv|poetry) run {_SCRIPT}(?: .*)?"), _PYPROJECT, _entry_points, "{} = ", alone=False),
)  # fmt: skip
_TASK_ALIAS = re.compile(r"MISE\]?\s+alias(?:es)?\s*=(.*)")
_TASK_FOLDERS = re.compile(r"(?:^|/)(?:\.?mise-tasks|\.?mise/tasks)/(.+)$")


class Scripts:
    """The scripts of a checkout; files are read once."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self._known: dict[Callable[[str], set[str] | None], tuple[tuple[str, ...], set[str] | None]] = {}
        self._history: dict[tuple[str, object], Gone | None] = {}

    def missing(self, command: str) -> Missing | None:
        """The script that a command asks for and no file defines; None where it is there, or cannot be told."""
        for one in RUNNERS:
            asked = one.asks.fullmatch(command)
            if asked is None:
                continue
            script = asked["script"]
            files, defined = self._defined(one)
            if not files or defined is None or script in defined or (one.files is _PACKAGE and " -w" in command):
                return None
            gone = self._dropped(one, script, files)
            if gone is None and not (one.alone and defined):
                return None
            shown = sorted(defined, key=lambda name: _far(name, script))
            return Missing(script, files, tuple(name for name in shown if not name.endswith(":_default")), gone,
                           one.alone)  # fmt: skip
        return None

    def _defined(self, one: Runner) -> tuple[tuple[str, ...], set[str] | None]:
        """The files, the nearest to the root first, and all that they define; None where one of them cannot be told."""
        if one.defines not in self._known:
            files = sorted(
                (path for path in self.checkout.files if one.files.fullmatch(PurePosixPath(path).name)),
                key=lambda path: (path.count("/"), path),
            )
            each = [one.defines(self.checkout.text(path)) for path in files]
            every = None if any(names is None for names in each) else set().union(*(names or set() for names in each))
            if every is not None and "mise" in one.asks.pattern:
                every |= self._tasks()
            self._known[one.defines] = (tuple(files), every)
        return self._known[one.defines]

    def _tasks(self) -> set[str]:
        """Tasks of mise that are files of their own, and the other names in them."""
        found = [one for path in self.checkout.files if (one := _TASK_FOLDERS.search(path))]
        names = [re.sub(r"\.\w+$", "", one[1]).replace("/", ":") for one in found]
        names += [each for one in found for said in _TASK_ALIAS.findall(self.checkout.text(one.string))
                  for each in re.findall(r"[\w:.-]+", said)]  # fmt: skip
        return {*names, *(name.removesuffix(":_default") for name in names)}

    def _dropped(self, one: Runner, script: str, files: Sequence[str]) -> Gone | None:
        """The newest commit before which a file defined a script, and after which it did not."""
        key = (script, one.defines)
        if key not in self._history:
            changes = self.checkout.changed(one.word.format(script), files)
            each = ((gone, one.defines(before), one.defines(after)) for gone, before, after in changes)
            self._history[key] = next((gone for gone, before, after in each if before is not None and after is not None
                                       and script in before - after), None)  # fmt: skip
        return self._history[key]


def _far(name: str, script: str) -> tuple[bool, str]:
    """Names that have something in common with a script come first."""
    return (not (set(re.split(r"\W", name)) & set(re.split(r"\W", script))), name)
