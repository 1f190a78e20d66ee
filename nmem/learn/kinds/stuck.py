"""Finds stuck loops: the same failure repeated within sessions, or requests repeated over the same failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nmem.learn.find import STRETCH, Finding
from nmem.learn.kinds import Kind
from nmem.learn.kinds.failing import as_met
from nmem.learn.learning import (
    FAILED_COMMAND,
    OPEN,
    RECURRING_ERROR,
    REPEATED_INTENT,
    STUCK_LOOP,
    UNRESOLVED_READ,
    WEAK,
)
from nmem.learn.patterns import STRONG, Pattern, Project
from nmem.retrieval import naming

ALONE = 6
"""Failures in one session that are a loop by themselves ..."""
LONG = 30 * 60_000
"""... when they last this many milliseconds."""
SPOKEN = 2
"""Words of what fails that a request has where it is about that: to be told to push is not to speak of an upstream."""


def patterns(project: Project, found: Sequence[Pattern]) -> list[Pattern]:
    """The stuck loops of a project, beside what is known to fail and to be asked again."""
    failing = [one for one in found if one.kind in (FAILED_COMMAND, RECURRING_ERROR) and not one.weak]
    intents = [one for one in found if one.kind in (REPEATED_INTENT, UNRESOLVED_READ) and not one.weak]
    groups: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for session, one in project.findings:
        if one.kind == STRETCH:
            groups[one.key].append((session, one))
    out = [_stretches(key, told) for key, told in groups.items()]
    return out + _asked(failing, intents)


def _alone(one: Finding) -> bool:
    times = [at for each in one.failures if isinstance(at := each["at"], int)]
    return one.count >= ALONE and max(times) - min(times) >= LONG


def _stretches(key: str, told: Sequence[tuple[str, Finding]]) -> Pattern:
    met = [as_met(session, each) for session, one in told for each in one.failures]
    met.sort(key=lambda one: (one.at, one.observation_id or 0))
    most = max(one.count for _, one in told)
    command = str(told[0][1].failures[0]["c"])
    title = (
        f"`{key}` fails up to {most} times in a row with the same error"
        if command
        else f"edits of {key} fail again and again"
    )
    made = Pattern(STUCK_LOOP, key, title, met, sum(one.count for _, one in told))
    made.command = command
    made.state = OPEN if len(told) >= STRONG or _alone(told[0][1]) else WEAK
    made.files = list(dict.fromkeys(str(each["f"]) for _, one in told for each in one.failures if each["f"]))[:8]
    return made


def _asked(failing: Sequence[Pattern], intents: Sequence[Pattern]) -> list[Pattern]:
    """What is asked again and fails again, where the request speaks of what fails."""
    out = []
    for intent in intents:
        for one in failing:
            shared = [session for session in intent.sessions if session in set(one.sessions)]
            about = set(naming.tokens(intent.title)) & set(naming.tokens(f"{one.title} {one.key}"))
            if len(shared) >= STRONG and len(about) >= SPOKEN and not one.key.startswith("client: "):
                met = [each for each in (*intent.met, *one.met) if each.session_id in shared]
                met.sort(key=lambda each: (each.at, each.observation_id or 0))
                made = Pattern(
                    STUCK_LOOP,
                    f"{intent.key[:150]} | {one.key}"[:320],
                    f"{intent.title[:70]}: {one.title}",
                    met,
                    len(met),
                )
                made.files, made.remedy, made.fixes, made.command = one.files, one.remedy, one.fixes, one.command
                out.append(made)
    return out


KINDS = (Kind(STUCK_LOOP, conclude=patterns),)
