"""Words an episode's goal: its opening prompt in a sentence or two, and where the goal changed later."""

from __future__ import annotations

import re

from nmem.conversation.cues import Cue
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.learned import picked
from nmem.episodes.narrate.prompts import Ask, read
from nmem.episodes.narrate.prose import LATER, NEXT, alike, clause, clip, plain, sentences, size, split, within, words
from nmem.episodes.narrate.records import Episode
from nmem.episodes.narrate.reply import answer, heading
from nmem.episodes.narrate.turns import TYPED, Turn, goes_on

_WANTS = re.compile(
    r"(?:the )?user (?:is asking (?:me )?(?:to|for|about|whether|how|if)|wants? (?:me )?(?:to )?"
    r"|asked (?:me )?(?:to )?|(?:would|'d) like (?:me )?(?:to )?)",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:i|i'm|we|my|our|you|me|us|eu|nós|meu)\b|내가|제가|우리|私|僕", re.IGNORECASE)
_BULLETS = "⨯✖✗×•>-* "
_LONG = 400
_FIRST = 130
"""Characters of a first sentence before the one that asks."""
_BRIEF, _ASKING = 12, 1.5
"""Words of a first sentence that another one may follow, and what that one weighs at least: it asks for something."""
_ASKED = 4
"""Sentences of an opening that ask for something and are told."""
_OWN = 5
"""Words of a first sentence that is the person's, not the first line of a log."""
_APPROVING = re.compile(cues.APPROVAL.pattern + r"[\s,.!]*", re.IGNORECASE)


def asks(episode: Episode) -> list[Ask]:
    """Every user prompt of the episode, read."""
    return [read(prompt.text) for prompt in episode.prompts]


def intent(episode: Episode, read_prompts: list[Ask], found: list[Turn]) -> str:
    """The goal; "" when nothing was asked."""
    opening, used = _opening(episode, read_prompts)
    if not opening:
        return ""
    later = _later(episode, found, used, opening)
    return opening if not later else _ended(opening) + LATER + NEXT.join(one.replace(NEXT, ", ") for one in later)


def _opening(episode: Episode, read_prompts: list[Ask]) -> tuple[str, int]:
    """The first prompt that says something, and its number."""
    prefix = ""
    for number, ask in enumerate(read_prompts[:6]):
        if _typed_anew(episode, number):
            continue
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


def _typed_anew(episode: Episode, number: int) -> bool:
    """Whether the next prompt is this one with more to it: it was sent too early."""
    both = episode.prompts[number : number + 2]
    texts = [_CALLED.sub("", one.text.strip()) for one in both]
    if len(texts) < 2 or not len(texts[1]) > len(texts[0]) >= _EARLY:
        return False
    times = [*(one.at for one in episode.closings()), *(one.at for one in episode.actions)]
    answered = any(both[0].at < at < both[1].at for at in times)
    return texts[1].startswith(texts[0] if answered else texts[0][:TYPED][:-2])


_EARLY = 8
_CALLED = re.compile(r"^/[\w:-]+ ")


def _agreed(episode: Episode, ask: Ask, told: str) -> str:
    """A bare "yes": what the agent had proposed, or what it understood."""
    if ask.kind not in ("terse", "empty"):
        return ""
    if ask.error:
        return f"Error reported: {ask.error}"
    proposal = next((one.text for one in reversed(sentences(episode.before)) if cues.QUESTION.search(one.text)), "")
    if proposal and cues.APPROVAL.match(told):
        return f"Agreed to the agent's proposal: {clip(proposal, 160)}"
    guess = _from_thinking(episode) if ask.kind == "terse" or ask.places else ""
    if guess:
        return guess
    if not ask.places:
        return ""
    return clip(told if _asks(told) and ask.places[0] in told else f"About {ask.places[0]}", _LONG)


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
    if ask.kind == "issue":
        lead = f"{clause(ask.sentences[0], 80).rstrip(':')}: " if ask.sentences else ""
        wrong = (
            f" (error: {clip(ask.error.lstrip(_BULLETS), 90)})" if ask.error and ask.error[:30] not in ask.title else ""
        )
        return f"{lead}{ask.title}{wrong}"
    if ask.kind == "plan":
        goal = f" ({ask.goal.rstrip('.')})" if ask.goal and alike(words(ask.goal), words(ask.title)) < 0.9 else ""
        return clip(f"Implement the plan: {ask.title}{goal}", 340)
    if ask.kind == "document":
        given = f"A document given: {ask.title}"
        return f"{ask.goal.rstrip('.')} ({given[0].lower()}{given[1:]})" if ask.goal else given
    if not ask.sentences:
        return ask.title or (f"Error reported: {ask.error}" if ask.error else "")
    if (
        ask.error
        and room > 200
        and not any(cues.REQUEST.search(one) or cues.IMPERATIVE.match(one) for one in ask.sentences)
    ):
        own = _PERSON.search(ask.sentences[0]) or cues.BROKEN.search(ask.sentences[0])
        if own and size(ask.sentences[0]) >= _OWN:
            return f"{clip(ask.sentences[0], room).rstrip(':')} (error: {clip(ask.error.lstrip(_BULLETS), 90)})"
        return f"Error reported: {ask.error}"
    chosen = _choose(list(ask.sentences[:24]), room)
    text = " ".join(_ended(one) for one in chosen) if len(chosen) > 1 else chosen[0]
    head = f"{ask.title} " if ask.kind == "command" else ""
    about = f" ({ask.places[0]})" if ask.places and len(text) + len(ask.places[0]) < room + 40 else ""
    wrong = (
        f" (error: {clip(ask.error.lstrip(_BULLETS), 90)})"
        if ask.error and room > 200 and ask.error[:30] not in text
        else ""
    )
    return head + clause(text, room) + (wrong or about)


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?:。？！…" else text + "."


def _choose(found: list[str], room: int) -> list[str]:
    """What asks for something, with the first sentence where that says what it is about; all of it that has room."""
    places = {(found.index(one) if one in found else 0): one for one in _main(found, room)}
    left = room - sum(len(one) + 1 for one in places.values())
    if len(places) < _ASKED and left > _FEW:
        for place, one in enumerate(found):
            asks = size(one) > _FEW and _asks(one) and _weight(one, 0) >= _ASKING and one[-1] not in ":："
            wish = size(one) < _BRIEF and _WISH.match(one) and any(text[-1] in "?？" for text in found[:place])
            if ((asks and left > _LEFT) or (wish and left > len(one))) and len(places) < _ASKED and place not in places:
                places[place] = clause(one, left)
                left -= len(places[place]) + 1
    for place, one in enumerate(found[: max(places)]):  # what leads to it, where that has room
        if place not in places and len(one) < left and one[0] != "[" and not _LOGGED.search(one):
            places[place] = one
            left -= len(one) + 1
    return [places[place] for place in sorted(places)]


_WISH = re.compile(
    r"(?:but |and |so )?i (?:really |just |also )?(?:(?:do(?:n['’]t| not)|would(?:n['’]t)?|never|only) )?"
    r"(?:want|need|like|prefer|expect)\b|(?:it|this|that|they|there) (?:should|must|shall|has to|have to)\b",
    re.IGNORECASE,
)
"""A wish that is put as a statement."""
_LEFT, _FEW = 60, 2
"""Characters that a further sentence needs at least, and words that ask for nothing by themselves."""


def _main(found: list[str], room: int) -> list[str]:
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
        more = max(range(1, len(found)), key=lambda place: scores[place], default=0)
        if more and size(found[0]) < _BRIEF and scores[more] >= _ASKING:
            return [found[0], found[more]]
        second = len(found) > 1 and size(found[0]) < 9 and scores[1] > 0
        return found[:2] if second else found[:1]
    if size(found[0]) < 3:
        return [found[best]]
    whole = len(found[0]) < max(_FIRST, room - len(found[best]))
    return [found[0] if whole else clause(found[0], _FIRST), found[best]]


def _weight(text: str, place: int) -> float:
    score = -0.25 * place + bool(_SHALL.search(text))
    if cues.REQUEST.search(text):
        score += 2.0
    if cues.IMPERATIVE.match(text):
        score += 2.0
    length = size(text)
    if length < 3:
        score -= 2.0
    return score + min(length, 14) / 14


_SHALL = Cue(r"\b(?:should|must|shall|has to|have to|soll|muss|deve|sollte)\b")


def _proposal(episode: Episode, turn: Turn) -> str:
    """What a bare reply agrees to: the option or the question before it, or, where that names nothing, what was done
    upon it.
    """
    prompt = episode.prompts[turn.number]
    before = next((one.text for one in reversed(episode.closings()) if one.at <= prompt.at), "")
    if not before:
        return ""
    if option := picked(prompt.text, before):
        return f"“{clip(plain(prompt.text), 20)}”: {option}"
    agrees = bool(cues.APPROVAL.match(prompt.text.strip()))
    said = [one for one in sentences(before[-3000:]) if size(one.text) > 2 and not one.item]
    asked = next((one.text for one in reversed(said) if cues.QUESTION.search(one.text)), "")
    asked = "" if _OPEN.match(asked) else asked
    if agrees and len(words(asked)) >= _TELLING:
        return f"agreed to “{clip(asked, 120)}”"
    done = answer(turn)
    told = _APPROVING.sub("", done.text) if done else ""
    if len(words(told)) < _TELLING or cues.HOLLOW.match(told):
        return ""
    return f"{'agreed' if agrees else f'“{clip(plain(prompt.text), 60)}”'}, and so: “{clip(told, 130)}”"


_OPEN = re.compile(r"(?:which|what|how|where|who|when|why)\b|qual|welche|어떤|어느|どちら|どの", re.IGNORECASE)
"""A question that "yes" is no answer to."""
_TELLING = 2
_MOST_LATER = 6
_LAST = 2
_ENOUGH = 4
_ROOM_LATER = 200


def _later(episode: Episode, found: list[Turn], used: int, opening: str) -> list[str]:
    """Requests after the opening one: those whose turns changed most, and the last two, in order.

    Where nothing was changed at all the questions are the work, and those that say most are named. Of two that speak
    of the same the later one stands.
    """
    left = found[used + 1 :]
    talk = not any(turn.lasting for turn in found)
    named: list[tuple[int, str]] = []
    while left and len(named) < _LAST:
        turn = left.pop()
        text = _request(episode, turn, talk=talk, last=turn is found[-1])
        if text and all(text != known for _, known in named):
            named.append((turn.number, text))
    weighty = [(one.weight, one) for one in left if one.weight >= 1.0 or one.tried]
    if talk:
        weighty = [(float(size(" ".join(one.ask.sentences[:2]))), one) for one in left]
    for _, turn in sorted(weighty, key=lambda one: (-one[0], one[1].number)):
        if len(named) >= _MOST_LATER:
            break
        if text := _request(episode, turn, talk=talk):
            named.append((turn.number, text))
    if not talk:
        named += _questions(episode, left, [number for number, _ in named])
    return _distinct(opening, named)


def _questions(episode: Episode, left: list[Turn], known: list[int]) -> list[tuple[int, str]]:
    """Where few requests changed something: the questions that got the longest answers."""
    asked = [
        one for one in left if one.number not in known and one.ask.kind == "text" and len(one.closing) >= _ANSWERED
    ]
    asked.sort(key=lambda one: -len(one.closing))
    found = ((one.number, _request(episode, one, talk=True)) for one in asked)
    return [one for one in found if one[1]][: max(0, _ENOUGH - len(known))]


def _distinct(opening: str, named: list[tuple[int, str]]) -> list[str]:
    """In order; of two that speak of the same the later one."""
    known = [words(opening)]
    out: list[str] = []
    for _, text in sorted(named, key=lambda one: -one[0]):
        bag = words(text.removeprefix("Implement the plan"))
        if any(within(bag, other) >= _SAME for other in known):
            continue
        known.append(bag)
        out.append(clip(text, _ROOM_LATER).rstrip("."))
    return out[::-1]


_ANSWERED = 300
_SAME = 0.6
_LOGGED = re.compile(r"(?:^|[\s:])[~/]\S+/\S+|\b[0-9a-f]{10,}\b|\w\": \"|\battempt \d|[:：]$|^remote:")
"""A line that a program printed."""
_GO_ON = re.compile(
    r"(?:sorry|continue|go on|go ahead|proceed|keep going|retry|try again)\b[\s,.!]*\w*$", re.IGNORECASE
)


def _request(episode: Episode, turn: Turn, *, talk: bool = False, last: bool = False) -> str:
    """One later prompt as a request; "" for praise, for what changed nothing and asks nothing, and for objections.

    The last one is named where it is a command or words at the end of something pasted; in `talk` a question counts.
    """
    ask = turn.ask
    if ask.kind == "empty" or (ask.kind == "command" and not ask.sentences and not (turn.changed or last)):
        return ""
    done = turn.changed or turn.tried
    if done and _bare(ask) and (proposal := _proposal(episode, turn)):
        return proposal
    text = _APPROVING.sub("", headline(_own(ask, episode, turn), _ROOM_LATER)).strip(" ,.")
    objects = ask.sentences and cues.CORRECTION.search(ask.sentences[0])
    asking = (
        ask.kind in ("plan", "document", "issue", "command")
        or _asks(text)
        or bool(_SHALL.search(text))
        or (last and not turn.closing and not done)
    )
    if not asking and ask.kind == "text" and _LOGGED.search(text):
        return ""
    asking = asking or (talk and bool(cues.QUESTION.search(text) or _OPEN.match(text)))
    if _GO_ON.match(text) or (objects and not done):
        return ""
    if ask.kind == "terse":
        says = size(text) >= 2 and (asking or turn.weight >= 2)
        return text if says and (done or (last and asking)) else ""
    if not asking and not done and last and (given := heading(episode.prompts[turn.number].text)):
        return f"a document given: {given}" if len(episode.prompts[turn.number].text) > _PASTED else ""
    return text if (size(text) >= 3 or ask.kind == "command") and (asking or done) else ""


def _bare(ask: Ask) -> bool:
    """A reply that says little by itself: neither a request that can be read alone, nor a bare "commit"."""
    text = " ".join(ask.sentences)
    if ask.kind not in ("text", "terse") or ask.error or _KEEPS.match(text[:120]) or goes_on(text):
        return False
    return ask.kind == "terse" or (len(words(text)) <= _TELLING and not _asks(text))


_KEEPS = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|please|now|then|and|git|let'?s)[\s,.!]+)*(?:commit|push|커밋|푸시|コミット)\W*(?:[^\s]{1,20}\s*){0,3}$",
    re.IGNORECASE,
)
"""A request to keep what is there: the commit tells it."""


def _own(ask: Ask, episode: Episode, turn: Turn) -> Ask:
    """A prompt without the sentences of the agent that it quotes."""
    if ask.kind != "text" or len(ask.sentences) < _TELLING:
        return ask
    at = episode.prompts[turn.number].at
    before = " ".join(
        plain(next((one.text for one in reversed(episode.closings()) if one.at <= at), "")).lower().split()
    )
    left = tuple(one for one in ask.sentences if one.lower().rstrip(".")[:60] not in before)
    return ask._replace(sentences=left) if before and left else ask


def _asks(text: str) -> bool:
    return bool(cues.REQUEST.search(text) or cues.IMPERATIVE.match(text))


_PASTED = 600
"""Characters of a prompt that holds something pasted."""
