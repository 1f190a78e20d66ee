"""Prompts in capitals: in which sessions the person had to raise their voice, and about what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nmem.learn.find import Finding
from nmem.learn.kinds import Kind, Words
from nmem.learn.learning import Learning
from nmem.learn.patterns import Met, Pattern, Project
from nmem.learn.rows import Row, Said

SHOUT = "shout"


def find(_rows: Sequence[Row], said: Sequence[Said]) -> list[Finding]:
    """A finding for each prompt in capitals, under its words."""
    loud = [one for one in said if one.text.isupper()]
    return [
        Finding(SHOUT, one.text.lower(), one.text, count=1, failures=[{"at": one.at, "p": one.prompt_id}])
        for one in loud
    ]


def conclude(project: Project, _found: Sequence[Pattern]) -> list[Pattern]:
    """The same was shouted in as many sessions as make a pattern."""
    groups: dict[str, list[Met]] = defaultdict(list)
    for session, one in project.findings:
        if one.kind == SHOUT:
            groups[one.title] += [
                Met(session, int(str(each["at"])), None, int(str(each["p"])), one.title) for each in one.failures
            ]
    return [
        Pattern("shouting", title.lower(), title, met, len(met))
        for title, met in groups.items()
        if len(met) >= project.enough
    ]


def rule(learning: Learning) -> str:
    """What the instructions say of it."""
    return f"Take this to heart: {learning.title.lower()}"


WORDS = Words("shouted", "shout", "bad", "shouted before", "You shouted it {often}.")
KINDS = (Kind("shouting", WORDS, find, conclude, rule),)
