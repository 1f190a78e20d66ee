"""Splits text into the index and query words of episodes. On the hook's path: no regular expressions.

Identifiers count whole and in parts (`ASGIStaticFilesHandler`: the whole, asgi, static, file, handler), English words
lose their endings, scripts without blanks are cut into pairs of characters, stop words are left out.
"""

from __future__ import annotations

from nmem.episodes.lexicon import STOP_BIGRAMS
from nmem.episodes.text import is_cjk, runs, split_identifier

_ENGLISH = """
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    done down each few for from further had has have having he her here him his how i if in into is it its just like
    ll m me more most my no nor not now of off on once only or other our out over own please re s same she should so
    some such t than that the their them then there these they this those through to too under up us ve very was we
    were what when where which while who whom why will with would you your
"""
_OTHERS = """
    aber als auch auf aus bei bin bis bitte da dann das dass dem den der des die doch du ein eine einem einen einer
    er es für haben hat ich ihr im ist ja kann mit nach nicht noch nur oder sich sie sind um und uns unter vom von vor
    war was weil wenn wie wir zu zum zur au aux avec ce cette ces dans de elle en est et il ils je la le les leur lui
    mais ne nous on ou où par pas plus pour qu que qui se si son sur tu un une vous como con del el ella eso esta este
    está hay las lo los muy más ni nos para pero por porque qué sin sobre son su sus también una unos y ya ao aos com
    da das do dos e ela ele em essa esse isso foi mas na nas não no nos num o os ou pela pelo quando se sem ser seu
    sua são também tem uma você che chi ci dal dei della di gli ha ho il io nel nella non più quale questo sono una
    een het ik je maar met niet nog of ook op te van voor wat zijn
"""
"""German, French, Spanish, Portuguese, Italian, Dutch."""
STOP = frozenset((_ENGLISH + _OTHERS).split())
"""Words that say nothing of a subject, in the languages that people prompt in."""
LONGEST = 40
"""Characters of a word; longer ones are hashes and encoded data."""
MOST_CHARS = 60_000
"""Characters of a text that are read."""
_REMEMBERED = 30_000
_known: dict[str, tuple[str, ...]] = {}


def words(text: str, most_chars: int = MOST_CHARS) -> list[str]:
    """The words of a text in order, each as often as the text has it."""
    out: list[str] = []
    for run in runs(text[:most_chars]):
        found = _known.get(run)
        if found is None:
            if len(_known) >= _REMEMBERED:
                _known.clear()
            found = _known[run] = _words_of(run)
        out += found
    return out


def _words_of(run: str) -> tuple[str, ...]:
    """The words of one run of letters, digits and underscores."""
    if len(run) > LONGEST:
        return ()
    if not run.isascii() and is_cjk(run[0]):
        pairs = (run[at : at + 2] for at in range(max(1, len(run) - 1)))
        return tuple(pair for pair in pairs if pair not in STOP_BIGRAMS)
    low = run.lower()
    if low.isalpha() and run[1:] == low[1:]:
        return (stem(low),) if len(low) > 1 and low not in STOP else ()
    parts = split_identifier(run)
    if len(parts) < 2:
        low = low.strip("_")
        return (stem(low),) if len(low) > 1 and low not in STOP else ()
    kept = [stem(part) for part in parts if len(part) > 1 and part not in STOP]
    return (low, *kept)


def stem(word: str) -> str:
    """A word without an English ending: tests, tested, testing -> test; change, changes, changing -> chang."""
    if len(word) <= 3 or not word.isascii():
        return word
    if word[-1] == "s" and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            return word
    return word[:-1] if word[-1] == "e" and len(word) > 4 else word
