"""Where the user stepped in: corrections, complaints, refused tool calls, approval at the end."""

from __future__ import annotations

from dataclasses import dataclass

from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import clip
from nmem.episodes.narrate.records import Action, Episode
from nmem.episodes.narrate.words import size


@dataclass(frozen=True, slots=True)
class Correction:
    """One prompt that said the work was not right."""

    turn: int
    text: str
    error: bool = False
    """The user pasted an error that the work had left or made."""


def corrections(asks: list[Ask]) -> list[Correction]:
    """Prompts after the first that object to what was done or said before them."""
    out: list[Correction] = []
    for number in range(1, len(asks)):
        ask = asks[number]
        if ask.error:
            out.append(Correction(number, clip(ask.error, 130), error=True))
            continue
        if ask.kind not in ("text", "terse") or not ask.sentences:
            continue
        head = " ".join(ask.sentences[:2])[:240]
        if cues.CORRECTION.search(head) and size(head) >= 2 and not cues.APPROVAL.match(head):
            out.append(Correction(number, clip(head, 150)))
    return out


def refusals(episode: Episode) -> list[Action]:
    """Tool calls that the user did not let run."""
    return [one for one in episode.actions if one.refused]


def confirmed(asks: list[Ask]) -> bool:
    """The last prompt is praise: the work was accepted."""
    last = asks[-1] if len(asks) > 1 else None
    if last is None or last.kind not in ("text", "terse") or not last.sentences:
        return False
    text = " ".join(last.sentences[:2])
    return size(text) < 14 and bool(cues.PRAISE.search(text)) and not cues.CORRECTION.search(text) and "?" not in text
