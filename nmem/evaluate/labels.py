"""Evaluates the five classifiers on labelled calls, with and without abstention.

A record is {prompt, previous, tool, arg, error, phase, scope, locus, novelty, friction}. `previous` holds the calls
before, oldest first, as "Tool argument", and "ERROR answer" behind one that failed. "?" is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.labels import DIMENSIONS, WORDS
from capture.labels.calls import TEXT, WINDOW, Call, Seen
from capture.labels.features import features
from capture.labels.model import Model, shipped
from nmem.errors import NmemError
from nmem.labels.corpus import failure, observed
from nmem.text import printable

if TYPE_CHECKING:
    from rich.table import Table

KEYS = ("macro_f1", "accuracy", "coverage", "accuracy_answered", "n")


@dataclass(frozen=True, slots=True)
class Example:
    """One call with the words that people gave it, and by what it can be grouped."""

    seen: Seen
    gold: tuple[str, ...]
    groups: dict[str, str]


Judge = Callable[[Seen], Sequence[tuple[float, bool]]]
"""Score and whether it is an answer, for each dimension."""


def records(files: Iterable[Path]) -> Iterator[Example]:
    """The calls of JSONL files. Raises NmemError at the first line that is none."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _example(line, f"{file}:{number}")


def _example(line: str, where: str) -> Example:
    try:
        record = json.loads(line)
        call = observed(str(record["tool"]), str(record.get("arg") or ""), str(record.get("error") or ""))
        seen = Seen(call, before(record.get("previous") or ()), str(record.get("prompt") or "")[:TEXT])
        gold = tuple(str(record.get(name) or "?") for name in DIMENSIONS)
        groups = {"tool": str(record["tool"]), "repo": str(record.get("repo") or "")}
        return Example(seen, gold, groups)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NmemError(f"{where}: no labelled call {{prompt, previous, tool, arg, error}}: {error!r}") from None


def before(previous: Iterable[object]) -> tuple[Call, ...]:
    """The calls before, newest first."""
    found: list[Call] = []
    waiting: tuple[str, str] | None = None
    for entry in map(str, previous):
        if entry.startswith("ERROR"):
            said = entry.removeprefix("ERROR").strip() or "failed"
            found.append(observed(*waiting, said) if waiting else failure(said))
            waiting = None
            continue
        if waiting:
            found.append(observed(*waiting))
        tool, _, argument = entry.partition(" ")
        waiting = (tool, argument)
    if waiting:
        found.append(observed(*waiting))
    return tuple(reversed(found[-WINDOW:]))


def by_model(model: Model) -> Judge:
    """What a table says."""

    def judge(seen: Seen) -> Sequence[tuple[float, bool]]:
        found = model.scores(features(seen))
        return [(score, abs(score) >= least) for score, least in zip(found, model.thresholds, strict=True)]

    return judge


def by_rules(seen: Seen) -> Sequence[tuple[float, bool]]:
    """What the published rules say; they always answer."""
    return [(1.0 if verdict else -1.0, True) for verdict in verdicts(seen)]


def figures(pairs: Sequence[tuple[str, float, bool]], words: tuple[str, str]) -> dict[str, Any]:
    """Of (gold word, score, answered): macro_f1, accuracy, coverage, accuracy_answered, n; 0 where nothing is left."""
    kept = [(gold == words[1], score > 0, answered) for gold, score, answered in pairs if gold in words]
    n = len(kept)
    answers = [gold == found for gold, found, answered in kept if answered]
    return {
        "macro_f1": round((_f1(kept, side=True) + _f1(kept, side=False)) / 2, 4),
        "accuracy": round(sum(gold == found for gold, found, _ in kept) / n, 4) if n else 0.0,
        "coverage": round(len(answers) / n, 4) if n else 0.0,
        "accuracy_answered": round(sum(answers) / len(answers), 4) if answers else 0.0, "n": n,
    }  # fmt: skip


def _f1(kept: Sequence[tuple[bool, bool, bool]], *, side: bool) -> float:
    hits = sum(gold == found == side for gold, found, _ in kept)
    total = sum(gold == side for gold, _, _ in kept) + sum(found == side for _, found, _ in kept)
    return 2 * hits / total if total else 1.0


def measured(examples: Sequence[Example], judge: Judge) -> dict[str, Any]:
    """The figures of every dimension."""
    judged = [judge(each.seen) for each in examples]
    return {
        name: figures([(each.gold[at], *said[at]) for each, said in zip(examples, judged, strict=True)], WORDS[at])
        for at, name in enumerate(DIMENSIONS)
    }


