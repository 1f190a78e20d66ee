"""Derives advice on the current session from its calls: facts with figures, never orders. Pure.

Each rule looks at the scene and says one thing or nothing; of what is said, the three weightiest remain. The seed's
rules are among them; the others look at failures, friction, novelty and what the person's earlier sessions show.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from nmem.stance.model import Advice, Call, Point
from nmem.stance.scene import WEEK, Background, Earlier, Session
from nmem.stance.stuck import command, hours, stuck
from nmem.stance.trajectory import LONG, SHORT
from nmem.stance.words import names, ordinal, percent, plural, sentence, short, signed, span, times

MOST = 3
LONG_THINK = 25
"""Thinking calls in a row after which it is worth a word."""
ROUGH = 7
"""Calls of the last twenty that failed or dealt with a failure; about three are usual."""
NEW, NEW_ROUGH = 6, 4
"""Calls of the last twenty on new ground, and those that failed or dealt with a failure: two or three are usual."""
AFTER_RED = 3
WIDE = 30
FRESH = 5
_DEEP, _FOCUSED = -0.5, 0.5
_GIVEN_UP = ("abandoned", "reverted")


@dataclass(frozen=True, slots=True)
class Scene:
    """The session so far, and what is known from before."""

    session_id: str
    now: Session
    past: Background

    @property
    def last(self) -> list[Call]:
        """The newest twenty calls, the oldest first."""
        return list(self.now.newest.last)


Rule = Callable[[Scene], Advice | None]


def advise(scene: Scene, most: int = MOST) -> tuple[Advice, ...]:
    """What there is to say, the weightiest first; nothing when there is nothing to say."""
    found = [advice for rule in RULES if (advice := rule(scene)) is not None]
    if any(each.rule not in _CALM for each in found):
        found = [each for each in found if each.rule not in _CALM]
    said = {each.rule for each in found}
    kept = [each for each in found if not _SAID_BY.get(each.rule, frozenset()) & said]
    return tuple(kept[:most])


# failures and friction


def stuck_run(scene: Scene) -> Advice | None:
    """The same thing failed three times or more in a row, and did not succeed since."""
    tries = scene.now.tracker.now()
    if tries is None:
        return None
    one = stuck(tries, scene.session_id)
    what = short(command(tries.text)) if tries.kind == "command" else names([tries.name])
    text = f"{what} failed {times(tries.failures)} in a row, over {span(one.ms)}."
    changed = f"Changed in between: {names(one.files)}." if one.files else "No file was changed twice in between."
    if tries.kind == "file":
        changed = "Each was a call on this file."
    return Advice(text, changed, "stuck_run")


def stuck_again(scene: Scene) -> Advice | None:
    """What is stuck now was stuck before within seven days."""
    tries = scene.now.tracker.now()
    if tries is None:
        return None
    one = stuck(tries, scene.session_id)
    mine = [each for each in scene.now.tracker.all(scene.session_id) if each != one]
    number, total, name = hours([*scene.past.stuck, *mine], one, one.ended_at - WEEK)
    if number < 2:
        return None
    sessions = len({each.session_id for each in (*scene.past.stuck, *mine, one) if name in (each.key, *each.files)})
    thing = short(name) if name == one.key and one.kind == "command" else names([name])
    text = f"{ordinal(number).capitalize()} stuck hour within seven days on {thing}."
    again = {each.key for each in scene.past.stuck}
    reason = f"{span(total)} of failures in {plural(sessions, 'session')}"
    return Advice(text, reason + (", the same command." if one.key in again else "."), "stuck_again")


def left_red(scene: Scene) -> Advice | None:
    """The last test run failed, and the session went on to something else."""
    red = scene.now.newest.red
    if red is None or not (red.ships or (red.prompts and red.calls >= AFTER_RED)):
        return None
    after = [
        plural(red.ships, "commit or push", "commits or pushes") if red.ships else "",
        plural(red.prompts, "new prompt") if red.prompts else "",
        plural(red.calls, "call"),
    ]
    edits = f"{plural(red.edits, 'change')} to files" if red.edits else "no file was changed"
    return Advice(
        sentence(f"The last test run failed and was not run again: {short(command(red.command))}"),
        f"Since then: {', '.join(filter(None, after))}; {edits}.",
        "left_red",
    )


def retries(scene: Scene) -> Advice | None:
    """Many of the last calls failed, or retried, mended or looked into a failure."""
    last = scene.last
    failed, rough = sum(call.failed for call in last), sum(_rough(call) for call in last)
    if rough < ROUGH:
        return None
    return Advice(
        f"{rough} of the last {len(last)} calls failed or dealt with a failure.",
        f"{failed} failed; about one call in seven does usually.",
        "retries",
    )


def new_ground(scene: Scene) -> Advice | None:
    """The session is on new ground, and it does not go smoothly."""
    last = scene.last
    novel, rough = sum(_novel(call) for call in last), sum(_rough(call) for call in last)
    if novel < NEW or rough < NEW_ROUGH:
        return None
    both = sum(_novel(call) and _rough(call) for call in last)
    return Advice(
        f"New ground with friction: {novel} of the last {len(last)} calls are on new ground,"
        f" {rough} failed or dealt with a failure.",
        f"{both} were both; each is usually about one in eight.",
        "new_ground",
    )


# what was done before


def tried_before(scene: Scene) -> Advice | None:
    """The search narrows on files of an episode that was given up."""
    if not (_narrowing(scene) or _just_converged(scene)):
        return None
    found = _overlap(scene)
    if found is None:
        return None
    one, files = found
    return Advice(
        f"The work narrows on files of episode {one.unit_id}, which was {one.end}.",
        sentence(f"It was {_ago(scene, one)} before: {short(one.title)}; in common: {names(files)}"),
        "tried_before",
    )


def bad_history(scene: Scene) -> Advice | None:
    """A file is changed for the first time in this session, and an earlier episode that changed it ended badly."""
    newest, order = scene.now.newest, scene.now.way.observations
    fresh = {path for number, path in newest.fresh if order - number < FRESH}
    for one in scene.past.earlier:
        if files := sorted(fresh & one.files):
            text = f"First change to {names(files)} in this session; episode {one.unit_id} changed it too and"
            end = f"ended {one.end}" if one.end.startswith("with") else f"was {one.end}"
            return Advice(
                f"{text} {end}.", sentence(f"It was {_ago(scene, one)} before: {short(one.title)}"), "bad_history"
            )
    return None


# the stance


def widening(scene: Scene) -> Advice | None:
    """The seed's first rule: the last 5 calls widen the search, the last 20 narrowed it."""
    m5, m20 = _means(scene)
    if m5 is None or m20 is None or not m5 < 0 < m20:
        return None
    steps = scene.past.next_steps
    text = "The search widens again: something new may be beginning."
    text += sentence(f" Left to do by the episode before: {short(steps[0])}") if steps else ""
    return Advice(text, f"Scope of the last {SHORT} calls {signed(m5)}, of the last {LONG} {signed(m20)}.", "widening")


