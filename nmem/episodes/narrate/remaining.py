"""Lists an episode's next steps: those the agent named last, failing checks, open to-dos, unanswered questions."""

from __future__ import annotations

import re

from nmem.episodes import open_ends
from nmem.episodes.narrate import checks, cues
from nmem.episodes.narrate.checks import Struggle
from nmem.episodes.narrate.learned import picked
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import alike, clip, sentences, short, size, some, words
from nmem.episodes.narrate.records import Episode

MOST = 5
_LATE = 12
_ITEMS, _TOLD, _LONG = 3, 2, 60
"""Of the last items before a question that does not say what it asks: how many are told, and of how many characters;
none is cut."""
_GO_ON = re.compile(r"\b(?:go ahead|proceed|continue|do (?:it|that|this|so)|sound good|look good)\b", re.IGNORECASE)
"""Actions after a to-do list from which on work has gone on without it."""


def _left_at(episode: Episode) -> str:
    """How far the last request came that got no answer: files changed for it are no answer, and not nothing."""
    since = episode.prompts[-1].at if episode.prompts else 0
    changed = {
        one.file_path: short(one.file_path) for one in episode.actions
        if one.at > since and one.obs_type in ("file_edit", "file_write") and one.outcome == "ok" and one.file_path
    }  # fmt: skip
    if not changed:
        return f"{open_ends.UNANSWERED} and not answered"
    names = list(changed.values())
    return f"{open_ends.UNANSWERED}, {some(names, 2)} changed for it, no answer recorded"


def next_steps(
    episode: Episode, asks: list[Ask], ran: list[Struggle], *, finished: bool, unanswered: bool
) -> list[str]:
    """At most five; none when the work is plainly finished. `finished`: the user accepted it at the end."""
    out: list[str] = []
    rows = [checks.row(one) for one in episode.actions]
    closings = episode.closings()
    last = closings[-1] if closings else None
    reply = _said_last(asks[-1]) if unanswered and not finished else ""
    if reply and not cues.APPROVAL.match(reply):
        before = next((one.text for one in reversed(closings) if one.at <= episode.prompts[-1].at), episode.before)
        option = picked(reply, before)
        end = f"{_left_at(episode)}: {clip(reply, 160)}" + (f" ({option})" if option else "")
        asked = episode.prompts[-1].at
        kept = (row for row in rows if row[0] > asked and row[1] in ("git_commit", "git_push"))
        out += [] if any(open_ends.closes(end, row) for row in kept) else [end]
    agreed = (
        unanswered and last is not None and asks[-1].kind == "terse" and cues.QUESTION.search(last.text.strip()[-200:])
    )
    out += [_failing(one) for one in ran if _fails_still(one)][-2:]
    if last is not None:
        since = [one for one in rows if one[0] > last.at]
        found = [
            text for text in _from_text(last.text, only_question=finished)
            if not any(open_ends.closes(text, row) for row in since)
        ]  # fmt: skip
        if not agreed and episode.prompts and last.at < episode.prompts[-1].at:  # the user replied to it
            found = [one for one in found if not one.startswith(open_ends.QUESTION)]
        if agreed and asks[-1].sentences:
            reply = clip(asks[-1].sentences[0], 40)
            found = [
                one.replace("Open question of the agent:", f"Answered “{reply}”, not carried out to the end:")
                for one in found
            ]
        out += found
    if not finished:
        out += [f"To do: {clip(one, 120)}" for one in _todos(episode, rows)]
    return _distinct(out)[:MOST]


def _said_last(ask: Ask) -> str:
    """The last request in a line: its words, the command it is, or the error that was pasted alone."""
    told = " ".join(ask.sentences[:2])
    head = f"{ask.title} " if ask.kind == "command" else ""
    return (head + told).strip() or ask.title or (f"an error was reported: {ask.error}" if ask.error else "")


def _fails_still(one: Struggle) -> bool:
    """A check whose newest run failed, when no run of the same code passed after it and nothing was committed."""
    if not one.failures or one.passed or one.misused or one.open or one.settled or one.trial:
        return False
    if one.faults[-1][0] == checks.BY_PLACE:
        return False
    return one.kind in open_ends.CHECKS


def _failing(one: Struggle) -> str:
    reason = f": {one.reasons[-1]}" if one.reasons and one.reasons[-1] else ""
    return f"{one.name}{open_ends.STILL_FAILS}{reason}"


def _from_text(text: str, *, only_question: bool) -> list[str]:
    """Items under a heading of what is next, sentences that say so, and the question that the text ends with."""
    said = sentences(text)
    out: list[str] = []
    if cues.DRAFT.search(text[:300]):
        only_question = True
    asks = bool(said) and bool(cues.QUESTION.search(said[-1].text))
    for one in [] if only_question else said[: len(said) - asks]:
        under = one.label and cues.LEFT_LABEL.search(one.label) and one.done != "x"
        open_box = one.done == " "
        says = cues.LEFT.search(one.text) and not one.label and not cues.QUESTION.search(one.text)
        states = _STATES.search(one.text) or one.text.endswith((":", "："))
        if size(one.text) >= 3 and not cues.DONE.match(one.text) and not states and (under or open_box or says):
            out.append(clip(one.text, 180))
    if asks and size(said[-1].text) >= 3:
        items = [one.text.rstrip(".") for one in said if one.item and len(one.text) <= _LONG][-_ITEMS:][:_TOLD]
        of = f" ({'; '.join(items)})" if items and _GO_ON.search(said[-1].text) else ""
        out.append(f"{open_ends.QUESTION} {clip(said[-1].text, 180)}{of}")
    return out


_STATES = re.compile(
    r"\bno (?:uncommitted|unstaged|unpushed)\b|\b(?:untouched|unrelated|left out|left alone|left as is|not included)\b",
    re.IGNORECASE,
)
"""Says how the tree was left on purpose."""


def _todos(episode: Episode, rows: list[open_ends.Row]) -> list[str]:
    """Boxes that the newest to-do list leaves open; nothing when it was not begun, or work went on long after it."""
    place, boxes = open_ends.todos(rows)
    if place < 0:
        return []
    started = any(line.startswith(("[x]", "[>]")) for line in episode.actions[place].content.split("\n"))
    return boxes[:3] if started and len(rows) - place < _LATE else []


def _distinct(found: list[str]) -> list[str]:
    kept: list[tuple[str, set[str]]] = []
    for text in found:
        bag = words(text)
        if all(alike(bag, other) < 0.7 or not bag for _, other in kept):
            kept.append((text, bag))
    return [text for text, _ in kept]
