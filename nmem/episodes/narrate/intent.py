"""What an episode was for: its opening prompt in a sentence or two, and where the goal changed later."""

from __future__ import annotations

import re

from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prompts import Ask, read
from nmem.episodes.narrate.prose import clip, plain, sentences, split
from nmem.episodes.narrate.records import Episode
from nmem.episodes.narrate.words import alike, size, words

_WANTS = re.compile(
    r"(?:the )?user (?:is asking (?:me )?(?:to|for|about|whether|how|if)|wants? (?:me )?(?:to )?"
    r"|asked (?:me )?(?:to )?|(?:would|'d) like (?:me )?(?:to )?)",
    re.IGNORECASE,
)
_WORK = {"file_edit": 2.0, "file_write": 2.0, "git_commit": 1.0, "git_push": 0.5, "test": 0.5, "task_spawn": 1.0}
_PERSON = re.compile(r"\b(?:i|i'm|we|my|our|you|me|us|eu|nós|meu)\b|내가|제가|우리|私|僕", re.IGNORECASE)
_LONG = 230
_APPROVING = re.compile(cues.APPROVAL.pattern + r"[\s,.!]*", re.IGNORECASE)


def asks(episode: Episode) -> list[Ask]:
    """Every user prompt of the episode, read."""
    return [read(prompt.text) for prompt in episode.prompts]


def intent(episode: Episode, read_prompts: list[Ask]) -> str:
    """The goal; "" when nothing was asked."""
    opening, used = _opening(episode, read_prompts)
    if not opening:
        return ""
    later = _later(episode, read_prompts, used, opening)
    return opening if not later else opening.rstrip(".") + ". Later: " + "; ".join(later)


def _opening(episode: Episode, read_prompts: list[Ask]) -> tuple[str, int]:
    """The first prompt that says something, and its number."""
    prefix = ""
    for number, ask in enumerate(read_prompts[:6]):
        told = headline(ask)
        if ask.kind == "command" and not ask.sentences:
            if ask.title not in prefix.split(", "):
                prefix = f"{prefix}, {ask.title}" if prefix else ask.title
            continue
        if prefix and ask.kind == "terse":
            break
        if told and ask.kind != "terse":
            return (f"{prefix}: {told}" if prefix else told), number
        if number == 0 and (agreed := _agreed(episode, ask, told)):
            return agreed, 0
    guess = "" if prefix else _from_thinking(episode)
    return guess or (f"Run {prefix}" if prefix else "") or next(
        (text for ask in read_prompts if (text := headline(ask))), ""
    ), 0


def _agreed(episode: Episode, ask: Ask, told: str) -> str:
    """A bare "yes": what the agent had proposed, or what it understood."""
    if ask.kind not in ("terse", "empty"):
        return ""
    if ask.kind == "empty" and ask.error:
        return f"Error reported: {ask.error}"
    proposal = next((one.text for one in reversed(sentences(episode.before)) if cues.QUESTION.search(one.text)), "")
    if proposal and cues.APPROVAL.match(told):
        return f"Agreed to the agent's proposal: {clip(proposal, 160)}"
    guess = _from_thinking(episode) if ask.kind == "terse" or ask.places else ""
    if guess:
        return guess
    return clip(f"About {ask.places[0]}", _LONG) if ask.places else ""


def _from_thinking(episode: Episode) -> str:
    """How the agent put the request to itself."""
    for saying in [one for one in episode.sayings if one.kind == "thinking"][:3]:
        first = next(iter(split(plain(saying.text[:600]))), "")
        if (found := _WANTS.search(first)) and size(first[found.end() :]) >= 3:
            rest = first[found.end() :].strip()
            return clip(rest[:1].upper() + rest[1:], _LONG)
    return ""