def narrowing(scene: Scene) -> Advice | None:
    """The seed's fourth rule, where it can be reached: the last 5 narrow the search, the last 20 widened it."""
    m5, m20 = _means(scene)
    if not _narrowing(scene) or m5 is None or m20 is None:
        return None
    changed = scene.now.newest.changed
    given_up = any(one.files & changed for one in scene.past.earlier if one.end in _GIVEN_UP)
    looked = "; no episode of the project that was given up changed its files" if changed and not given_up else ""
    return Advice(
        f"The search narrows: an approach is taken{looked}.",
        f"Scope of the last {SHORT} calls {signed(m5)}, of the last {LONG} {signed(m20)}.",
        "narrowing",
    )


def long_think(scene: Scene) -> Advice | None:
    """The seed's second rule, told in calls and time: long thinking without an act."""
    newest, ema = scene.now.newest, scene.now.way.phase.ema
    if newest.thinks < LONG_THINK or ema is None or ema >= _DEEP:
        return None
    ms = newest.last[-1].at - newest.thinks_since
    where = "nothing was changed yet" if not newest.changed else "since the last call that acted"
    return Advice(
        f"{newest.thinks} thinking calls in a row over {span(ms)}, {where}.",
        f"Smoothed phase {signed(ema)}; {LONG_THINK} in a row are rare.",
        "long_think",
    )


