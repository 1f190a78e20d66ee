"""Extracts identifiers and issue numbers from a text, for linking; lists words too general to tell a subject.

Tokens are those of episodes. On the hook's path.
"""

from __future__ import annotations

from nmem.episodes.text import MAX_CHARS, file_mentions, is_cjk, path_key, runs, split_identifier, tokens

__all__ = ["GENERAL", "MAX_CHARS", "SAYS", "file_mentions", "issue_refs", "path_key", "symbols", "tokens"]

_ISSUE_MARKS = ("#", "/pull/", "/issues/", "pr ", "issue ")
_DIGITS = 6
SAYS = 0.3
"""The part of its rarity that a word says which every software project says."""
GENERAL: frozenset[str] = frozenset(
    """action actual add added adding agent allow analysi analyze app appear apply approach auto automatically avoid
base based because before behavior block bug build call cannot case change check claude clean clear cli code command
comment commit complete consider contain content context core correct correctly creat create current currently data
default delete description design detail dev development directly directory display doc document documentation doesn
during edit either end ensure error every example execute exist expect expected fail feature field file find fix fixed
flag flow follow folder format found full fully function future generat generate get getting github goal handl handle
home http https id idea implement implementation improve includ include info information inside instruction interest
issu issue item json key latest least level line link list local log logic main mak make manual manually match md
message method mode model modify move multiple name new note number object old one open option order output page part
pass path pattern per plan plann pr prefer print process progress project prompt provid provide public push quality read
reason refactor related remov remove render repo repository report requir require result return review right rule run
runn running safe save script search section select server session set setting setup show side simple single skip
small solution source specific standard state statu status step string structure style suggestion summary support
system table task test text three through title token tool top track true try turn two type under understand update
updat url usage use user valid value version via visible warning web work write writ writing wrong www""".split()  # noqa: SIM905 - read as a list
)
"""Words that every software project says, as `tokens` gives them."""

JOINING: frozenset[str] = frozenset(
    """alle allem allen aller alles am beim bleibt braucht brauchen da daher damit dafür dazu dessen deren diese diesem
diesen dieser dieses diesmal dort eines einmal etwas gegen geht gibt hatte hier hinter ihre immer ins jede jedem jeden
jeder jetzt kein keine können könnte mal man manche mehr muss müssen nach nun ob ohne schon sehr sein seine seit soll
sollen sollte statt trotzdem unsere viel warum weg welche wenn werden wieder wird wo wurde wurden zwischen
aussi bien cela chaque comme déjà depuis donc doit doivent elles entre être fait faire faut leurs lorsque même moins
notre nos peu peut peuvent quand quel quelle rien sans sera sont sous toujours tous tout toute toutes très votre y
además algo antes aquí así cada cuando debe deben desde después donde durante ese eso esos estas estos hace hacer
hasta hay mismo mucho nada nuestra nuestro otra otro puede pueden ser siempre solo tiene tienen todo todos tras
agora ainda antes até cada depois desde deve devem dela dele ela eles entre essa esta este fazer já mesmo muito nada
nossa nosso outra outro pode podem porque qual seja sempre ser só também tem tudo
alla anche ancora che come così dalla deve dove fare già loro molto nel nostra nostro ogni perché più poi può quella
quello questa sempre senza solo sono sono stato tutti tutto
alle altijd daar dan deze door geen heeft hier hun meer moet moeten naar nu onze uit veel waar want wel wordt worden
zonder zou""".split()  # noqa: SIM905 - read as a list
)
"""Words of other languages than English that join sentences and say nothing of a subject, beside those of retrieval."""


def symbols(text: str) -> set[str]:
    """Identifiers of several parts that a text names: camelCase, snake_case."""
    return {
        run.lower()
        for run in runs(text[:MAX_CHARS])
        if len(run) > 4 and ("_" in run or not run.islower()) and not is_cjk(run[0]) and len(split_identifier(run)) > 1
    }


def issue_refs(text: str) -> set[str]:
    """The numbers in #123, PR 123, issue 123, /pull/123 and /issues/123."""
    low = text[:MAX_CHARS].lower()
    return {number for mark in _ISSUE_MARKS for number in _after(low, mark) if 1 <= len(number) <= _DIGITS}


def _after(text: str, mark: str) -> list[str]:
    """The digits that follow a mark, at each place where it stands."""
    found = []
    at = text.find(mark)
    while at >= 0:
        start = end = at + len(mark)
        while end < len(text) and text[end] in "0123456789":
            end += 1
        found.append(text[start:end])
        at = text.find(mark, end)
    return found
