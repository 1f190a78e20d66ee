"""Adds a person's divisions and titles as examples to the prompt of a language model, if its answers improve.

As with the weights of the built-in detector: each session is judged without its own corrections among the examples, and
examples are kept only where the answers then agree better with the person than the answers to the bare question.
Boundaries and titles are adopted apart.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from sqlite3 import Connection
from statistics import fmean

from capture.storage.store import transaction
from nmem.episodes import material, units
from nmem.errors import NmemError
from nmem.evaluate.titles import share
from nmem.llm import Cancel, Failure
from nmem.llm.ask import Asked, Desk
from nmem.llm.session_prompt import CUT, Judged, judge
from nmem.training import examples, personal, store
from nmem.training.answers import STANDING, Answer
from nmem.training.personal import Figures

SESSIONS = 8
"""The newest sessions with decisions that are asked about, each twice."""
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Report:
    """What it came to. `enough` false: too few decisions, and nobody was asked."""

    enough: bool
    reason: str
    sessions: int = 0
    decisions: int = 0
    before: Figures | None = None
    after: Figures | None = None
    titles: int = 0
    """Episodes with a name of the person's own that the model told both times."""
    title_before: float = 0.0
    """The mean share of the words of the person's title that the model's has."""
    title_after: float = 0.0
    adopted: tuple[str, ...] = ()
    """Kinds of examples: boundaries, titles."""
    lines: tuple[str, ...] = ()
    """What the question shows from now on."""
    questions: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Session:
    """A session with what the person decided in it, by turn."""

    session_id: str
    shown: material.Shown
    truth: dict[int, Answer]
    opens: list[int]
    titles: dict[int, str]


def tune(db: Connection, desk: Desk, now: int, cancel: Cancel | None = None, *, dry: bool = False) -> Report:
    """Ask about sessions with and without examples, and adopt what helps. `dry`: adopt nothing.

    Raises NmemError when the model does not answer, and sqlite3.Error; nothing is adopted then.
    """
    pool = examples.pool(db)
    named = {one.number: one.title for one in pool if one.kind == examples.TITLE}
    found = [_session(db, session_id, named) for session_id in store.corrected(db, SESSIONS)]
    decided = [each for one in found for each in one.truth.values() if each.own]
    if lacking := personal.lacking(decided, len(found)):
        return Report(False, lacking, len(found), len(decided))
    pairs: tuple[list[tuple[Answer, bool]], list[tuple[Answer, bool]]] = ([], [])
    shares: tuple[list[float], list[float]] = ([], [])
    spent = 0
    for fold in range(min(FOLDS, len(found))):
        held = found[fold::FOLDS]
        taught = examples.lines(examples.chosen(pool, {one.session_id for one in held}))
        for one in held:
            both = [_ask(desk, one, cancel or Cancel(), shown) for shown in ((), taught)]
            spent += sum(asked.spent for asked in both)
            _compare(one, [asked.value for asked in both], pairs, shares)
    before, after = personal.figures(pairs[0]), personal.figures(pairs[1])
    titled = [fmean(one) if one else 0.0 for one in shares]
    kinds = tuple(name for name, gains in (("boundaries", personal.better(before, after)),
                                           ("titles", titled[1] > titled[0])) if gains)  # fmt: skip
    kept = [one for one in examples.chosen(pool)
            if ("titles" if one.kind == examples.TITLE else "boundaries") in kinds]  # fmt: skip
    report = Report(
        True, "", len(found), len(decided), before, after, len(shares[0]), round(titled[0], 4), round(titled[1], 4),
        kinds, examples.lines(kept), 2 * len(found), spent,
    )  # fmt: skip
    if not dry:
        _keep(db, now, kept, report)
    return report


def reset(db: Connection, now: int) -> bool:
    """Show no examples any more; whether some were shown. Raises sqlite3.Error."""
    if not examples.adopted(db):
        return False
    with transaction(db):
        examples.note(db, now, {}, "reset: the question shows no examples", {})
    return True


def _keep(db: Connection, now: int, kept: list[examples.Example], report: Report) -> None:
    after: dict[str, list[int]] = {}
    for one in kept:
        after.setdefault(one.kind, []).append(one.number)
    metrics = {name: value for name, value in asdict(report).items() if name not in ("lines", "reason", "enough")}
    with transaction(db):
        examples.note(db, now, after, said(report), metrics)


def said(report: Report) -> str:
    """What came of it, in one line."""
    if not report.enough or report.before is None or report.after is None:
        return report.reason
    parts = []
    for name, values in (("boundaries", (report.before.f1, report.after.f1)),
                         ("titles", (report.title_before, report.title_after))):  # fmt: skip
        verdict = "adopted" if name in report.adopted else "not shown"
        figure = "F1" if name == "boundaries" else "share of your words"
        parts.append(f"{name}: {verdict}, {figure} {values[0]:.2f} to {values[1]:.2f} on sessions not shown")
    return "; ".join(parts)


def _session(db: Connection, session_id: str, named: dict[int, str]) -> _Session:
    """What a session shows, and what the person decided or left of each turn but the first."""
    shown = material.read(db, session_id)
    held = {prompt.id: prompt for prompt in units.prompts_of_session(db, session_id)}
    truth: dict[int, Answer] = {}
    opens, titles, before = [], {}, None
    for at, ids in enumerate(shown.ids):
        prompt = held.get(ids[0])
        if prompt is None:
            continue
        new = prompt.unit_id != before
        if new:
            opens.append(at)
            if prompt.unit_id in named:
                titles[at] = named[prompt.unit_id]
        if before is not None and not shown.history[at]["cleared"]:
            weight = 1.0 if prompt.verdict.by == units.PERSON else STANDING
            truth[at] = Answer(session_id, {}, new, weight)
        before = prompt.unit_id
    return _Session(session_id, shown, truth, opens, titles)


def _ask(desk: Desk, one: _Session, cancel: Cancel, shown: tuple[str, ...]) -> Asked[Judged]:
    try:
        return judge(desk, one.shown.turns, cancel, one.opens or (0,), shown)
    except Failure as failure:
        raise NmemError(f"nothing adopted: {failure}") from None


def _compare(
    one: _Session, both: list[Judged], pairs: tuple[list[tuple[Answer, bool]], list[tuple[Answer, bool]]],
    shares: tuple[list[float], list[float]],
) -> None:  # fmt: skip
    """Two answers about a session, against the person; only what both of them tell."""
    if any(judged.starts is None for judged in both):
        return
    for judged, into in zip(both, pairs, strict=True):
        cuts = {start.at for start in judged.starts or () if start.sure >= CUT}
        into += [(answer, at in cuts) for at, answer in one.truth.items()]
    for at, title in one.titles.items():
        told = [judged.stories[at].title for judged in both if at in judged.stories]
        if len(told) == len(both):
            for words, given in zip(shares, told, strict=True):
                words.append(share(title, given))
