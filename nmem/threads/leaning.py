"""Decides whether a prompt depends on earlier work: by a cue word, or by being too short to stand alone.

On the hook's path: no regular expressions. Closed word lists of the languages that people prompt in.
"""

from __future__ import annotations

from nmem.episodes.lexicon import ACK, ANAPHOR, HOUSE, LIFECYCLE
from nmem.episodes.text import is_cjk, words
from nmem.retrieval.terms import CHAT, file_like, mentions, terms
from nmem.retrieval.words import STOP

CUES = frozenset(
    """continue continuing resume again still proceed weiter weitermachen nochmal wieder continua continuar continuer
    encore toujours sigue siga seguir todavía ancora ainda verder opnieuw""".split()  # noqa: SIM905 - a list of words
)
"""Words by which a person says that they go on."""
_PHRASES = ("pick up", "carry on", "left off", "go on with", "keep going", "where we were", "where were we",
            "as before", "finish the", "finish it", "mach weiter", "immer noch", "wo wir waren", "nog steeds",
            "계속", "다시", "이어서", "아직", "継続", "続け", "続き", "もう一度", "まだ", "继续", "繼續", "接着",
            "还是", "仍然")  # fmt: skip
_OPENERS = ANAPHOR | frozenset(
    """also next now then und aber auch dann jetzt also y pero también ahora entonces et mais aussi alors maintenant e
    também agora então ed ma anche ora allora en maar ook nu dus 그럼 그런데 では じゃ 那 那么 然后""".split()  # noqa: SIM905
)
"""A short prompt that opens so goes on with what was said before."""
_ASIDE = ("what about", "how about", "what else", "and now", "go on", "once more", "try again", "do it", "was ist mit",
          "wie sieht es mit", "qué tal", "et pour", "e quanto a", "e na ", "e no ")  # fmt: skip
_REFERS = ANAPHOR - {"and", "but", "so", "because", "or", "either", "why", "which", "mas", "e", "i"}
TERSE = 10
"""A prompt of more words says itself what it is about."""
_CUED = 20
"""So many words may stand beside a cue; a longer prompt has a subject of its own."""
_UNSPACED = 14
"""Characters of a terse prompt in a script without blanks."""
_ABOUT_A_BRANCH = 14


class Leaning:
    """The words by which a prompt leans on earlier work, and whether they say so by themselves."""

    __slots__ = ("by", "said")

    def __init__(self, by: str = "", *, said: bool = False) -> None:
        self.by = by
        """Empty: the prompt stands for itself."""
        self.said = said
        """True: the person says that they go on. False: the prompt is terse, and tells nothing without a context."""


def leaning(prompt: str) -> Leaning:
    """How a prompt leans on earlier work. Raises nothing."""
    prompt = prompt.replace("¿", " ").replace("¡", " ")
    said = words(prompt)
    if not said or len(said) > 2 * _CUED or prompt.lstrip().startswith("/"):
        return Leaning()
    low = prompt.lower()
    cue = next((word for word in said if word in CUES), "") or next((part for part in _PHRASES if part in low), "")
    if cue and (said[0] == cue or low.startswith(cue) or (len(said) <= _CUED and not _names(prompt))):
        return Leaning(cue, said=True)
    return Leaning(_terse(prompt, low, said))


def of_a_branch(prompt: str) -> bool:
    """Whether a prompt is about a branch as such: its tests, review, comments or commits, and names no other work."""
    said = words(prompt)
    if len(said) > _ABOUT_A_BRANCH or _names(prompt):
        return False
    steps = LIFECYCLE | HOUSE
    return any(word in steps or word == "changes" for word in said)


def _names(prompt: str) -> bool:
    """Whether a prompt names a file, an address or a number of an issue: a subject of its own."""
    return "://" in prompt or "#" in prompt or any(map(file_like, mentions(prompt)))


def _terse(prompt: str, low: str, said: list[str]) -> str:
    """What makes a short prompt one that tells nothing without a context; empty when nothing does."""
    if len(said) > TERSE or _names(prompt):
        return ""
    if any(map(is_cjk, prompt)):
        first = next((word for word in _OPENERS if not word.isascii() and low.startswith(word)), "")
        return first or (
            said[0] if len(prompt) <= _UNSPACED and prompt.rstrip("?？").endswith(("은", "는", "は", "呢")) else ""
        )
    steps = set(terms(" ".join(LIFECYCLE | HOUSE)))  # of every piece of work, as texts are read
    own = [word for word in terms(prompt) if word not in CHAT and word not in steps and word not in STOP]
    aside = next((part for part in _ASIDE if part in low), "")
    first = next((word for word in said if word in _OPENERS or word not in ACK), "")
    refers = first if first in _OPENERS else next((word for word in said if word in _REFERS), "")
    if (refers or aside) and len(own) <= 2:
        return refers or aside
    step = next((word for word in said if word in _CHORES), "")
    return step if len(own) <= 1 else ""


_OTHERS = {"branch", "release", "tag", "pr", "prs", "review", "reviewer", "comment", "comments", "feedback"}
"""Steps that somebody else's work goes through as well: they say nothing of the work just before."""
_CHORES = (LIFECYCLE | HOUSE) - _OTHERS
