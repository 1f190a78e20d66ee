"""Rules that find decisions in a person's words: a pure function over the turns of a conversation.

A decision is in the person's own words: an answer to the agent's question, a correction of its proposal, a standing
rule, or the confirmation of what the agent said again. What the agent merely proposes is none, nor is a piece of work
that is asked for. Every text is given as a span of the turn in which it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from nmem.conversation import cues
from nmem.conversation.talk import (
    ASKED,
    WORD,
    Marks,
    Span,
    Turn,
    proposal,
    question,
    recap,
    restatement,
    sentences,
    trimmed,
)  # fmt: skip

ANSWER, CORRECTION, RULE, CONFIRMATION = "answer", "correction", "rule", "confirmation"
STATED = "stated"
"""The kind of what a model found in a person's words."""
LEAST = 0.5
"""Confidence from which something counts as a decision."""
VERSION = "3"
"""Other rules, another version: episodes are searched again."""
_FIRST_PERSON = re.compile(r"\b(?:i|we|our|my|let'?s|i'm|i'd|we'?re)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """One decision."""

    words: Span
    question: Span | None
    """What the agent asked or proposed before."""
    restated: Span | None
    """How the agent said it again, before or after."""
    kind: str
    confidence: float
    """0..1"""
    revises: bool
    """The words say that something held before."""


def find(turns: Sequence[Turn]) -> list[Said]:
    """The decisions in a conversation, in its order."""
    out = []
    for place, turn in enumerate(turns):
        if turn.person and not _sent_early(turns, place):
            said = _weighed(turn, _before(turns, place), _after(turns, place), _opens(turns, place))
            if said is not None and said.confidence >= LEAST:
                out.append(said)
    return out


def stated(turns: Sequence[Turn], place: int, words: str) -> Said | None:
    """A decision that somebody else found in a person's turn, quoted from it; None where the words are not there."""
    turn, before = turns[place], _before(turns, place)
    spot = re.search(r"\s+".join(map(re.escape, words.split())), turn.text, re.IGNORECASE)
    if spot is None or not spot.group().strip():
        return None
    asked = question(before.text) if before else None
    return Said(
        Span(turn.number, *spot.span()), Span(before.number, *asked) if before and asked else None,
        restatement(_after(turns, place), turn.text), STATED, LEAST, Marks(turn.text).revises,
    )  # fmt: skip


def _sent_early(turns: Sequence[Turn], place: int) -> bool:
    """Whether the person sent the turn again with more to it: the later one says what was meant."""
    text = turns[place].text.strip()
    again = next((one.text.strip() for one in turns[place + 1 :] if one.person), "")
    return len(text) >= _EARLY and len(again) > len(text) and again.startswith(text.rstrip(".:,; "))


_EARLY = 20
"""Characters from which on a turn that a later one begins with is no coincidence."""


def _before(turns: Sequence[Turn], place: int) -> Turn | None:
    """What the agent said last before a person's turn."""
    return turns[place - 1] if place and not turns[place - 1].person else None


def _after(turns: Sequence[Turn], place: int) -> list[Turn]:
    """What the agent answered, until the person's next turn."""
    out: list[Turn] = []
    for turn in turns[place + 1 :]:
        if turn.person:
            break
        out.append(turn)
    return out


def _opens(turns: Sequence[Turn], place: int) -> bool:
    return not any(turn.person for turn in turns[:place])


@dataclass(frozen=True)
class _Case:
    """A person's turn with what surrounds it; that is read when somebody asks for it: most turns decide nothing."""

    marks: Marks
    before: Turn | None
    """What the agent said last."""
    after: Sequence[Turn]
    """What it answered."""

    @cached_property
    def question(self) -> tuple[int, int] | None:
        """What the agent asked before."""
        return question(self.before.text) if self.before else None

    @cached_property
    def option(self) -> tuple[int, int] | None:
        """The option that the person names, or speaks of by its number or letter in more words than a choice has."""
        found = cues.OPTION_NAMED.search(self.marks.text)
        return _option(self) or (_listed(self.before.text, found["which"]) if found and self.before else None)

    @cached_property
    def told(self) -> Span | None:
        """How it took up what the person said."""
        return restatement(self.after, self.marks.text)

    @cached_property
    def asked(self) -> str:
        """The words of the question."""
        return self.before.text[slice(*self.question)] if self.before and self.question else ""

    def settled(self, chosen: Iterable[int]) -> list[int]:
        """Of some sentences those that do not only tell how something is or seems, or are of a list of work."""
        numbers = list(chosen)
        if not numbers:
            return numbers
        end = len(self.marks.text) if cues.POLICY_QUESTION.search(self.asked) else _work_list(self.marks.text)
        return [n for n in numbers if not _NARRATED.search(self.marks.parts[n]) and self.marks.spots[n][0] < end]


def _work_list(text: str) -> int:
    """Where a numbered list of work begins in a long turn; its end where there is none."""
    found = list(_NUMBERED.finditer(text)) if len(text) > _LISTED else []
    numbers = {one.group(1) for one in found}
    return found[0].start() if {"1", "2"} <= numbers else len(text)


Verdict = tuple[str, float]
_NO: Verdict = ("", 0.0)


def _weighed(turn: Turn, before: Turn | None, after: Sequence[Turn], opens: bool) -> Said | None:
    marks = Marks(turn.text)
    if marks.pasted:
        return None
    case = _Case(marks, before, after)
    verdicts = (judge(case) for judge in (_confirmation, _choice, _correction, _rule, _answer, _taken_up))
    kind, confidence = next((one for one in verdicts if one[0]), _NO)
    if not kind:
        return None
    begin, end = marks.spot(sorted({*marks.rule, *marks.contrast, *marks.norm, *([0] if kind != RULE else [])}))
    told = case.told
    asked, restated = _asked(case, kind), told
    if kind == CONFIRMATION and before is not None and not (told and told.recap):
        restated = recap(before)
    elif before is not None and (option := case.option) and not (told and told.recap):
        restated = Span(before.number, *option)
    confidence = min(0.99, confidence + _surroundings(case, kind, after, opens))
    return Said(
        Span(turn.number, begin, end), Span(before.number, *asked) if before and asked else None, restated, kind,
        round(confidence, 2), marks.revises,
    )  # fmt: skip


def _asked(case: _Case, kind: str) -> tuple[int, int] | None:
    """What a decision answers: the question, also that of a list of options, or the sentence it is about."""
    if case.before is None:
        return None
    if kind != CONFIRMATION and (option := case.option):
        return option if case.told and case.told.recap else _of_list(case.before.text, case.question)
    return case.question or proposal(
        case.before.text, case.marks.text, replies=kind == CONFIRMATION or case.marks.corrects
    )


def _surroundings(case: _Case, kind: str, after: Sequence[Turn], opens: bool) -> float:
    """What speaks for and against a decision besides its words."""
    marks, told, out = case.marks, case.told, 0.0
    reviewed = not marks.corrects and not _FIRST_PERSON.search(marks.text) and kind in (CORRECTION, RULE)
    if reviewed and after and cues.REVIEW.search(after[0].text[:200]):
        out -= 0.25
    elif told is not None:
        out += 0.15
    if marks.reason:
        out += 0.05
    if marks.trouble and kind in (RULE, CORRECTION) and not (told and marks.revises):
        out -= 0.15
    return out - 0.05 * (opens and not marks.revises)


def _confirmation(case: _Case) -> Verdict:
    """The agent says again what holds, and the person agrees in few words."""
    marks, before = case.marks, case.before
    if before is None or len(marks.text) > 300 or any(marks.asks):
        return _NO
    if cues.KEEPS.search(marks.first):
        return (CONFIRMATION, 0.6)
    if not (marks.agrees or cues.RULE.search(marks.first)) or marks.corrects or recap(before) is None:
        return _NO
    return (CONFIRMATION, 0.4 if marks.task and not marks.norm else 0.75)


def _choice(case: _Case) -> Verdict:
    """One of the options that the agent listed."""
    return (ANSWER, 0.65) if _option(case) else _NO


def _correction(case: _Case) -> Verdict:
    """The person says how it is to be instead."""
    marks = case.marks
    wished = case.settled(n for n in marks.contrast if cues.WISH.search(marks.parts[n]))
    if (
        marks.corrects
        and case.before is not None
        and not marks.asks[-1]
        and (wished or not cues.GO_AHEAD.search(case.asked))
    ):
        settled = case.settled({*marks.norm, *marks.contrast, *marks.rule, *marks.knows})
        if settled:
            strong = 0.5 + 0.1 * bool(marks.contrast) + 0.1 * bool(marks.rule) + 0.05 * min(2, len(marks.norm))
            return (CORRECTION, strong - 0.15 * (len(marks.text) > 900))
    if case.before is not None and not any(marks.asks) and len(marks.text) <= 600:
        refuses = 0 in marks.knows and marks.reason and not marks.trouble
        if refuses or any(cues.PREFERS.search(part) and not _HEDGED.search(part) for part in marks.parts):
            return (CORRECTION, 0.55)
    answers = 0 in marks.contrast and not any(marks.asks) and cues.POLICY_QUESTION.search(case.asked)
    if not (wished or answers) or (marks.asks[-1] and case.before is None):
        return _NO
    own = answers or len(marks.text) <= 240 or bool(_FIRST_PERSON.search(marks.text))
    rambles = len(marks.text) > _LONG and not marks.rule
    return (CORRECTION, (0.6 if own else 0.3) + 0.1 * bool(marks.rule) - 0.15 * rambles)


def _rule(case: _Case) -> Verdict:
    """A standing rule, said as one; or a change of one, which the agent takes up."""
    marks = case.marks
    chosen = case.settled(marks.rule)
    if chosen:
        return (RULE, 0.55 + 0.1 * (len(chosen) > 1) - 0.1 * any(marks.asks))
    amends = case.settled(marks.amends) and not any(marks.asks) and not marks.task and case.told
    return (RULE, 0.45) if amends else _NO


def _answer(case: _Case) -> Verdict:
    """The agent asked how something should be, and the person says it."""
    marks, asked = case.marks, case.asked
    if not asked or any(marks.asks) or not marks.spots or cues.GO_AHEAD.search(asked):
        return _NO
    named = _names_one(asked, marks.first)
    if not named and (not cues.POLICY_QUESTION.search(asked) or not case.settled([0])):
        return _NO
    short = len(marks.text) <= 80 and not marks.task
    if not (marks.norm or marks.agrees or short or named) or (marks.task and not named):
        return _NO
    bare = marks.agrees and not marks.norm and len(marks.text) <= 40
    return (ANSWER, 0.45 + 0.1 * bool(marks.norm) + 0.1 * marks.reason + 0.1 * named - 0.15 * bare)


def _names_one(asked: str, answer: str) -> bool:
    """Whether a question says "this or that", and the answer begins with one of them."""
    if not cues.EITHER.search(asked[asked.find(" ") :]):
        return False
    words = (word.lower() for word in WORD.findall(answer)[:2])
    return any(word in asked.lower() for word in words if word not in _NO_NAMES)


def _taken_up(case: _Case) -> Verdict:
    """The agent sums up what holds from now on, right after the person has said how it is to be."""
    marks, before = case.marks, case.before
    if before is None or not marks.norm or marks.task or any(marks.asks):
        return _NO
    told = case.told
    return (ANSWER, 0.4) if told and told.recap and told.number <= before.number + 2 else _NO


_NO_NAMES = frozenset(("yes", "the", "that", "this", "and", "not", "you"))
_NARRATED = cues.Cue(
    r"\b(?:i (?:just |also )?(?:see|saw|noticed?|think|thought|wonder|guess|feel|remember|recall|assume|"
    r"understand|get|got|checked|"
    r"tried|did|don'?t (?:know|see|think|understand|get))|(?:it|this|that) (?:seems|looks|feels|appears|sounds)|seems?|"
    r"looks like|i'?m (?:seeing|"
    r"wondering|getting|not sure|curious|thinking)|it'?s (?:almost|not|just|like|interesting)|maybe|perhaps|"
    r"probably|might|could be|would be|wondering|"
    r"was (?:that|it|this)|were we|did we|ah,|interesting)\b|makes me wonder|good to know|"
    r"\b(?:as expect|what happen|mismatch|(?:it'?s|is) working|works?(?: (?:now|great|fine)|,|\.)|we never \w+ed\b|"
    r"we(?:'re| are) (?:already )?doing\b|"
    r"ignore (?:this|that|it|the (?:last|previous|above))\b)|"
    r"^\W*(?:i )?(?:have )?\w+ed\b(?! [-–—,])|^\W*found "
)
_HEDGED = re.compile(r"\b(?:maybe|perhaps|might|not sure|we(?:'re| are) (?:already )?doing)\b", re.IGNORECASE)
_LISTED, _LONG = 200, 600
"""Characters of a turn from which its numbers count a list of work; from which a wish in it is one among many."""
_NUMBERED = re.compile(r"(?:^|\s)([12])(?:[.)]|st\b|nd\b)\.?\s")
_SEVERAL = (".", "+", "&", "/")
"""What follows a number that is no single choice: 1.5, 1+2."""
_WAYS = re.compile(r"\b(?:option|alternativ|approach|variant|which (?:one|of)\b|\w+ ways\b)", re.IGNORECASE)
_LIST, _CHOSEN = 2, 240
"""Options of a list at least; characters of a choice at most."""
_BELOW = re.compile(r"[ \t]*\n[ \t]*\n?[ \t]*(?P<line>[^\s|#].*[^\s?？])[ \t]*$", re.MULTILINE)
_FAVOURS = re.compile(
    r"\b(?:(?:best|better)(?! \w+ed\b)|prefer\w*|i(?:'d| would)? (?:\w+ )?like|fine|good|great|makes sense|"
    r"works(?=\W*$| for (?:me|us)\b)|winner|yes|let'?s|(?:i|i'd|i'll|we|we'll|please|to) (?:choose|pick|take|go with)|"
    r"agree)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"\s*(?:$|because\b|please\b|(?P<more>[^\w\s](?!\W*(?:it|that|this|which)\b)))", re.IGNORECASE)
"""The rest of a text that only names an option; `more`: a sign after which something else is said."""
_STATES = re.compile(
    r"\s+(?:is|was|has|had|would|will|could|might|may|can|sounds|looks|seems|feels|needs|loses|breaks|fails|crashes|\w+ed)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"\b(?:hm+|nope|nah|no(?=\W*$|[,.;!])|(?:what|how) about)\b", re.IGNORECASE)


def _option(case: _Case) -> tuple[int, int] | None:
    """The option of an agent's list that a person names."""
    said, before = case.marks.text.strip(), case.before
    if before is None or len(said) > _CHOSEN:
        return None
    found = cues.CHOICE.match(said)
    if found is None:
        return _described(case, said) or _favoured(case)
    rest = found["rest"].lstrip()
    several, states = rest[:1] in _SEVERAL and rest.strip(" ."), _STATES.match(found["rest"])
    if several or _refused(found) or (states and not _FAVOURS.search(rest)):
        return None
    return _listed(before.text, found["which"]) if _offers(case, said[: found.end("which")]) else None


def _refused(found: re.Match[str]) -> bool:
    """Whether what follows the name of an option speaks against it."""
    rest = found["rest"]
    fails = not found["verb"] and not _PLAIN.match(rest) and cues.ORDINARY.search(rest)
    return bool(cues.REFUSED.match(rest) or _REFUSES.search(rest) or fails)


def _names_only(found: re.Match[str]) -> bool:
    """Whether the words choose: by a verb, with nothing behind, or with praise. "The second one crashes" does not."""
    rest = found["rest"]
    plain = _PLAIN.match(rest)
    if plain and plain["more"]:
        said = rest.lstrip(" ,.;:!-–—")
        return not cues.ORDINARY.search(said) and (said.startswith("not the ") or not cues.REFUSED.match(said))
    return bool(plain or (found["verb"] and not _STATES.match(rest)) or _FAVOURS.search(rest))


def _described(case: _Case, said: str) -> tuple[int, int] | None:
    """The option that a person chooses by its place, or by words of it: "the second one", "the cached approach"."""
    found = cues.CHOICE_OF.match(said)
    if found is None or case.before is None or _refused(found) or not _names_only(found):
        return None
    options, words = _options(case.before.text), found["words"].lower()
    if len(options) < _LIST or not _offers(case, case.before.text if found["verb"] else ""):
        return None
    place = len(options) - 1 if words == "last" else cues.PLACES.get(words)
    if place is not None:
        return _spot(case.before.text, options[place]) if place < len(options) else None
    having = [one for one in options if words.replace("-", " ") in one["text"].lower().replace("-", " ")]
    return _spot(case.before.text, having[0]) if len(having) == 1 else None


def _favoured(case: _Case) -> tuple[int, int] | None:
    """The option that a sentence calls the best: "I think option C is best"."""
    for part, asks in zip(case.marks.parts, case.marks.asks, strict=True):
        found = cues.OPTION_NAMED.search(part)
        if found and not asks and _FAVOURS.search(part) and not (cues.REFUSED.match(part) or _REFUSES.search(part)):
            return _listed(case.before.text, found["which"]) if case.before else None
    return None


def _options(text: str) -> list[re.Match[str]]:
    """The newest list of options in an agent's turn, those called so if there are some; a question is no option."""
    found = [one for one in cues.OPTION.finditer(text) if not one["text"].rstrip().endswith(("?", "？"))]
    found = [one for one in found if " " in one["label"]] or found
    starts = [n for n, one in enumerate(found) if one["which"].lower() in ("1", "a")]
    return found[starts[-1] :] if starts else found


def _listed(text: str, which: str) -> tuple[int, int] | None:
    """Where the option of a number or letter stands in an agent's turn; a number also counts the letters."""
    options = _options(text)
    for option in reversed(options):
        if option["which"].lower() == which.lower():
            return _spot(text, option)
    lettered = which.isdigit() and all(one["which"].isalpha() for one in options)
    return _spot(text, options[int(which) - 1]) if lettered and int(which) <= len(options) else None


def _spot(text: str, option: re.Match[str]) -> tuple[int, int]:
    """An option with its label, and with the line below where it is a heading."""
    begin, end = option.start("label"), option.end()
    below = _BELOW.match(text, end)
    heads = option.group().lstrip().startswith("#") or option["text"].rstrip().endswith("**")
    if below and heads and not cues.OPTION.match(below["line"]):
        end = below.end()
    return begin, min(end, begin + ASKED)


def _of_list(text: str, asked: tuple[int, int] | None) -> tuple[int, int] | None:
    """The question to which a list gives the options, without these: behind the list, or the sentence before."""
    options = _options(text)
    if asked and asked[0] < options[-1].end() < asked[1]:
        behind = trimmed(text, options[-1].end(), asked[1])
        asked = behind or asked
    before = [spot for spot in sentences(text) if spot[1] <= options[0].start("label")]
    lead = before[-1] if before else None
    lead = lead if lead and not text[lead[1] : options[0].start("label")].strip(" \t\n|*#-:") else None
    return max((one for one in (asked, lead) if one), key=lambda one: one[1] - one[0], default=None)


def _offers(case: _Case, said: str) -> bool:
    """Whether an agent's turn lists ways to go, of which one is to be chosen; `said`: words that say they are ways."""
    if case.before is None:
        return False
    if _WAYS.search(said) and len(_options(case.before.text)) >= _LIST:
        return True
    if cues.GO_AHEAD.search(case.asked):
        return False
    return bool(case.asked) or bool(_WAYS.search(case.before.text))
