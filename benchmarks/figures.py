"""The figures that are measured at several sizes: their budgets, how they grow, and the table that says it.

A reading has a value in its unit, and the same in units of a control that ran in the same round: the machine's pace is
in both, so growth is the quotient of the two outer sizes in units of the control.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GROWTH = 1.5
"""How many times a figure may grow from the smallest size to the largest."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: what it is, its unit, and what it may be at every size (None: nothing was promised)."""

    key: str
    what: str
    unit: str
    most: float | None = None
    grows: bool = True
    """Whether it is held to GROWTH."""


BARE = "bare interpreters"
MEASURES = (
    Measure("hook PostToolUse", "hook: a tool call of 4 KB", BARE, 3.0),
    Measure("hook PostToolUse 64 KB", "hook: a tool call of 64 KB", BARE, 6.0),
    Measure("hook PreToolUse", "hook: before a call, answered", BARE, 4.0),
    Measure("hook PostToolUseFailure", "hook: a call that failed, answered", BARE, 4.0),
    Measure("hook SessionStart", "hook: a session's start, told something", BARE, 4.0),
    Measure("hook FirstPrompt", "hook: a first prompt, told something", BARE, 4.0),
    Measure("hook UserPromptSubmit", "hook: a prompt of a long session", BARE, 3.0),
    Measure("hook Stop", "hook: the end of a turn", BARE, 3.0),
    Measure("read stream", "a page of the timeline", "ms"),
    Measure("read episodes", "a page of episodes", "ms"),
    Measure("read current", "the current episode", "ms"),
    Measure("read context", "what a prompt is told, composed", "ms"),
    Measure("key cursor", "a key to its frame: cursor", "ms", 16.0),
    Measure("key page", "a key to its frame: page", "ms", 16.0),
    Measure("key end", "a key to its frame: end of a list", "ms", 16.0),
    Measure("key switch", "a key to its frame: another screen", "ms", 16.0),
    Measure("key filter", "a key to its frame: a filter's letter", "ms", 16.0),
    Measure("search p50", "a search, median", "ms", grows=False),
    Measure("search p95", "a search, 95th percentile", "ms", 100.0, grows=False),
    Measure("bytes", "an observation with all its indexes", "bytes", 700.0, grows=False),
    Measure("bytes of all", "the whole file, an observation", "bytes", grows=False),
    Measure("memory", "the cockpit's memory", "MB", 120.0, grows=False),
    Measure("first frame", "the cockpit's first frame with data", "bare Textual apps", 2.2),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A median in the unit of its measure, and the same in units of the control of its rounds."""

    value: float
    relative: float


@dataclass(slots=True)
class Run:
    """Everything that one run found; figures by key and number of observations."""

    figures: dict[str, dict[int, Reading]] = field(default_factory=dict)
    commit: str = ""
    machine: str = ""
    remarks: list[str] = field(default_factory=list)

    def add(self, key: str, size: int, value: float, control: float = 1.0) -> None:
        """Note a reading."""
        self.figures.setdefault(key, {})[size] = Reading(value, value / control)

    @property
    def sizes(self) -> list[int]:
        """All numbers of observations, ascending."""
        return sorted({size for readings in self.figures.values() for size in readings})

    def growth(self, key: str) -> float | None:
        """How many times a figure is at the largest size what it is at the smallest; None of fewer than two sizes."""
        return growth(self.figures.get(key, {}))

    def measured(self) -> Iterator[Measure]:
        """The measures that were taken, in their order."""
        return (each for each in MEASURES if each.key in self.figures)

    def missed(self) -> list[str]:
        """A sentence for every budget that does not hold."""
        return [sentence for each in self.measured() for sentence in self._missed(each)]

    def _missed(self, one: Measure) -> Iterator[str]:
        readings = self.figures[one.key]
        worst = max(readings, key=lambda size: readings[size].value)
        if over(one, readings[worst]):
            value = readings[worst].value
            yield f"{one.what}: {number(value)} {one.unit} at {worst:,}, budget {number(one.most or 0)}"
        grown = self.growth(one.key)
        if one.grows and grown is not None and grown > GROWTH:
            yield f"{one.what}: {grown:.2f} times from {min(readings):,} to {max(readings):,}, budget {GROWTH}"

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON has it."""
        return {
            "commit": self.commit,
            "machine": self.machine,
            "sizes": self.sizes,
            "figures": {
                one.key: {
                    "what": one.what, "unit": one.unit, "budget": one.most, "growth": self.growth(one.key),
                    "growth_budget": GROWTH if one.grows else None,
                    "at": {
                        str(size): {"value": round(each.value, 4), "relative": round(each.relative, 4)}
                        for size, each in sorted(self.figures[one.key].items())
                    },
                }
                for one in self.measured()
            },
            "missed": self.missed(),
            "remarks": self.remarks,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Run:
        """The run that `to_dict` wrote. Raises KeyError, ValueError for something else."""
        run = cls({}, str(given["commit"]), str(given["machine"]), [str(each) for each in given["remarks"]])
        for key, figure in given["figures"].items():
            for size, each in figure["at"].items():
                run.figures.setdefault(key, {})[int(size)] = Reading(float(each["value"]), float(each["relative"]))
        return run


def growth(readings: Mapping[int, Reading]) -> float | None:
    """The quotient of the largest and the smallest size, in units of the control."""
    if len(readings) < 2:
        return None
    first = readings[min(readings)].relative
    return readings[max(readings)].relative / first if first else None


def over(one: Measure, reading: Reading) -> bool:
    """Whether a reading is over the budget of its measure."""
    return one.most is not None and reading.value > one.most


def number(value: float) -> str:
    """Three digits are enough: 0.123, 1.23, 12.3, 123."""
    return f"{value:,.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3}f}"


def share(value: float | None) -> str:
    """Three digits of a part of one: .903, and 1.000."""
    return "-" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def short(size: int) -> str:
    """10,000 as 1e4, 3,000,000 as 3e6."""
    digits = str(size)
    zeros = len(digits) - len(digits.rstrip("0"))
    return f"{digits[:-zeros]}e{zeros}" if zeros > 2 else digits


def cell(text: object) -> str:
    """Text of a table's cell: a line, and no bar that ends it."""
    return " ".join(str(text).split()).replace("|", "\\|")


def markdown(heads: list[str], rows: list[list[str]], numbers: int = 0) -> str:
    """A table; the last `numbers` columns are numbers."""
    rule = ["---"] * (len(heads) - numbers) + ["---:"] * numbers
    return "\n".join("| " + " | ".join(cell(each) for each in row) + " |" for row in (heads, rule, *rows))


def table(run: Run) -> str:
    """The figures by size with growth and budget; what is over a budget is marked with **!**."""
    rows = []
    for one in run.measured():
        readings, grown = run.figures[one.key], run.growth(one.key)
        values = [
            f"{'**!** ' if over(one, readings[size]) else ''}{number(readings[size].value)}" if size in readings else ""
            for size in run.sizes
        ]
        mark = "**!** " if one.grows and grown is not None and grown > GROWTH else ""
        rows.append(
            [
                f"{one.what}, {one.unit}",
                *values,
                f"{mark}{grown:.2f}" if grown else "",
                number(one.most) if one.most else "",
            ]
        )
    heads = ["what, unit", *map(short, run.sizes), "growth", "budget"]
    return markdown(heads, rows, len(run.sizes) + 2)


def says(run: Run) -> str:
    """The table with where it was measured, and which budgets do not hold."""
    missed = run.missed()
    verdict = "Every budget holds." if not missed else "Missed (**!**): " + "; ".join(missed) + "."
    told = [f"Commit {run.commit}; {run.machine}.", *run.remarks]
    return "\n\n".join([table(run), verdict, " ".join(told)])


def commit() -> str:
    """The commit that is checked out, with a plus where files differ from it; `unknown` outside a checkout."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False)
    if found.returncode:
        return "unknown"
    changed = subprocess.run([*git, "status", "--porcelain", "--", "capture", "nmem", "nmem_tui", "benchmarks"],
                             capture_output=True, text=True, check=False)  # fmt: skip
    return found.stdout.strip() + ("+" if changed.stdout.strip() else "")


def machine() -> str:
    """Cores, memory, system and Python, in one line: nothing that names the machine or a person."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}"
    )


def put(page: str, name: str, text: str) -> str:
    """The page with a block of this name set anew. Raises ValueError where the page has no such block."""
    pattern = re.compile(
        rf"(<!-- benchmarks {re.escape(name)}: [^>]*-->\n).*?(<!-- /benchmarks {re.escape(name)} -->)", re.DOTALL
    )
    if not pattern.search(page):
        raise ValueError(f"the page has no block `benchmarks {name}`")
    return pattern.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def write_json(path: Path, found: object) -> None:
    """Keep figures as JSON."""
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