def long_wide(scene: Scene) -> Advice | None:
    """The search has not narrowed for long."""
    way = scene.now.way
    if way.scope.above is not False or way.scope.ema is None or not way.points:
        return None
    since = next((each.call.seq for each in reversed(way.crossings) if each.axis == "scope"), way.points[0].seq)
    calls = _since(way.points, since)
    if calls < WIDE:
        return None
    return Advice(
        f"The search has been wide for {calls} calls, {span(way.points[-1].at - way.points[-calls].at)}.",
        f"Smoothed scope {signed(way.scope.ema)}; converging begins at {signed(way.scope.base)}.",
        "long_wide",
    )


def unusual(scene: Scene) -> Advice | None:
    """The figure of the session that is furthest from the person's own sessions of the project."""
    found = [each for each in scene.past.usual if each.unusual]
    if not found:
        return None
    one = max(found, key=lambda each: max(each.value - each.high, each.low - each.value))
    return Advice(
        one.text,
        f"The middle half of your last {one.sessions} sessions here: {percent(one.low)} to {percent(one.high)}.",
        "unusual",
    )


def focused(scene: Scene) -> Advice | None:
    """The seed's third rule: a run that acts and converges, and stays so."""
    way = scene.now.way
    phase, scope = way.phase, way.scope
    if phase.ema is None or scope.ema is None or len(phase.window) < LONG:
        return None
    steady = phase.direction == scope.direction == "stable"
    if not steady or phase.ema <= _FOCUSED or scope.ema <= _FOCUSED:
        return None
    done = sum(call.phase is not None and call.phase >= 0 for call in scene.last)
    return Advice(
        f"A focused run: {done} of the last {len(scene.last)} calls act, and the search is narrow.",
        f"Smoothed phase {signed(phase.ema)}, scope {signed(scope.ema)}, both steady.",
        "focused",
    )


RULES: tuple[Rule, ...] = (
    stuck_again, stuck_run, left_red, new_ground, retries, tried_before, bad_history, long_think, widening, long_wide,
    unusual, narrowing, focused,
)  # fmt: skip
"""The weightiest first."""
_CALM = frozenset(("narrowing", "focused"))
"""Said only where there is nothing else to say."""
_SAID_BY = {"retries": frozenset(("stuck_run", "new_ground")), "narrowing": frozenset(("tried_before",)),
            "long_wide": frozenset(("widening",))}  # fmt: skip
"""Rules that another one has said already."""


def _ago(scene: Scene, one: Earlier) -> str:
    """How long an earlier episode had been over at the newest call."""
    return span(max(0, scene.last[-1].at - one.at))


def _rough(call: Call) -> bool:
    return call.failed or (call.friction is not None and call.friction > 0)


def _novel(call: Call) -> bool:
    return call.novelty is not None and call.novelty > 0


def _means(scene: Scene) -> tuple[float | None, float | None]:
    scope = scene.now.way.scope
    return scope.mean(SHORT), scope.mean(LONG)


def _narrowing(scene: Scene) -> bool:
    m5, m20 = _means(scene)
    return m5 is not None and m20 is not None and m20 < 0 < m5


def _just_converged(scene: Scene) -> bool:
    """Whether the line of scope went over to converge within the last twenty calls."""
    last = scene.last
    newest = next((each for each in reversed(scene.now.way.crossings) if each.axis == "scope"), None)
    return bool(newest and last and newest.above and newest.call.seq >= last[0].seq)


def _overlap(scene: Scene) -> tuple[Earlier, list[str]] | None:
    """The newest episode that was given up of which two changed files, or its only one, were changed or read lately."""
    touched = {call.path for call in scene.last if call.path}
    for one in scene.past.earlier:
        files = sorted(one.files & touched)
        if one.end in _GIVEN_UP and len(files) >= min(2, len(one.files)) > 0:
            return one, files
    return None


def _since(points: list[Point], seq: int) -> int:
    """How many points there are from a number on."""
    return len(points) - bisect_left(points, seq, key=lambda point: point.seq)