def headline(ask: Ask, room: int = _LONG) -> str:
    """One prompt in a sentence or two."""
    if ask.kind == "plan":
        goal = f" ({ask.goal.rstrip('.')})" if ask.goal and alike(words(ask.goal), words(ask.title)) < 0.9 else ""
        return clip(f"Implement the plan: {ask.title}{goal}", 340)
    if not ask.sentences:
        return ask.title or (f"Error reported: {ask.error}" if ask.error else "")
    if (
        ask.error
        and room > 200
        and not any(cues.REQUEST.search(one) or cues.IMPERATIVE.match(one) for one in ask.sentences)
    ):
        if _PERSON.search(ask.sentences[0]) and size(ask.sentences[0]) >= 5:
            return f"{clip(ask.sentences[0], room).rstrip(':')} (error: {clip(ask.error, 110)})"
        return f"Error reported: {ask.error}"
    chosen = _choose(list(ask.sentences[:24]))
    text = " ".join(_ended(one) for one in chosen) if len(chosen) > 1 else chosen[0]
    head = f"{ask.title} " if ask.kind == "command" else ""
    about = f" ({ask.places[0]})" if ask.places and len(text) + len(ask.places[0]) < room + 40 else ""
    wrong = f" (error: {clip(ask.error, 110)})" if ask.error and room > 200 and ask.error[:30] not in text else ""
    return head + clip(text, room) + (wrong or about)


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?:。？！" else text + "."


def _choose(found: list[str]) -> list[str]:
    """The sentence that asks for something, with the first one when that says what it is about."""
    scores = [_weight(text, place) for place, text in enumerate(found)]
    best = max(range(len(found)), key=lambda place: scores[place])
    if found[best].endswith((":", "：")) and best + 1 < len(found):
        return (
            [found[best], found[best + 1]]
            if best == 0 or size(found[0]) < 3
            else [found[0], found[best], found[best + 1]]
        )
    if best == 0:
        second = len(found) > 1 and size(found[0]) < 9 and scores[1] > 0
        return found[:2] if second else found[:1]
    return [found[0], found[best]] if size(found[0]) >= 3 and len(found[0]) < 160 else [found[best]]


def _weight(text: str, place: int) -> float:
    score = -0.25 * place
    if cues.REQUEST.search(text):
        score += 2.0
    if cues.IMPERATIVE.match(text):
        score += 2.0
    length = size(text)
    if length < 3:
        score -= 2.0
    return score + min(length, 14) / 14


def _proposal(episode: Episode, number: int) -> str:
    """The question that a bare reply answers: the last one of the agent's text before it."""
    at = episode.prompts[number].at
    before = next((one.text for one in reversed(episode.closings()) if one.at <= at), "")
    if not before or not cues.APPROVAL.match(episode.prompts[number].text.strip()):
        return ""
    return next(
        (
            one.text
            for one in reversed(sentences(before[-3000:]))
            if cues.QUESTION.search(one.text) and size(one.text) > 3
        ),
        "",
    )


def _later(episode: Episode, read_prompts: list[Ask], used: int, opening: str) -> list[str]:
    """Prompts that set another goal: those that words tell apart and that much work followed, in order."""
    work = [0.0] * len(read_prompts)
    for action in episode.actions:
        turn = episode.turn(action.at)
        if turn >= 0:
            work[turn] += _WORK.get(action.obs_type, 0.25)
    known = words(opening)
    ranked: list[tuple[float, int, str]] = []
    for number in range(used + 1, len(read_prompts)):
        ask = read_prompts[number]
        if ask.kind == "terse" and work[number] >= 4 and (proposal := _proposal(episode, number)):
            if alike(words(proposal), known) < 0.6:
                ranked.append((-min(work[number], 20.0), number, f"agreed to “{clip(proposal, 120)}”"))
            continue
        if ask.kind not in ("text", "plan") or cues.CORRECTION.search(ask.sentences[0] if ask.sentences else ""):
            continue
        text = _APPROVING.sub("", headline(ask, 130)).strip(" ,.")
        asking = ask.kind == "plan" or cues.REQUEST.search(text) or cues.IMPERATIVE.match(text)
        if asking and size(text) >= 4 and alike(words(text), known) < 0.6:
            ranked.append((-min(work[number], 20.0) - 1, number, text))
    chosen = sorted(ranked)[:3]
    return [clip(text, 150).rstrip(".") for _, _, text in sorted(chosen, key=lambda one: one[1])]
