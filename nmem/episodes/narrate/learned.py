"""Causes, findings and decisions in an episode: sentences of the agent, scored; answered questions; accepted plans."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nmem.episodes.narrate import cues
from nmem.episodes.narrate.corrections import Correction
from nmem.episodes.narrate.prose import Sentence, clip, sentences
from nmem.episodes.narrate.records import OK, Action, Episode, Saying
from nmem.episodes.narrate.turns import Superseded, distinct
from nmem.episodes.narrate.words import alike, codes, size, words

MOST = 5
_TRUST = {"closing": 1.0, "subagent": 0.55, "thinking": 0.6, "summary": 0.3}
_ANSWERS = 3
_ROOM = 260
_BUDGET = 120_000


@dataclass(slots=True)
class _Found:
    score: float
    place: int
    text: str
    bag: set[str]


def learned(
    episode: Episode, corrected: list[Correction], gone: Superseded, heard: list[str], *, answered: bool
) -> list[str]:
    """At most five sentences in the order they were said, and a few answers.

    `heard`: answers to requests that changed nothing; `gone`: what a correction has overtaken; `answered`: the answer
    itself was the work.
    """
    found: list[_Found] = []
    wrong = {one.turn - 1 for one in corrected}
    newest = max(wrong, default=-1)
    place, budget = 0, _BUDGET
    last = max((one.at for one in episode.sayings if one.kind == "closing"), default=0)
    for saying in reversed(episode.sayings):
        budget -= len(saying.text)
        if budget < 0:
            break
        turn = episode.turn(saying.at)
        trust = _TRUST.get(saying.kind, 0.0) * (0.5 if turn in wrong else 0.8 if turn < newest else 1.0)
        trust *= 1.1 if saying.at == last else 1.0
        said = sentences(saying.text)
        for number in range(len(said) - 1, -1, -1):
            place -= 1
            score = trust * _score(said, number, saying, answered=answered)
            if score >= 1.0 and not gone(turn, said[number].text):
                text = clip(_whole(said, number), _ROOM)
                if cues.CHATTER.match(text):
                    text = clip(said[number].text, _ROOM)
                found.append(_Found(score, place, text, words(text)))
    best = [one.text for one in _best(found, MOST)]
    told = [text for text in heard if not any(text in one or one in text for one in best)]
    return _decisions(episode) + distinct(told[:1] + best + told[1:][1 - _ANSWERS :])


def _score(said: list[Sentence], number: int, saying: Saying, *, answered: bool) -> float:
    """How much a sentence tells: causes and decisions, names of things, not talk."""
    one = said[number]
    text = one.text
    length = size(text)
    if cues.FLEETING.search(text) or cues.CHATTER.match(text) or (saying.kind == "thinking" and cues.TALK.match(text)):
        return 0.0
    if (
        not 6 <= length <= 70
        or cues.QUESTION.search(text)
        or text.endswith(":")
        or (one.item and cues.IMPERATIVE.match(text))
    ):
        return 0.0
    score = _cued(one)
    if answered and saying.kind == "closing":
        score += 0.9 * (number <= 1) + 0.4 * (not one.item)
    if score <= 0 or (cues.DONE.match(text) and not cues.STRONG.search(text)):
        return 0.0
    score += 0.25 * min(len(codes(one.raw)), 2) + (0.2 if 10 <= length <= 40 else 0.0) - 0.3 * one.item
    if cues.TALK.match(text):
        score -= 1.0 if saying.kind == "closing" else 1.6
    if saying.kind == "thinking" and (_FIRST.search(text) or "let me" in text.lower() or "?" in text):
        score -= 0.8
    return score


_FIRST = re.compile(r"\bI(?:\b|['’])")


def _cued(one: Sentence) -> float:
    """What the words and the heading of a sentence promise; 0 under a heading of what is left."""
    if one.label and cues.LEFT_LABEL.search(one.label):
        return 0.0
    strong, cause, decision = (bool(cue.search(one.text)) for cue in (cues.STRONG, cues.CAUSE, cues.DECISION))
    score = 1.2 * strong + 0.7 * cause + 0.6 * decision
    if one.label and cues.CAUSE_LABEL.search(one.label) and (score or not one.item):
        score += 1.0
    return score


def _whole(said: list[Sentence], number: int) -> str:
    """A sentence, with the one before it when it only points back to that."""
    text = said[number].text
    first = text.split(" ", 1)[0].lower().strip(",")
    if first in ("this", "that", "it", "these", "so", "which") and number and len(said[number - 1].text) < 150:
        return f"{said[number - 1].text} {text}"
    return text


def _best(found: list[_Found], most: int) -> list[_Found]:
    """The highest scores that do not repeat each other, in the order they were said."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda item: (-item.score, -item.place)):
        if all(alike(one.bag, other.bag) < 0.5 and one.text not in other.text for other in kept):
            kept.append(one)
            if len(kept) == most:
                break
    return sorted(kept, key=lambda item: item.place)


def _decisions(episode: Episode) -> list[str]:
    """Questions that the user answered, and plans that were accepted."""
    out: list[str] = []
    for action in episode.actions:
        if action.obs_type == "question" and action.outcome == OK:
            out += _answers(action)
        elif action.obs_type == "plan" and action.outcome == OK:
            title = next((line.strip("# ") for line in action.content.split("\n") if line.startswith("#")), "")
            if title:
                out.append(f"Plan accepted by the user: {clip(title.removeprefix('Plan: '), 140)}")
    return out[-4:]


def _answers(action: Action) -> list[str]:
    asked = action.metadata.get("questions")
    out = []
    for one in asked if isinstance(asked, list) else []:
        question, answer = (one.get("question"), one.get("answer")) if isinstance(one, dict) else (None, None)
        if isinstance(question, str) and isinstance(answer, str) and answer:
            out.append(f"The user decided: {clip(question, 140)} {clip(answer, 120)}")
    return out
