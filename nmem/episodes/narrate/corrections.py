"""Where the user stepped in: corrections, complaints, refused tool calls, approval at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nmem.conversation.cues import Cue
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prompts import Ask, read
from nmem.episodes.narrate.prose import clip, plain
from nmem.episodes.narrate.records import Action, Episode
from nmem.episodes.narrate.words import size


@dataclass(frozen=True, slots=True)
class Correction:
    """One prompt that said the work was not right."""

    turn: int
    text: str
    error: bool = False
    """The user pasted an error that the work had left or made."""


def corrections(asks: list[Ask], said: Sequence[str] = ()) -> list[Correction]:
    """Prompts after the first that object to what was done or said before them, or report that it does not work.

    `said`: the agent's answer to each. A mere question objects where the answer grants it; what the agent owns as its
    mistake was an objection however it was put.
    """
    out: list[Correction] = []
    for number in range(1, len(asks)):
        ask = asks[number]
        if ask.error:
            out.append(Correction(number, clip(ask.error, 130), error=True))
            continue
        if ask.kind not in ("text", "terse") or not ask.sentences:
            continue
        answer = said[number][:_GRANTED] if number < len(said) else ""
        own = _unquoted(ask.sentences, said[number - 1] if number <= len(said) else "")
        head = " ".join(own[:2])[:240]
        objects = cues.CORRECTION.search(head) and (
            not cues.QUESTION.search(head) or _OBJECTS.search(head) or cues.CONCEDES.match(answer)
        )
        if (
            (objects or cues.OWNS.search(answer))
            and size(head) >= 2
            and not cues.APPROVAL.match(quoted := _quoted(own))
        ):
            out.append(Correction(number, quoted))
        elif _reports(ask):
            out.append(Correction(number, clip(head, _ROOM), error=True))
    return out


def _unquoted(said: Sequence[str], before: str) -> Sequence[str]:
    """What a person wrote without the agent's words before that are pasted back: known, or led to by a colon."""
    led = next((at for at, one in enumerate(said) if one.endswith((":", "："))), len(said))
    known = " ".join(plain(before).lower().split()) if len(said) > 1 else ""
    return [one for one in said[: led + 1] if size(one) < _QUOTES or one.lower().rstrip(".")[:60] not in known]


_QUOTES = 5
"""Words of a sentence that nobody writes twice by chance."""


def _quoted(said: Sequence[str]) -> str:
    """The sentence that objects, with the one that goes on with it."""
    at = next((at for at, one in enumerate(said[:2]) if cues.CORRECTION.search(one)), 0)
    return clip(" ".join(said[at : at + 2]), _ROOM)


def _reports(ask: Ask) -> bool:
    """A short statement that something fails: "linting is failing now"."""
    text = " ".join(ask.sentences)
    if "?" in text or size(text) > _SHORT or not cues.BROKEN.search(text) or _WHY.match(text):
        return False
    return not (cues.REQUEST.search(text) or cues.IMPERATIVE.match(text) or cues.APPROVAL.match(text))


_WHY = re.compile(
    r"\W*(?:(?:and|so|but|also|ok) )*(?:why|what|how|when|where|which|who)\b"
    r"|.*\b(?:i (?:think|guess|believe)|maybe|probably)\b",
    re.IGNORECASE,
)
"""Asks, or guesses."""
_OBJECTS = Cue(
    r"\bwhy (?:did|are|do) you\b|\bare you sure\b|\bstill\b|\bwrong\b|(?:\bnot|n['’]?t) (?:seem to )?(?:work|what)"
    r"|왜 |아니(?!면|라)|なぜ|ない(?!か)",
)
_GRANTED, _ROOM, _SHORT = 300, 190, 14
"""Characters of an answer that may grant an objection, of an objection as it is quoted, and words of a short report."""


def refusals(episode: Episode) -> list[Action]:
    """Tool calls that the user did not let run; a plan that is carried out next, or ends an episode, is none."""
    end = left_plan(episode)
    return [one for one in episode.actions if one.refused and one is not end and not _begun_anew(episode, one)]


def _begun_anew(episode: Episode, action: Action) -> bool:
    """Whether a plan was taken up with a fresh context: clients tell the call as refused and send the plan back."""
    if action.obs_type != "plan":
        return False
    then = next((one for one in episode.prompts if one.at >= action.at), None)
    return then is not None and read(then.text).kind == "plan"


def left_plan(episode: Episode) -> Action | None:
    """A plan that was put to the user last of all: clients tell it as refused where it is carried out elsewhere."""
    last = episode.actions[-1] if episode.actions else None
    if last is None or last.obs_type != "plan" or not last.refused:
        return None
    return last if not any(one.at > last.at for one in episode.prompts) else None


def objection(episode: Episode, refused: list[Action]) -> tuple[Action | None, str]:
    """The newest refused call right after which the user said something, and the words where they speak against it."""
    for action in reversed(refused):
        then = next((one for one in episode.prompts if one.at > action.at), None)
        if (
            then
            and size(then.text) >= _SAYS
            and not _GOES_ON.match(then.text)
            and not any(action.at < one.at < then.at for one in episode.actions)
        ):
            said = clip(plain(then.text), 150)
            return action, said if _AGAINST.search(said) else ""
    return None, ""


_AGAINST = Cue(
    r"\b(?:no|not|don['’]?t|never|instead|rather|stop|wrong|wait|não|nao|nunca|nein|nicht|statt)\b"
    r"|아니(?!면|라)|말고|하지 ?마|ではなく|違|やめ",
)
_GOES_ON = re.compile(
    r"\W*(?:(?:please|ok(?:ay)?|yes|delegate|now|just|make it)[\s,.!]+)*"
    r"(?:continue|go (?:on|ahead)|proceed|resume|keep going|try again|계속|続けて|continua)",
    re.IGNORECASE,
)
"""Nothing was wrong with what was broken off."""
_SAYS = 2


def confirmed(asks: list[Ask]) -> bool:
    """The last prompt is praise: the work was accepted."""
    last = asks[-1] if len(asks) > 1 else None
    if last is None or last.kind not in ("text", "terse") or not last.sentences:
        return False
    text = " ".join(last.sentences[:2])
    return size(text) < 14 and bool(cues.PRAISE.search(text)) and not cues.CORRECTION.search(text) and "?" not in text
