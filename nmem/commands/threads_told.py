"""Formats one thread for `nmem threads show`: summaries, sessions, links, prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmem.commands.terminal import Section, clock, count, day, now
from nmem.text import fit

if TYPE_CHECKING:
    from nmem.learn.skill_use import Skill
    from nmem.threads.decisions import Decision
    from nmem.threads.read import SessionOf, Thread, ThreadView, Turn

_TEXT = 200
_HOW = {"new": "began it", "timeout": "about it, soon after the last", "resume": "resumed", "chosen": "you chose it",
        "linked": "linked"}  # fmt: skip
_RIGHT = {"correct": "right", "incorrect": "wrong"}
_SAYS = {"person": "you", "files": "the files touched since", "words": "what you said since"}
_SURE = {"high": "sure", "likely": "likely", "uncertain": "not sure"}
_TITLE = 100
Rows = list[tuple[str, str]]


def told(found: ThreadView, turns: Sequence[Turn]) -> tuple[str, list[Section]]:
    """Heading and sections."""
    about = found.thread
    sections: list[Section] = [
        ("", _facts(about)),
        ("Summary", [("", text) for text in (about.micro, about.meso if about.meso != about.micro else "") if text]),
        ("Patterns", [("-", line) for line in about.macro.splitlines() if line.strip()]),
        ("Skills", [_skill(one) for one in found.skills]),
        ("Sessions", [_session(one) for one in found.sessions]),
        ("Belongs with", _links(about.id, found)),
        ("What was asked", [_turn(one) for one in turns]),
    ]
    left = about.turn_count - len(turns)
    if turns and left > 0:
        sections.append(("", [("", f"({left} more: --turns {about.turn_count} shows them)")]))
    return f"thread/{about.id}  {' '.join(about.title.split())[:_TEXT]}", sections


def _facts(about: Thread) -> Rows:
    today = now()
    until = f"{day(about.last_at, today)}, {clock(about.last_at)}"
    length = f"{count(about.turn_count, 'prompt')} in {count(about.session_count, 'session')}"
    rows = [
        ("where", " · ".join(text for text in (about.project, " ".join(about.clients)) if text)),
        ("when", f"{day(about.created_at, today)}, {clock(about.created_at)} to {until}: {length}"),
        ("state", f"{about.state}; a session about it within {about.timeout_minutes:g} min goes on with it"),
        ("chosen", "by you" if about.explicit else ""),
        ("pinned", "yes" if about.pinned else ""),
    ]
    return [row for row in rows if row[1]]


def _skill(one: Skill) -> tuple[str, str]:
    return f"learning/{one.id}", f"{one.when}: {' > '.join(one.steps)}  ({count(one.sessions, 'session')})"


def _session(one: SessionOf) -> tuple[str, str]:
    where = " · ".join(text for text in (one.client, one.branch, count(one.turns, "prompt"), _HOW.get(one.how, one.how))
                       if text)  # fmt: skip
    return f"{day(one.started_at, now())}, {clock(one.started_at)}", f"session/{one.id}  {where}"


def _links(thread: int, found: ThreadView) -> Rows:
    """What it is one line of work with, and what somebody should say; what it is not is only counted."""
    told = [one for one in found.decisions if one.linked or one.outcome_by == "person" or _asks(one)]
    rows = [_link(thread, one, found.titles) for one in told]
    if found.cross and found.cross.summary:
        rows.insert(0, ("all of it", found.cross.summary))
    if others := len(found.decisions) - len(told):
        rows.append(("", f"({count(others, 'other thread')} compared, and not the same work: --json has the scores)"))
    return rows


def _asks(one: Decision) -> bool:
    """Whether a person should say what it is."""
    return one.certainty == "uncertain" and not one.outcome


def _link(thread: int, one: Decision, titles: dict[int, str]) -> tuple[str, str]:
    other = one.later_thread_id if one.earlier_thread_id == thread else one.earlier_thread_id
    title = " ".join(titles.get(other, "").split())[:_TEXT]
    said = "the same work" if one.linked else "not the same work"
    if one.outcome:
        by = f"{_RIGHT.get(one.outcome, one.outcome)}, say {_SAYS.get(one.outcome_by or '', one.outcome_by)}"
    else:
        by = f"{_SURE.get(one.certainty, one.certainty)}: `nmem threads confirm {one.id} y|n`"
    title = fit(" ".join(titles.get(other, "").split()), _TITLE)
    return f"thread/{other}", f"{title} · {said}, score {one.algorithmic_score:.2f} ({by})".removeprefix(" · ")


def _turn(one: Turn) -> tuple[str, str]:
    text = " ".join(one.text.split())
    failed = f", {one.failures} failed" if one.failures else ""
    did = f"  ({count(one.actions, 'action')}{failed})" if one.actions else ""
    at = f"{day(one.at, now())}, {clock(one.at)}"
    return at, f"prompt/{one.prompt_id}  {text[:_TEXT]}{'…' if len(text) > _TEXT else ''}{did}"
