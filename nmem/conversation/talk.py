"""Parses a conversation by patterns: sentences, signs of a decision, an agent's question and recap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from nmem.conversation import cues

_LONG = 4_000
"""Characters of a prompt from which it is a document, not something said."""
_LINES = 25
ASKED, _TOLD, _RECAP = 400, 500, 1_200
"""Characters of a question, of an agent's restatement, and of one that sums everything up."""
_LEAST_TOLD = 25
_SHARED = 2
"""Words that an answer shares with the sentence it is about; one where the sentence proposes something."""
_TAIL = 700
"""Characters at the end of an agent's turn where a question waits for an answer."""
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)*`]*\s+(?=[\"'“‘(*`@\[]*[^\s.,;:])|(?<=[。！？])|\n+", re.UNICODE)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|z\.B|bzw|p\.ex|approx|cf|no|nr)\.|(?<!\w)\w\.)$", re.IGNORECASE)
_LONGEST = 10
"""Characters of an abbreviation, and more than one before it."""
_FENCE = re.compile(r"```.*?(?:```|\Z)|\"\"\".*?(?:\"\"\"|\Z)", re.DOTALL)
_QUOTED = re.compile(
    r"^[ \t]*(?:[>|❯$#+]|={3}|diff |@@|at \S+\(|\d+[:|] |\[\d|[\w.-]+/[\w./-]+:\d+|https?://\S+$).*$", re.MULTILINE
)
WORD = re.compile(r"\w{3,}|\d+", re.UNICODE)
_PASTED = re.compile(
    r"\b(?:(?:low|medium|high|critical) severity|consider (?:using|adding|retriev\w+|updating|whether|a |extract\w+)|"
    r"implement the following plan|this session is being continued|caveat: the messages|co-authored-by)\b|"
    r"<[a-z-]+>.*</",
    re.IGNORECASE | re.DOTALL,
)
"""What review tools, clients and earlier plans say: nobody's own words."""
_PROPOSES = cues.Cue(r"\b(?:i'?ll|i'?d|i will|i would|my plan|then|so[,:]|let me|let'?s|we (?:could|can|should))\b")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said at once."""

    number: int
    """The row that holds the text."""
    person: bool
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a turn's text."""

    number: int
    begin: int
    end: int
    recap: bool = False
    """An agent sums up what holds."""

    def of(self, text: str) -> str:
        """The words themselves."""
        return text[self.begin : self.end]


@lru_cache(maxsize=16)
def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Where each sentence of a text begins and ends; code and quotations are left out."""
    blank = _blanked(text)
    out: list[tuple[int, int]] = []
    start = 0
    for cut in _SENTENCE.finditer(blank):
        end = cut.start()
        if "\n" not in cut.group() and _ABBREVIATION.search(blank[max(start, end - _LONGEST) : end]):
            continue
        out.append((start, end))
        start = cut.end()
    out.append((start, len(blank)))
    return tuple([spot for begin, end in out if (spot := trimmed(blank, begin, end)) is not None])


def _blanked(text: str) -> str:
    """The text with code and quoted lines as spaces: every character stays in its place."""
    for pattern in (_FENCE, _QUOTED):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    return text


def trimmed(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """A span without the signs of a list and the spaces at its ends; None where it has no letter."""
    while begin < end and text[begin] in " \t\n-*•":
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    return (begin, end) if any(letter.isalnum() for letter in text[begin:end]) else None


class Marks:
    """What a person's turn says, sentence by sentence; each sign is looked for when somebody asks for it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spots = sentences(text)
        self.parts = [text[begin:end] for begin, end in self.spots]
        self.asks = [part.rstrip("\"'”’)*` ").endswith(("?", "？")) for part in self.parts]
        self.first = self.parts[0] if self.parts else ""

    @cached_property
    def rule(self) -> list[int]:
        """Sentences that say how it always is to be; as below, by their numbers, and no questions."""
        return self._where(cues.RULE)

    @cached_property
    def contrast(self) -> list[int]:
        """This and not that."""
        return self._where(cues.CONTRAST)

    @cached_property
    def norm(self) -> list[int]:
        """How something should be."""
        return self._where(cues.NORM)

    @cached_property
    def amends(self) -> list[int]:
        """What is changed of a rule."""
        return self._where(cues.AMENDS)

    @cached_property
    def knows(self) -> list[int]:
        """What the person has seen to be so."""
        return self._where(cues.EXPERIENCE)

    @cached_property
    def corrects(self) -> bool:
        """Whether it begins with an objection."""
        return cues.CORRECTION.search(self.first) and not (self.asks and self.asks[0])

    @cached_property
    def agrees(self) -> bool:
        """Whether it begins with a yes."""
        return cues.AGREES.search(self.first)

    @cached_property
    def task(self) -> bool:
        """Whether it begins with a piece of work."""
        return cues.TASK.search(self.first)

    @cached_property
    def reason(self) -> bool:
        """Whether it says why."""
        return cues.REASON.search(self.text)

    @cached_property
    def revises(self) -> bool:
        """Whether something held before."""
        return cues.REVISES.search(self.text)

    def _where(self, cue: cues.Cue) -> list[int]:
        return [n for n, part in enumerate(self.parts) if not self.asks[n] and cue.search(part)]

    @property
    def pasted(self) -> bool:
        """Whether this is a document, a log or a reviewer's text."""
        text = self.text
        if not self.parts or len(text) > _LONG or text.count("\n") > _LINES:
            return True
        if "# " in text and len(re.findall(r"^#{1,4} ", text, re.MULTILINE)) >= 2:
            return True
        return bool(_PASTED.search(text))

    @property
    def trouble(self) -> bool:
        """Whether something fails."""
        return cues.ORDINARY.search(self.text)

    def spot(self, chosen: list[int]) -> tuple[int, int]:
        """From the first to the last of some sentences; the whole turn where it is short or none is chosen."""
        if not chosen or len(self.text) <= ASKED:
            chosen = list(range(len(self.spots)))
        return self.spots[min(chosen)][0], self.spots[max(chosen)][1]


