"""Finds a question's informative words, what each is worth in a project, and what an answer must show. Pure but for
the rarity of words, which the retrieval index knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from sqlite3 import Connection

from nmem.retrieval import engine, naming
from nmem.retrieval.terms import CHAT
from nmem.retrieval.words import stem, words

Says = dict[int, float]
"""By the place of a word in a question how well a text says it, 0 to 1."""

_LEAST = 0.25
"""What a word is worth at least, however common it is: it was asked for."""
_FRAME = CHAT | {
    stem(word)
    for word in (
        *CHAT, "may", "might", "shall", "must", "whether", "ever", "does", "often", "much", "many", "between", "among",
        "within", "per", "don", "doesn", "didn", "isn", "aren", "wasn", "weren", "won", "wouldn", "couldn", "shouldn",
        "hasn", "haven", "near", "around", "beside", "besides", "behind", "beyond", "upon", "across", "there", "thing",
        "sort", "just", "use", "actually", "currently", "exactly", "whose", "one",
    )
}  # fmt: skip
"""Words that make a question and are not its subject: they count little, and only in the text that answers it."""
_IDIOMS = re.compile(r"\b(?:in a row|at all|so that|in order to|any ?more|in the end)\b", re.IGNORECASE)
_EDGE = ".,;:!?()[]{}<>\"'`“”‘’"
_LITTLE, _FORM = 0.1, 0.85
"""What such a word is worth beside a rare one, and another form of a word beside the word itself."""
_AS_RARE = 0.6
"""The part of the rarest name's worth from which on another is about as rare."""
_SHORTEST = 4
"""Letters of the shorter of two forms of a word."""
_ENDING = re.compile(
    r"a|al|able|age|ance|ant|ary|at|ate|ator|d|e|ed|ee|en|ence|ent|er|es|ful|i|iab|ial|ibl|ics?|ier|ies|if|ify|ing|ional"
    r"|i?fication|ism|ist|i?ti|ity|ive?|i?[sz]e?|i?[sz]ation|l|ly|ment|n|ness|ory?|ous|r|s|th?|a?t?ion|ure?|y"
)
"""What a stem may have beyond another of the same word: Postgres is no form of post."""
_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|sixty|hundred|dozen|single"
    r"|both|none|no|every|all|once|twice|unlimited)\b"
)
_TIME = (
    r"\b(?:(?:milli)?seconds?|ms|secs?|min(?:ute)?s?|hours?|days?|nights?|weeks?|months?|quarters?|years?|daily|weekly"
    r"|hourly|forever|indefinitely|never|always|once|twice)\b|\d\s?(?:ms|s|m|h|d)\b"
)
_LASTS = r"\bhow (?:long|often|old|soon)\b|\bhow many (?:second|minute|hour|day|week|month|year)"
_SHOWN = (
    (re.compile(_LASTS, re.IGNORECASE), re.compile(_TIME, re.IGNORECASE)),
    (re.compile(r"\bhow (?:many|much|large|big|high)\b", re.IGNORECASE), re.compile(_NUMBER, re.IGNORECASE)),
)
"""What an answer must show, by how the question begins; English alone."""


@dataclass
class Question:
    """A question, and how much of it a text says."""

    text: str
    words: tuple[str, ...]
    """All its words, as the retrieval index has them; none where none says what it is about."""
    subject: tuple[str, ...]
    """Its informative words as they were typed."""
    shows: re.Pattern[str] | None = None
    """What an answer to it must show: a number, a time."""
    why: bool = False
    _worth: dict[int, tuple[float, ...]] = field(default_factory=dict)
    _known: dict[str, Says] = field(default_factory=dict)

    def weigh(self, db: Connection, projects: Iterable[int]) -> None:
        """Look up what each word is worth in some projects. Raises sqlite3.Error."""
        for project_id in projects:
            found = engine.worth(db, project_id, self.words)
            self._worth[project_id] = tuple(
                _LITTLE if word in _FRAME else max(_LEAST, found[word] * (naming.SAYS if word in naming.GENERAL else 1))
                for word in self.words
            )

    def said(self, text: str) -> Says:
        """How well a text says each of its words: 1 as it was asked, less in another form."""
        out: Says = {}
        for word in words(text):
            found = self._known.get(word)
            if found is None:
                each = ((at, _same(one, word)) for at, one in enumerate(self.words))
                found = self._known[word] = {at: same for at, same in each if same}
            for at, same in found.items():
                out[at] = max(same, out.get(at, 0.0))
        return out

    def informs(self, says: Says) -> bool:
        """Whether these are enough of its informative words: two where it has more than one; one alone only where it
        is no word that every project says.
        """
        ours = [at for at, word in enumerate(self.words) if word not in _FRAME]
        if len(ours) > 1:
            return sum(at in says for at in ours) > 1
        return any(at in says and self.words[at] not in naming.GENERAL for at in ours)

    def names(self, text: str) -> bool:
        """Whether a text says the rarest of what the question names with a capital, or a name about as rare; of a
        question without names, its rarest informative word.
        """
        says = self.said(text)
        return any(says.get(at) == 1.0 for at in self._rarest)

    @cached_property
    def _rarest(self) -> list[int]:
        """Their places among its words; asked for once it was weighed."""
        typed = {word for piece in self.subject if not piece.islower() for word in words(piece)}
        ours = [at for at, word in enumerate(self.words) if word not in _FRAME]
        ours = [at for at in ours if self.words[at] in typed] or ours
        worth = {at: sum(each[at] for each in self._worth.values()) for at in ours}
        least = max(worth.values(), default=0.0) * (_AS_RARE if typed else 1.0)
        return [at for at in ours if worth[at] >= least]

    def share(self, says: Says, project_id: int) -> float:
        """How much of the question these words are in a project, 0 to 1: rare ones count for more."""
        worth = self._worth[project_id]
        total = sum(worth)
        return sum(worth[at] * same for at, same in says.items()) / total if total else 0.0


def joined(*parts: Says) -> Says:
    """What several texts say together."""
    out: Says = {}
    for part in parts:
        for at, same in part.items():
            out[at] = max(same, out.get(at, 0.0))
    return out


def asked(text: str) -> Question:
    """The question that a text is."""
    plain = _IDIOMS.sub(" ", text)
    found = tuple(dict.fromkeys(words(plain)))
    typed = (piece.strip(_EDGE) for piece in plain.split())
    subject = tuple(dict.fromkeys(piece for piece in typed if not _FRAME.issuperset(words(piece))))
    shows = next((shown for how, shown in _SHOWN if how.search(text)), None)
    why = bool(re.search(r"\bwhy\b|\bwarum\b|\bhow come\b", text, re.IGNORECASE))
    return Question(text, found if subject else (), subject, shows, why)


def _same(one: str, other: str) -> float:
    """Whether two stems are one word, or forms of one: retry and retrier, employe and employee."""
    if one == other:
        return 1.0
    one, other = (f"{word[:-1]}i" if word[-1] == "y" else word for word in (one, other))
    short, long = sorted((one, other), key=len)
    alike = len(short) >= _SHORTEST and long.startswith(short) and _ENDING.fullmatch(long, len(short)) is not None
    return _FORM * (alike and long.isalpha())
