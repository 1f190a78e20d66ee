"""Describes a skill for display: name, occasion, steps, and how often agents that were told followed it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.learn import findings_store, read, rules, store
from nmem.learn.kinds import skills
from nmem.learn.learning import ACCEPTED, OPEN, SKILL, Learning
from nmem.text import json_object

HELD = (OPEN, ACCEPTED)
"""States in which a skill is shown."""
_NAME = 48


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill in short."""

    id: int
    name: str
    when: str
    steps: tuple[str, ...]
    sessions: int
    """In how many the work went this way."""


@dataclass(frozen=True, slots=True)
class Use:
    """How often a skill was told and followed then; since its promotion, sessions with such work and those that
    followed it. Zeros where it is not promoted."""

    told: int
    followed_when_told: int
    sessions_since: int
    followed_since: int


def name_of(one: Learning) -> str:
    """What the skill is called as a folder: letters, digits and hyphens of what it runs, `go-golangci-lint-commit`."""
    kinds = [each.removeprefix("*.") for each in one.files[:1]]
    words = [re.sub(r"[^a-z0-9]+", "-", skills.form(each).lower()).strip("-") for each in steps(one)]
    said = "-".join(dict.fromkeys(part for part in (*kinds, *words) if part))
    return said[:_NAME].strip("-") or f"skill-{one.id}"


def steps(one: Learning) -> tuple[str, ...]:
    """Its commands, in their order."""
    return one.remedy.commands if one.remedy else ()


def situation(one: Learning) -> str:
    """When it is due, as one would type it after /how."""
    return skills.situation(steps(one), one.files)


def short(one: Learning) -> Skill:
    """A skill in short."""
    return Skill(one.id, name_of(one), (one.rule or rules.rule(one)).partition(", run ")[0], steps(one), one.sessions)


def of_thread(db: Connection, thread_id: int, now: int) -> tuple[Skill, ...]:
    """The skills that a thread's sessions showed, those of most sessions first."""
    if not store.present(db):
        return ()
    found = [one for one in read.of(db, store.of_thread(db, thread_id, SKILL), now).values() if one.state in HELD]
    return tuple(short(one) for one in sorted(found, key=lambda one: (-one.sessions, one.id)))


def of(db: Connection, one: Learning) -> Use:
    """The use of a skill, as settling has judged it and sessions were read."""
    told, used = store.told(db, f"learning/{one.id}")
    since, followed = _since(db, one) if one.state == ACCEPTED and one.state_at else (0, 0)
    return Use(told, used, since, followed)


def _since(db: Connection, one: Learning) -> tuple[int, int]:
    """Sessions that began such work after the promotion, and those of them that followed the steps."""
    due_steps = [skills.form(each) for each in steps(one)]
    endings = {each.removeprefix("*") for each in one.files}
    due, done = set(), set()
    for session_id, data in findings_store.since(db, one.project_id, skills.STEPS, one.state_at or 0):
        for each in json_object(data).get("failures", ()):
            if not endings or endings.intersection(each["e"]):
                due.add(session_id)
                if skills.followed(due_steps, [step for step, _ in each["d"]]):
                    done.add(session_id)
    return len(due), len(done)