def evaluate(found: Iterable[Example], model: Model | None = None) -> dict[str, Any]:
    """The figures of a table (the shipped one), those of the rules as `baseline`, and `by` tool and repository."""
    examples = list(found)
    if not examples:
        raise NmemError("there are no calls in the files")
    model = model or shipped()
    if model is None:
        raise NmemError("the table of weights is missing or damaged: install nmem again")
    judge = by_model(model)
    return {
        **measured(examples, judge),
        "baseline": {"name": "rules", **measured(examples, by_rules)},
        "by": {part: _parts(examples, part, judge) for part in ("tool", "repo")},
    }


def _parts(examples: Sequence[Example], part: str, judge: Judge) -> dict[str, Any]:
    names = sorted({each.groups[part] for each in examples} - {""})
    return {name: measured([each for each in examples if each.groups[part] == name], judge) for name in names}


HEADS = ("macro-F1", "accuracy", "answers", "right of these", "calls")
"""What KEYS are called: macro-F1 is the mean of both words' F1; `answers`: how often the model says a word."""


def table(found: dict[str, Any], by: str = "") -> Table:
    """The figures for a terminal: each dimension by the model and by the rules; or accuracy `by` tool or repo."""
    from rich.table import Table  # on use: start-up stays short

    if by:
        return _by(found["by"][by], by)
    shown = Table("", *HEADS, title="labels: the model, and the published rules beside it", title_justify="left")
    for part, named in ((found, "model"), (found["baseline"], found["baseline"]["name"])):
        for name in DIMENSIONS:
            shown.add_row(f"{name}, {named}", *_row(part[name]))
        shown.add_section()
    return shown


def _by(rows: dict[str, Any], by: str) -> Table:
    """A column a dimension, the groups with most calls first."""
    from rich.table import Table  # on use: start-up stays short

    shown = Table(by, *DIMENSIONS, "calls", title=f"labels: accuracy by {by}", title_justify="left")
    size = {group: max(each[name]["n"] for name in DIMENSIONS) for group, each in rows.items()}
    for group in sorted(rows, key=lambda group: (-size[group], group)):
        told = [f"{rows[group][name]['accuracy']:.2f}" if rows[group][name]["n"] else "" for name in DIMENSIONS]
        shown.add_row(printable(group), *told, str(size[group]))
    return shown


def _row(row: dict[str, Any]) -> list[str]:
    return [str(row[key]) if key == "n" else f"{row[key]:.3f}" for key in KEYS]


_THINKING = ("file_read", "search", "web_fetch", "web_search", "question", "plan", "skill")
_LOOKING = ("ls", "cat", "head", "tail", "grep", "rg", "find", "wc", "sed", "jq", "ps", "which", "git status",
            "git diff", "git log", "git show", "git blame", "gh view", "gh list", "gh diff", "gh checks")  # fmt: skip
_OUTSIDE = ("git push", "git pull", "git fetch", "git clone", "gh", "glab", "curl", "wget", "ssh", "scp", "docker pull",
            "docker push", "aws", "gcloud", "az", "kubectl")  # fmt: skip
_KINDS_OUTSIDE = ("web_fetch", "web_search", "install", "git_push", "github")
_LOCAL_SERVERS = ("mcp__playwright", "mcp__ide", "mcp__acp", "mcp__serena", "mcp__filesystem", "mcp__memory")


def verdicts(seen: Seen) -> tuple[bool, bool, bool, bool, bool]:
    """Act, converge, external, novel, friction by published rules: the baseline of the models, which do not read it."""
    call, last = seen.call, seen.previous[0] if seen.previous else None
    exploring = call.kind == "task_spawn" and call.text.startswith(("Explore", "Find", "Research", "Investigate"))
    looking = bool(call.heads) and all(head in _LOOKING for head in call.heads)
    act = not (call.kind in _THINKING or looking or exploring)
    changed = any(one.changes for one in seen.previous)
    broad = not changed and (call.tool == "Glob" or call.heads[:1] in (("ls",), ("find",)))
    researching = exploring or call.kind in ("web_fetch", "web_search")
    serving = call.kind == "mcp_call" and not call.tool.startswith(_LOCAL_SERVERS)
    reaching = any(head in _OUTSIDE or head.partition(" ")[0] in _OUTSIDE for head in call.heads)
    external = call.kind in _KINDS_OUTSIDE or serving or (reaching and "localhost" not in call.text)
    friction = call.failed or (last is not None and last.failed)
    return act, not (researching or broad), external, researching, friction
