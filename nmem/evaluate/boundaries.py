"""Evaluates boundary detection on labelled sessions.

A record is {session_id, prompts: [{text, gap_minutes, agent}], labels, resumes, lang, author, repo} or, for generic
dialogues, {utterances: [{role, text}], boundaries}. A boundary is a `new`; the first prompt is not counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture import paths
from nmem.episodes.boundary import Detector, load
from nmem.episodes.detect import decide
from nmem.episodes.segmenter import Segmenter
from nmem.errors import NmemError
from nmem.evaluate import dialogue
from nmem.evaluate.segmentation import figures
from nmem.llm.connect import connect
from nmem.text import printable

if TYPE_CHECKING:
    from rich.table import Table

    from nmem.episodes.detect import Judge


_AGENT = {"tools": dict, "files": list, "events": list, "said": str}
KEYS = ("precision", "recall", "f1", "pk", "window_diff", "cut_rate", "true_rate", "sessions", "prompts")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled session or dialogue; `gold` has an entry for each prompt but the first."""

    name: str
    gold: list[bool]
    prompts: list[dict[str, Any]] = field(default_factory=list)
    utterances: list[dict[str, Any]] = field(default_factory=list)
    lang: str = ""
    person: str = ""

    def texts(self) -> list[dict[str, Any]]:
        """What was said, as prompts."""
        return self.prompts or [{"text": str(each["text"])} for each in self.utterances]


def records(files: Iterable[Path]) -> Iterator[Labelled]:
    """The sessions of JSONL files. Raises NmemError at the first line that is none."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _record(line, f"{file}:{number}", file.stem)


def _record(line: str, where: str, source: str) -> Labelled:
    try:
        record = json.loads(line)
        if "utterances" in record:
            said, cuts = [dict(each) for each in record["utterances"]], {int(at) for at in record["boundaries"]}
            gold = [at in cuts for at in range(1, len(said))]
            return Labelled(where, gold, utterances=said, lang=str(record.get("lang") or source), person=source)
        prompts, labels = [_prompt(each) for each in record["prompts"]], list(record["labels"])
        author = record.get("author")
        golds = [label == "new" for label, _ in zip(labels, prompts, strict=True)]
        return Labelled(
            str(record.get("session_id") or where), golds[1:], prompts,
            lang=str(record.get("lang") or "?"),
            person=str(record.get("repo") or "?") if author in (None, "", "-") else str(author),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NmemError(
            f"{where}: no session {{prompts, labels}} and no dialogue {{utterances, boundaries}}: {error}"
        ) from None


def _prompt(given: dict[str, Any]) -> dict[str, Any]:
    """A prompt; one without its turn's tools, files, events and closing words is judged by its text alone."""
    agent = given.get("agent") or {}
    if isinstance(agent, str):
        agent = {"said": agent}
    if not isinstance(agent, dict) or any(
        not isinstance(agent.get(name) or kind(), kind) for name, kind in _AGENT.items()
    ):
        raise TypeError(f"agent is neither a text nor {{tools, files, events, said}}: {agent!r:.60}")
    return {"text": str(given["text"]), "gap_minutes": given.get("gap_minutes"), "agent": agent}


def evaluate(
    found: Iterable[Labelled], method: str = "default", *, online: bool = False, judge: Judge | None = None,
    detector: Detector | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The figures of a method, beside the baseline and, in `by`, other methods, languages and persons.

    Raises NmemError without sessions, or for `llm` without a judge.
    """
    sessions = list(found)
    if not sessions:
        raise NmemError("there are no sessions in the files")
    if method == "llm" and judge is None:
        raise NmemError(
            "no language model is configured or found: set `[llm]` in config.toml or start a server on loopback"
        )
    detector = detector or load()

    def cuts(session: Labelled) -> list[bool]:
        if session.utterances and method == "default":
            return dialogue.segment(session.utterances, detector.common)
        decisions, _ = decide(session.texts(), detector, method, judge, online)
        return [decision.cut for decision in decisions[1:]]

    said = [cuts(session) for session in sessions]
    golds = [session.gold for session in sessions]
    jaccard = [[each.cut for each in decide(one.texts(), detector, "jaccard")[0][1:]] for one in sessions]
    never = figures(golds, [[False] * len(gold) for gold in golds])
    always = figures(golds, [[True] * len(gold) for gold in golds])
    baseline = {"name": "never cut", **never} if method == "jaccard" else {"name": "jaccard", **figures(golds, jaccard)}
    by = {
        "method": {"never": never, "always": always, "jaccard": figures(golds, jaccard)},
        "lang": _split(sessions, said, lambda session: session.lang),
        "person": _split(sessions, said, lambda session: session.person),
    }
    return {**figures(golds, said), "baseline": baseline, "by": by}


def _split(sessions: Sequence[Labelled], said: Sequence[list[bool]], part: Callable[[Labelled], str]) -> dict[str, Any]:
    groups: dict[str, list[int]] = {}
    for number, session in enumerate(sessions):
        groups.setdefault(part(session), []).append(number)
    return {
        name: figures([sessions[number].gold for number in numbers], [said[number] for number in numbers])
        for name, numbers in sorted(groups.items())
    }


def table(found: dict[str, Any], name: str) -> Table:
    """The figures for a terminal."""
    from rich.table import Table

    out = Table(
        "", "precision", "recall", "F1", "Pk", "WindowDiff", "cut rate", "true rate", "sessions", "prompts",
        title="boundaries", title_justify="left",
    )  # fmt: skip
    rows = {name: found, **found["by"]["method"]}
    rows.update({f"language {lang}": row for lang, row in found["by"]["lang"].items()})
    rows.update({f"person {person}": row for person, row in found["by"]["person"].items()})
    for title, row in rows.items():
        out.add_row(printable(title), *(_cell(row[key]) for key in KEYS))
    return out


def _cell(value: float | None) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"


def model_judge() -> Judge | None:
    """The configured model as judge, None without one; its questions count in the ledger. Raises NmemError."""
    found = connect(paths.database(), look=True)
    if found.problem:
        raise NmemError(found.problem)
    return Segmenter(found.desk) if found.desk else None
