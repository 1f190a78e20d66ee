"""What is left: the closing text's own list, checks that still fail, open to-dos, questions nobody answered."""

from __future__ import annotations

from nmem.episodes.narrate import cues
from nmem.episodes.narrate.checks import Struggle
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import clip, sentences, short
from nmem.episodes.narrate.records import Episode
from nmem.episodes.narrate.words import alike, size, words

MOST = 5


def _left_at(episode: Episode) -> str:
    """How far the last request came that got no answer: files changed for it are no answer, and not nothing."""
    since = episode.prompts[-1].at if episode.prompts else 0
    changed = {
        one.file_path: short(one.file_path) for one in episode.actions
        if one.at > since and one.obs_type in ("file_edit", "file_write") and one.outcome == "ok" and one.file_path
    }  # fmt: skip
    if not changed:
        return "Asked last and not answered"
    names = list(changed.values())
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"Asked last, {', '.join(names[:2])}{more} changed for it, no answer recorded"


def next_steps(
    episode: Episode, asks: list[Ask], ran: list[Struggle], *, finished: bool, unanswered: bool
) -> list[str]:
    """At most five; none when the work is plainly finished. `finished`: the user accepted it at the end."""
    out: list[str] = []
    closings = episode.closings()
    last = closings[-1] if closings else None
    if unanswered and not finished and asks[-1].sentences and not cues.APPROVAL.match(asks[-1].sentences[0]):
        out.append(f"{_left_at(episode)}: {clip(' '.join(asks[-1].sentences[:2]), 160)}")
    agreed = (
        unanswered and last is not None and asks[-1].kind == "terse" and cues.QUESTION.search(last.text.strip()[-200:])
    )
    out += [_failing(one) for one in ran if _fails_still(one, ran)][-2:]
    if last is not None:
        found = _from_text(last.text, only_question=finished)
        if agreed and asks[-1].sentences:
            reply = clip(asks[-1].sentences[0], 40)
            found = [
                one.replace("Open question of the agent:", f"Answered “{reply}”, not carried out to the end:")
                for one in found
            ]
        out += found
    if not finished:
        out += _todos(episode)
    return _distinct(out)[:MOST]


def _fails_still(one: Struggle, ran: list[Struggle]) -> bool:
    """A check whose newest run failed, when no check of its kind passed after it."""
    if not one.failures or one.passed or one.misused or one.open or one.kind not in ("test", "build", "lint"):
        return False
    return not any(other.passed and other.kind == one.kind and other.last_at >= one.last_at for other in ran)


def _failing(one: Struggle) -> str:
    reason = f": {one.reasons[-1]}" if one.reasons and one.reasons[-1] else ""
    return f"{one.name} still fails{reason}"


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
        if size(one.text) >= 3 and not cues.DONE.match(one.text) and (under or open_box or says):
            out.append(clip(one.text, 180))
    if asks and size(said[-1].text) >= 3:
        out.append(f"Open question of the agent: {clip(said[-1].text, 180)}")
    return out


def _todos(episode: Episode) -> list[str]:
    """The boxes that the newest to-do list leaves open; nothing when work went on long after it."""
    for number in range(len(episode.actions) - 1, -1, -1):
        action = episode.actions[number]
        if action.obs_type == "todo":
            lines = action.content.split("\n")
            started = any(line.startswith(("[x]", "[>]")) for line in lines)
            late = len(episode.actions) - number < 12
            open_ones = [line[4:].strip() for line in lines if line.startswith(("[ ]", "[>]"))]
            return [f"To do: {clip(one, 120)}" for one in open_ones[:3] if one] if started and late else []
    return []


def _distinct(found: list[str]) -> list[str]:
    kept: list[tuple[str, set[str]]] = []
    for text in found:
        bag = words(text)
        if all(alike(bag, other) < 0.7 or not bag for _, other in kept):
            kept.append((text, bag))
    return [text for text, _ in kept]
