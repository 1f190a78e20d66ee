"""Evaluates boundary detection on labelled sessions and dialogues: precision, recall, F1, Pk, WindowDiff.

A record is {session_id, prompts: [{text, gap_minutes, agent}], labels, resumes, lang, author, repo} or, for generic
dialogues, {utterances: [{role, text}], boundaries}. A boundary is a `new`; the first prompt is not counted.

Of a dialogue each utterance is a prompt, the one after it stands for the closing text of its turn, and a few features
look at both sides of the gap. The weights are its own (dialogue.json): those of coding sessions would hardly ever cut
here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from capture import paths
from nmem.episodes import features as ft
from nmem.episodes import text as tx
from nmem.episodes.boundary import Detector, Model, load
from nmem.episodes.detect import decide
from nmem.episodes.judging import Segmenter
from nmem.errors import NmemError
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
            return segment(session.utterances, detector.common)
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
    from rich.table import Table  # on use: start-up stays short

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


class Figures(TypedDict):
    """The figures of one method; pk and window_diff are None where every session is too short for a window."""

    precision: float
    recall: float
    f1: float
    pk: float | None
    window_diff: float | None
    cut_rate: float
    true_rate: float
    sessions: int
    prompts: int


def prf(hits: int, alarms: int, missed: int) -> tuple[float, float, float]:
    """Precision, recall and F1 from counts; 0 where undefined."""
    precision = hits / (hits + alarms) if hits + alarms else 0.0
    recall = hits / (hits + missed) if hits + missed else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def default_window(gold: Sequence[bool]) -> int:
    """Half the mean length of a gold segment (Beeferman), at least 2, at most the text."""
    count = len(gold) + 1
    return max(2, min(count - 1, round(count / (1 + sum(gold)) / 2)))


def pk(gold: Sequence[bool], cuts: Sequence[bool], window: int | None = None) -> float | None:
    """Beeferman's Pk. gold[i] is the boundary between unit i and i + 1. None when the text is too short."""
    return _windows(gold, cuts, window, exact=False)


def window_diff(gold: Sequence[bool], cuts: Sequence[bool], window: int | None = None) -> float | None:
    """Pevzner and Hearst's WindowDiff on the same windows as Pk."""
    return _windows(gold, cuts, window, exact=True)


def _windows(gold: Sequence[bool], cuts: Sequence[bool], window: int | None, *, exact: bool) -> float | None:
    window = window or default_window(gold)
    count = len(gold) + 1 - window
    if count <= 0:
        return None
    bad = 0
    for start in range(count):
        true, said = sum(gold[start : start + window]), sum(cuts[start : start + window])
        bad += (true != said) if exact else ((true > 0) != (said > 0))
    return bad / count


def _mean(values: Sequence[float | None]) -> float | None:
    some = [value for value in values if value is not None]
    return round(sum(some) / len(some), 4) if some else None


def figures(golds: Sequence[Sequence[bool]], cuts: Sequence[Sequence[bool]]) -> Figures:
    """Over sessions: precision, recall and F1 of all prompts together, Pk and WindowDiff as means of the sessions."""
    pairs = [pair for gold, cut in zip(golds, cuts, strict=True) for pair in zip(gold, cut, strict=True)]
    hits = sum(gold and cut for gold, cut in pairs)
    alarms = sum(cut and not gold for gold, cut in pairs)
    missed = sum(gold and not cut for gold, cut in pairs)
    precision, recall, f1 = prf(hits, alarms, missed)
    count = len(pairs) or 1
    return Figures(
        precision=round(precision, 4), recall=round(recall, 4), f1=round(f1, 4),
        pk=_mean([pk(gold, cut) for gold, cut in zip(golds, cuts, strict=True)]),
        window_diff=_mean([window_diff(gold, cut) for gold, cut in zip(golds, cuts, strict=True)]),
        cut_rate=round((hits + alarms) / count, 4), true_rate=round((hits + missed) / count, 4),
        sessions=len(golds), prompts=len(pairs),
    )  # fmt: skip


WEIGHTS = Path(__file__).with_name("dialogue.json")
_SIDE = 3
"""Utterances on each side of a gap."""
Utterance = Mapping[str, Any]


def _counts(texts: Sequence[str]) -> dict[str, int]:
    out: dict[str, int] = {}
    for text in texts:
        for token in tx.tokens(text):
            out[token] = out.get(token, 0) + 1
    return out


def _cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    dot = sum(count * other.get(token, 0) for token, count in one.items())
    norm = (sum(v * v for v in one.values()) * sum(v * v for v in other.values())) ** 0.5
    return float(dot / norm) if norm else 0.0


def _near(one: str, other: str) -> float:
    """Shared tokens over the smaller set."""
    left, right = set(tx.tokens(one)), set(tx.tokens(other))
    return len(left & right) / (min(len(left), len(right)) + 1.0)


def _asks(text: str) -> float:
    return float("?" in text or "？" in text)


def _around(texts: Sequence[str], roles: Sequence[str], at: int) -> ft.Features:
    """What the gap before an utterance looks like from both sides."""
    after = texts[at + 1] if at + 1 < len(texts) else ""
    return {
        "d_user": float(roles[at] == "user"), "d_prev_asks": _asks(texts[at - 1]), "d_asks": _asks(texts[at]),
        "d_near_last": _near(texts[at], texts[at - 1]),
        "d_near_before": _near(texts[at], texts[at - 2]) if at > 1 else 0.0, "d_next_near": _near(after, texts[at - 1]),
        "d_sides": _cosine(_counts(texts[max(0, at - _SIDE) : at]), _counts(texts[at : at + _SIDE])),
    }  # fmt: skip


def rows(utterances: Sequence[Utterance], common: frozenset[str]) -> list[ft.Features]:
    """Features of every utterance but the first."""
    texts = [str(each["text"]) for each in utterances]
    roles = [str(each.get("role")) for each in utterances]
    past, out = ft.Past(common), []
    for at, text in enumerate(texts):
        if at:
            known = ft.turn({"said": texts[at + 1] if at + 1 < len(texts) else ""}, past)["t_said_known"]
            form = {**ft.form(text), **ft.context(text, None, past)}
            out.append({**form, "t_said_known": known, **_around(texts, roles, at)})
        past.add(text, {"said": text})
    return out


@cache
def shipped() -> Model:
    """The weights of the package."""
    spec = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    weights = {name: [weight, 0.0] for name, weight in spec["weights"].items()}
    return Model(spec["bias"], spec["threshold"], spec["threshold"], weights)


def segment(utterances: Sequence[Utterance], common: frozenset[str]) -> list[bool]:
    """Cuts before each utterance but the first."""
    model = shipped()
    return [model.score(found) >= model.threshold for found in rows(utterances, common)]
