"""Extracts the request of a sentence as a headline: verb first, without politeness and trailing clauses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nmem.conversation.cues import Cue, lazy
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.titles.lists import IDIOMS, PAST, ROUTINE, VERBS, WEAK

_LEAD = lazy(
    r"^(?:(?:ok(?:ay)?|so|now|nice|great|perfect|cool|good|awesome|thanks?(?: you)?|yes|yeah|yep|no|nope|alright|right"
    r"|well|and|but|then|also|next|first|second(?:ly)?|finally|hmm+|hi|hey|hello|btw|actually|anyways?|please|pls|just"
    r"|maybe|perhaps|again|still|already|wait|it works|works|in addition|as a first step|for now|by the way"
    r"|(?:i|we) (?:also |just |really |still |now |then )*(?:want|need|would like|'d like|like|think|guess|believe|hope"
    r"|feel|wanna|have|had|wonder(?:ed)?|(?:am|was) (?:thinking|wondering))(?: that| like| if| whether| of| about)?"
    r"(?: (?:you|u|us|claude))?(?: to)?|i(?:'d|d| would)(?: really| also)? like(?: you| us)?(?: to)?"
    r"|(?:we|you|u|i) (?:should|must|could|can|will|may|might|have to|need to)(?: also| just| then| now)?"
    r"|(?:can|could|would|will|should|do|can't)(?: not)? (?:you|u|we|i|it)"
    r"(?: please| also| just| now| maybe| try to| want to| be able to)*|let'?s|let us|let me|help me(?: to)?"
    r"|go ahead(?: and)?|start(?: by| with| working on| to)|try(?: to| and)|continue(?: with| to| by)"
    r"|proceed(?: with| to)"
    r"|is (?:it|there) (?:possible|a way|any way)(?: to)?|it would be (?:nice|great|good|cool) (?:to|if)"
    r"|(?:your|the) (?:task|job|goal) is(?: to)?|feel free to|make sure(?: that)?(?: to| you)?|be sure to"
    r"|don'?t forget to|remember to|kindly|there (?:is|are|was|were|seems? to be)(?: still| also)?"
    r"|it (?:seems|looks|appears)(?: like| that| to be)?|seems(?: like| that| to be)?|looks like|what about|how about"
    r"|(?:go|come) back to|i (?:noticed|see)(?: that)?|we (?:are|were)|i (?:am|was)|i'm)(?![\w'-])[\s,.:;!–-]*)+",
    re.IGNORECASE,
)
HAVE = lazy(r"\b(?:have|has|had|was|were)\b|['’]ve\b", re.IGNORECASE)
"""Says that something is done already."""
_BEFORE = lazy(
    r"^(?:when|if|since|because|as|while|after|before|once|for|in|on|with|regarding)\b[^,]{3,80},\s+", re.IGNORECASE
)
_ASIDE = lazy(r"\([^)]*\)|\[[^\]]*\]")
_PARTS = lazy(r"(?<=[.!?;])\s+|\s+[-–—]\s+|\s*;\s*")
_WRONG = Cue(
    r"\b(?:not|never|no longer|cannot|wrong|broken|missing|fail(?:s|ed|ing)?|errors?|issues?|problem|bug|empty|stuck"
    r"|crash\w*|still (?:shows?|gets?|has|have|says?|prints?|returns?|gives?|takes?|uses?)"
    r"|dont|doesnt|isnt|wont|cant|didnt)\b|n['’]t\b"
)
_REPORTED = lazy(
    r"(?:(?:done|all|great|perfect|good|excellent|so|now)[.!:,]*\s+)*(?:(?:i|we)(?:['’]ve| have)"
    r"(?: now| just| successfully| also)*\s+)?(\w+ed|built|made|wrote|rewrote|set|split)\s+\S",
    re.IGNORECASE,
)
_MARKS = lazy(r"[*`#]+")
_LINES = lazy(r"(?<=[.!?:])\s+|\n+")
_EDGES = ".,;:!?()[]{}\"“”*`<>~→'"
_AUXILIARY = ("is", "are", "was", "were", "does", "do", "should")


def base(word: str) -> str:
    """The verb that a word is a form of; "" where it is none of ours."""
    low = word.strip(_EDGES).lower()
    if low in VERBS:
        return low
    stems = [PAST.get(low, ""), low[:-1] if low.endswith("s") else ""]
    if low.endswith("ed"):
        stems += [low[:-1], low[:-2], low[:-3], low[:-3] + "y"]
    elif low.endswith("ing"):
        stems += [low[:-3], low[:-3] + "e", low[:-4]]
    return next((one for one in stems if one in VERBS), "")


@lru_cache(maxsize=2_000)
def goal(sentence: str) -> tuple[str, str]:
    """(the verb, what follows) of a sentence; no verb where it states something."""
    text = whole = " ".join(_ASIDE.sub(" ", sentence).split()).strip(" -*•>\"'")
    before = ""
    while before != text:
        before = text
        for lead in (_LEAD, _BEFORE):
            found = lead.match(text)
            if found and len(text) - found.end() > (0 if lead is _LEAD else 12):
                text = text[found.end() :]
    low = text.lower()
    for phrase, verb in IDIOMS.items():
        if low.startswith(phrase + " "):
            return verb, text[len(phrase) + 1 :]
    first, _, rest = text.partition(" ")
    if not rest or rest.split(" ", 1)[0].lower() in _AUXILIARY:
        return "", text
    verb = base(first)
    if verb and verb != first.lower() and HAVE.search(whole[: len(whole) - len(text)]):
        return "", text  # "we have now implemented this": done, and not asked for
    return (verb, rest) if verb else ("", text)


def parts(sentence: str) -> list[str]:
    """The clauses of a sentence that may each ask for something."""
    return [part for part in _PARTS.split(sentence) if part.strip()]


def verb(asks: Sequence[Ask], opening: int, said: Sequence[str]) -> str:
    """The verb of an episode's goal: what its prompts ask for, what its answers report; "" where nothing says it."""
    votes: defaultdict[str, float] = defaultdict(float)
    for number, ask in enumerate(asks[: opening + 6]):
        for place, sentence in enumerate(ask.sentences[:12]):
            share = (1.0 if number == opening else 0.35) / (1 + 0.25 * place)
            for part in parts(sentence)[:6]:
                found, rest = goal(part)
                if found and len(rest.split()) >= 2:
                    votes[found] += share * (0.3 if found in WEAK else 1.0)
                elif _WRONG.search(part):
                    votes["fix"] += 0.7 * share
    for number, text in enumerate(said[:8]):
        for found in _reported(text):
            votes[found] += 0.3 / (1 + 0.2 * number)
    work = [one for one in votes if one not in ROUTINE] or list(votes)
    return max(work, key=lambda one: (votes[one], one), default="")


def _reported(text: str) -> Iterator[str]:
    """The verbs of "I have added ..." and "Added ..."."""
    for line in _LINES.split(text)[:40]:
        found = _REPORTED.match(_MARKS.sub("", line).strip(" -•✅0123456789."))
        if found and (one := base(found[1])) and one not in WEAK and one not in ROUTINE:
            yield one