def question(text: str) -> tuple[int, int] | None:
    """The question at the end of an agent's turn, with the sentence before where it is terse."""
    spots = sentences(text)
    for place in range(len(spots) - 1, max(-1, len(spots) - 5), -1):
        begin, end = spots[place]
        if len(text) - end > _TAIL:
            return None
        if text[begin:end].rstrip("\"'”’)*` ").endswith(("?", "？")):
            if place and (end - begin < 60 or text[: spots[place - 1][1]].endswith(("?", "？"))):
                begin = spots[place - 1][0]
            return max(begin, end - ASKED), end
    return None


def proposal(text: str, answer: str, *, replies: bool = False) -> tuple[int, int] | None:
    """The sentence of an agent's turn that an answer is about: that with most of its words, the later of equals.

    `replies`: the answer is plainly one to the turn, whatever words it has.
    """
    said = {word.lower() for word in WORD.findall(answer)}
    best, found = 0.0, None
    for begin, end in sentences(text):
        words = {word.lower() for word in WORD.findall(text[begin:end])}
        if end - begin < _LEAST_TOLD or text[begin:end].endswith((":", "：")):
            continue
        proposes = bool(_PROPOSES.search(text[begin:end]))
        if len(words & said) < (_SHARED - proposes) * (not replies):
            continue
        score = len(words & said) / (len(words) + 6) ** 0.5 + 0.3 * proposes
        if score >= best:
            best, found = score, (begin, min(end, begin + ASKED))
    return found


def restatement(after: Sequence[Turn], said: str) -> Span | None:
    """The sentences in which the agent takes a decision as settled, and says it in its own words."""
    for turn in reversed(after):
        if (span := recap(turn)) is not None:
            return span
    if not after:
        return None
    turn = after[0]
    spots = sentences(turn.text)
    if not spots:
        return None
    opening = turn.text[spots[0][0] : spots[0][1]]
    if not cues.TAKES.search(opening) and not _repeats(opening, said):
        return None
    span = _until_question(turn, spots, 0, _TOLD)
    return span if span and span.end - span.begin >= _LEAST_TOLD else None


def _repeats(sentence: str, said: str) -> bool:
    """Whether a sentence says again, in few words, what the person has said."""
    words, theirs = ({word.lower()[:5] for word in WORD.findall(text)} for text in (sentence, said))
    return len(sentence) <= 160 and len(words & theirs) >= max(1, 0.4 * len(words))


def recap(turn: Turn) -> Span | None:
    """The sentences of an agent's turn that sum up what holds."""
    spots = sentences(turn.text)
    for place, (begin, end) in enumerate(spots):
        sentence = turn.text[begin:end]
        if cues.RESTATES.search(sentence) and not sentence.endswith(("?", "？")):
            found = _until_question(turn, spots, place, _RECAP)
            return replace(found, recap=True) if found else None
    return None


def _until_question(turn: Turn, spots: Sequence[tuple[int, int]], place: int, most: int) -> Span | None:
    begin = spots[place][0]
    last = begin
    for start, end in spots[place:]:
        sentence = turn.text[start:end]
        over = end - begin > most or sentence.endswith(("?", "？")) or "```" in turn.text[last:start]
        if over or cues.REVIEW.search(sentence):
            break
        last = end
    return Span(turn.number, begin, last) if last > begin else None
