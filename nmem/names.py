"""Quotes names from outside (files, branches, projects, commands) for an agent. On the hook's path.

A name is written by whoever made the file, so it may be an instruction. `told` is for what an agent did not ask for: a
name that reads as a sentence is not told at all. `cited` is for answers: it stays findable, and is marked as a name.
"""

from __future__ import annotations

from nmem.sanitize import ELLIPSIS, neutral

_LONGEST_PART = 120
"""Characters of one part of a path."""
_LONGEST_UNSPACED = 16
"""Letters in a row in scripts that write no blanks."""
_SENTENCE, _PHRASE = 4, 2
"""Blanks in one part of a path: of a sentence whatever its words, of one where its words ask for something."""
_JOINED = 5
"""Words joined by other signs than blanks that make a sentence, where they ask and are held together."""
_ALL_BLANKS = 7
"""Blanks of a whole path: a sentence may be spread over folders."""
_ASKS = frozenset(
    """always assistant bypass call curl delete disable disregard download do dont eval execute fetch follow forget
ignore install instruction instructions invoke must never now obey open override please pretend print previous prompt
prior read remove reply reveal rm run send should sudo system tell upload urgent use wget write you your
anweisung anweisungen bitte ignoriere ignorieren vergiss ignora ignorar ignore ignorez instrucciones instructions
instruções istruzioni игнорируй инструкции""".split()  # noqa: SIM905 - read as a list
)
_LEAVE, _ASKED = (
    ("ignor", "disregard", "forget", "vergiss", "игнорир"),
    ("instruc", "instruç", "istruz", "anweis", "инструкц"),
)
"""Beginnings of words that together ask to leave what was asked, in whatever order, however they are joined."""
_UNSPACED = (("無視", "忽略", "무시"), ("指示", "指令", "지시"))
"""The same in scripts whose words are not parted."""
_NOUNS = frozenset(("assistant", "instruction", "instructions", "previous", "prior", "prompt", "system"))
_MANY = 3
"""Words that ask, without those of _NOUNS, of which so many make a sentence by themselves."""
_HOLDS = frozenset(
    """a all and any are as before but by for from in instead is it of on or that the then this to und with you
your""".split()  # noqa: SIM905 - read as a list
)


def told(name: str, limit: int = 160) -> str:
    """A name between back quotes that it cannot close, of a long one the end; empty when it reads as a sentence."""
    return f"`{_plain(name, limit)}`" if name.strip() and not reads_as_sentence(name) else ""


def cited(name: str, limit: int = 160) -> str:
    """A name as it is where it is plainly one; any other between back quotes, a sentence marked as a name."""
    if not name.strip():
        return ""
    if reads_as_sentence(name):
        return f"(a name, not a request) `{_plain(name, limit)}`"
    found = _plain(name, limit)
    return f"`{found}`" if " " in found else found


def reads_as_sentence(name: str) -> bool:
    """Whether a name is prose: a line break, too long a part, many blanks, or words that ask for something."""
    if "\n" in name or "\r" in name or "\u2028" in name or "\u2029" in name:
        return True
    plain = neutral(name, 2_000)
    words = _words(plain)
    if _overrules(plain, words):
        return True
    blanks = plain.count(" ")
    if blanks >= _ALL_BLANKS or (blanks >= _PHRASE and len(_ASKS.intersection(words)) >= _PHRASE):
        return True
    return any(_prose(part) for part in plain.split("/"))


def _prose(part: str) -> bool:
    if len(part) > _LONGEST_PART:
        return True
    blanks = part.count(" ")
    if blanks >= _SENTENCE or _unspaced(part):
        return True
    words = _words(part)
    asking = _ASKS.intersection(words)
    asks = len(asking)
    if blanks >= _PHRASE and asks:
        return True
    return len(words) >= _JOINED and (
        len(asking - _NOUNS) >= _MANY or (asks >= _PHRASE and not _HOLDS.isdisjoint(words))
    )


def _overrules(name: str, words: list[str]) -> bool:
    """Whether a name asks to leave what was asked."""
    if not name.isascii() and all(any(one in name for one in some) for some in _UNSPACED):
        return True
    return any(one.startswith(_LEAVE) for one in words) and any(one.startswith(_ASKED) for one in words)


def _words(part: str) -> list[str]:
    """Its words in lower case, those of camel case as well."""
    if part.isascii() and part == part.lower():
        return "".join([char if char.isalpha() else " " for char in part]).split()
    out, before = "", ""
    for char in part:
        if char.isupper() and before.islower():
            out += " "
        out += char if char.isalpha() else " "
        before = char
    return out.lower().split()


def _unspaced(part: str) -> bool:
    """Whether letters of a script that writes no blanks stand in a row as long as a sentence."""
    if part.isascii():
        return False
    row = 0
    for char in part:
        row = row + 1 if char.isalpha() and ("\u0e00" <= char <= "\u0fff" or "\u3040" <= char <= "\u9fff") else 0
        if row > _LONGEST_UNSPACED:
            return True
    return False


def _plain(name: str, limit: int) -> str:
    found = neutral(name[-limit * 2 :], limit * 2).replace("`", "'")
    return found if len(found) <= limit else ELLIPSIS + found[len(found) - limit + 1 :]
