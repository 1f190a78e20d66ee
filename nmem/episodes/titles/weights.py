"""Weighs how likely a word of an episode is in a person's title for it.

A logistic formula over where the word stands: in the request that opens the episode and how early, in how many prompts
and answers, among the files. Fitted on titles of 10 people, judged on others: `nmem eval titles`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from nmem.episodes.titles.lists import EVERYDAY, STOP

_WORD = re.compile(r"[^\W_]+")
_SHORT = 40
"""Characters of what stands between blanks that is remembered: nearly all comes again."""
_READ = 4_000
_BIAS = -5.8
_EVERYDAY = frozenset(word[:5] for word in EVERYDAY)
_FAR = 99


def keys(text: str) -> list[str]:
    """The content words of a text, each by its first five letters, as they come; a person's and ours meet so."""
    out: list[str] = []
    for run in text.split():
        out += _remembered(run) if len(run) <= _SHORT else _keys(run)
    return out


def bag(phrase: str) -> set[str]:
    """The content words of a few names, each once."""
    return set[str]().union(*map(_remembered, phrase.split()))


def _keys(run: str) -> tuple[str, ...]:
    """Of what stands between blanks."""
    return tuple(
        low[:5]
        for word in _WORD.findall(run)
        if (low := word.lower()) not in STOP and len(word) > 1 and not word.isdigit()
    )


_remembered = lru_cache(maxsize=20_000)(_keys)


def weights(asked: Sequence[str], said: Sequence[str], files: Sequence[str]) -> dict[str, float]:
    """Word -> probability. `asked`: the prompts without what was pasted, the one that opens the episode first."""
    prompts = [keys(text[:_READ]) for text in asked]
    answers = [keys(text[:_READ]) for text in said]
    opening = prompts[0] if prompts else []
    place: dict[str, int] = {}
    for at, word in enumerate(opening):
        place.setdefault(word, at)
    in_prompts, in_answers = Counter(chain.from_iterable(prompts)), Counter(chain.from_iterable(answers))
    prompts_with, answers_with = (
        Counter(chain.from_iterable(map(set, prompts))),
        Counter(chain.from_iterable(map(set, answers))),
    )
    first_answer, named = set(answers[0] if answers else ()), set(keys(" ".join(files)))
    often = Counter(opening)
    out: dict[str, float] = {}
    for word in dict.fromkeys((*in_prompts, *in_answers)):
        at, first = place.get(word, _FAR), word in place
        score = (
            _BIAS
            - 1.6 * (word in _EVERYDAY)
            + 0.25 * math.log1p(in_prompts[word])
            + 1.5 * prompts_with[word] / max(1, len(prompts))
            + 0.88 * (at < 6) + 0.72 * (at < 15) + 0.6 * (at < 40) - 0.17 * first
            + 0.04 * math.log1p(often[word])
            + 2.0 * first / math.log(2 + len(place))
            + 0.71 * math.log1p(in_answers[word])
            + 1.37 * answers_with[word] / max(1, len(answers))
            + 0.56 * (word in first_answer) - 0.55 * (first and word in first_answer)
            + 0.72 * (word in named)
            - 0.39 * (len(prompts) == 1)
        )  # fmt: skip
        out[word] = 1 / (1 + math.exp(-score))
    return out


def worth(text: str, known: dict[str, float]) -> float:
    """How many words of a person's title a text may have."""
    return told(set(keys(text)), known)


def told(words: Iterable[str], known: dict[str, float]) -> float:
    """As `worth`, of content words."""
    return math.fsum([known.get(word, 0.0) for word in words])  # the same in any order
