"""Checks each sentence of a model against the rows that the sentence cites, and only these.

A sentence stands when the rows that it names exist, show its names, numbers and nearly all of its words, most of them
in one place, and bear out what it asserts: the same end, not denied; a cause that is told as one; the person's doing in
the person's own words. Names that occur somewhere in a session prove nothing: false sentences are made of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nmem.llm import claims
from nmem.llm.claims import named, numbers, safe, sentences, unsupported
from nmem.llm.facts import Facts, fold, gather

PERSON, DONE, SAID = "P", "D", "S"
"""The letter of a row: a person's prompt, what was done for it, and what the agent said in the end."""
_CITED = re.compile(r"\s*[\[(（［]\s*((?:[PDS]\d{1,4}\s*[,;、 ]*)+)[\])）］][.。]?\s*", re.IGNORECASE)
_ID = re.compile(r"[PDS]\d{1,4}", re.IGNORECASE)
MOST_CITED = 4
_SHARE, _WISH, _HOME, _GOAL, _TITLE, _SIDE, _APART = 0.7, 0.6, 0.5, 0.5, 0.4, 0.5, 0.8
"""Of a sentence's words: in all its rows; where it tells a wish; in one place of them; of a goal; of a title; of each
side of a cause, and where nothing in the row says that it is one and the sides are in two sentences."""
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_KANA_KANJI = re.compile(r"[\u30a0-\u30ff]{2,}|[\u3400-\u9fff]+")
_HANGUL = re.compile(r"[\uac00-\ud7af]{2,}")
_PARTS = re.compile(r"[^\W_]+")
_EAST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_STOP_WORDS = """
    a about after again all also although and any are because been before being both but can cannot could did does
    done during each even every first fix change changed changes new old for from had has have having her his how
    however into its just later made make many more most must need needs not now off once one only other our out
    over own per see set she should since some still such than that the their them then there these they this those
    through too under until upon use used user using very via want wants was were what when where whether which
    while who why will with within without would yet you your agent asked decided wanted told caused came comes due
    reason cause root result aber alle als am an auch auf aus bei bis da damit dann das dass dem den denn der des
    die dies diese dieser dieses doch durch ein eine einem einen einer eines er es für hat haben hatte hier ihm ihr
    ihre im in ist jetzt kann kein keine mehr mit muss nach nicht nichts noch nun nur ob oder ohne sein seine seit
    sich sie sind so soll sollte über um und uns unter vom von vor war waren wegen weil wenn werden wie wieder wird
    wurde wurden zu zum zur zuerst daher deshalb ursache benutzer nutzer ließ agora ainda antes ao aos apenas aqui
    com como continua de dele depois do dos e ela ele eles em entre era essa esse esta está este eu foi foram já
    mais mas mesmo muito na não nas nem no nos o ou para pela pelo por porque quando que quem se sem vez ser seu só
    sua também tem uma usuário pediu decidiu quis vinha con del el en los las una unos fue han hay sus usuario pidió"""
_STOP = frozenset(_STOP_WORDS.split())
_FOR_NAMES = re.compile(r"`+")
_BOLD_NAME = re.compile(r"(?<=[a-z]\.)\*\*(\w+)\*\*")
"""`Request.**init**`: a name that went through Markdown."""


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of a row, or a line of what was done."""

    text: str
    facts: Facts
    folded: str


@dataclass
class Row:
    """One row of the material: its number is that of the turn. `text`: what may be rested on, a line each."""

    id: str
    text: str
    lines: bool = False

    @cached_property
    def places(self) -> list[Place]:
        parts = self.text.split("\n") if self.lines else sentences(self.text)
        return [Place(part, gather([_bare(part)]), fold(part)) for part in parts if part.strip()]

    @cached_property
    def whole(self) -> Place:
        return Place(self.text, gather([_bare(self.text)]), fold(self.text))

    @cached_property
    def windows(self) -> list[Place]:
        """Every sentence with the one after it, and lists and code with the line that introduces them; what was done
        for one request is one place."""
        if self.lines or len(self.places) < 2:
            return [self.whole]
        pairs = [f"{one.text} {two.text}" for one, two in zip(self.places, self.places[1:], strict=False)]
        return [Place(text, gather([_bare(text)]), fold(text)) for text in [*pairs, *_introduced(self.text)]]


@dataclass
class Ground:
    """The rows of an episode by their ids, and what was held against them."""

    rows: dict[str, Row]
    kept: int = 0
    dropped: int = 0
    strange: list[str] = field(default_factory=list)
    """Words for which sentences were dropped; a repair names them."""
    _seen: set[str] = field(default_factory=set)

    def text(self, said: str, *, goal: bool = False) -> str:
        """The sentences of a field that stand, without the ids; `goal` may word what was wanted more freely."""
        standing = []
        for sentence, ids in cited(said):
            problem = self._problem(sentence, ids, goal)
            key = sentence.casefold().strip(" .;!。")
            if not problem and key not in self._seen:
                standing.append(sentence)
                self._seen.add(key)
            self.strange += [word for word in problem if word not in self.strange]
        count = len(cited(said))
        self.kept += len(standing)
        self.dropped += count - len(standing)
        return " ".join(standing).rstrip(" ;；")

    def texts(self, rows: Iterable[str]) -> tuple[str, ...]:
        """The rows of a list of which something stands."""
        return tuple(kept for row in rows if (kept := self.text(row)))

    def title(self, said: str) -> str:
        """A title where its names are the episode's and enough of its words are, else nothing; it names no rows."""
        bare = " ".join(sentence for sentence, _ in cited(said)).strip(" .。")
        union = _union(list(self.rows.values()))
        strange = [name for name in unsupported(bare, union.facts) if not _spells(union, name)]
        if not bare or not safe(bare) or strange:
            return ""
        return bare if covered(content(bare), union) >= _TITLE else ""

    @property
    def mostly_invented(self) -> bool:
        """Whether more was dropped than kept: then the rest is luck."""
        return self.dropped > self.kept

    def _problem(self, sentence: str, ids: Sequence[str], goal: bool) -> list[str]:
        """Why a sentence does not stand, in its own words; empty: it does."""
        known = [self.rows[one] for one in ids if one in self.rows]
        if not known or len(known) < len(ids) or not safe(sentence):
            return [one for one in ids if one not in self.rows] or [sentence[:40]]
        for clause in re.split(r"[;；]\s*", sentence):
            if clause.strip() and (wrong := self._unborne(clause, known, goal)):
                return wrong
        return []

    def _unborne(self, sentence: str, known: Sequence[Row], goal: bool) -> list[str]:
        """The words of a sentence that its rows do not bear out."""
        rows = _whose(sentence, known)
        answered = [self.rows[id_] for row in rows if (id_ := _before(row)) in self.rows]
        if wrong := unsupported(_bare(sentence), _union([*known, *answered]).facts) if rows else [sentence[:40]]:
            return wrong
        union, wanted = _union(rows), content(sentence)
        share = covered(wanted, union)
        strange = sorted(word for word in wanted if not _has(word, union)) or [sentence[:40]]
        if goal:
            return [] if share >= _GOAL else strange
        windows = [window for row in rows for window in row.windows]
        least = _WISH if claims.of_person(sentence) else _SHARE
        if not wanted or share < least or not _at_home(sentence, windows):
            return strange
        apart = _apart(sentence, windows, self._changed(rows))
        return apart or _ended(sentence, rows) or _wished(sentence, rows) or _why(sentence, rows)

    def _changed(self, rows: Sequence[Row]) -> Facts:
        """The files that were changed in the turns of some rows: a sentence may name them beside any change there."""
        did = [self.rows[id_].text for row in rows if (id_ := f"{DONE}{row.id[1:]}") in self.rows]
        return gather(line.partition(" ")[2] for text in did for line in CHANGED.findall(text))


CHANGED = re.compile(r"(?m)^(?:edited|wrote) .*")
"""Lines of what was done that name changed files."""


def _before(row: Row) -> str:
    """The row that a prompt answers: the agent's last words of the turn before it."""
    return f"{SAID}{int(row.id[1:]) - 1}" if row.id[0] == PERSON else ""


def cited(said: str) -> list[tuple[str, tuple[str, ...]]]:
    """The sentences of a field, each with the ids of the rows it names; those named last are for all before them."""
    out: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    for found in _CITED.finditer(said):
        ids = tuple(dict.fromkeys(one.upper() for one in _ID.findall(found[1])))[:MOST_CITED]
        out += [(one, ids) for one in sentences(said[at : found.start()])]
        at = found.end()
    rest = said[at:].strip(" .。")
    return out + [(one, ()) for one in sentences(said[at:])] if rest else out


def content(text: str) -> frozenset[str]:
    """The telling words of a sentence: names, numbers, beginnings of words; of scripts without spaces their signs."""
    for pattern in (claims.PERSON, claims.AGENT, *claims.ENDS.values()):
        text = pattern.sub(" ", text)
    folded = fold(text)
    found = set(named(folded)) | numbers(folded)
    plain = folded
    for name in found:
        plain = plain.replace(name, " ")
    found |= {_stem(word) for word in _LETTERS.findall(_EAST.sub(" ", plain)) if word not in _STOP}
    for run in _KANA_KANJI.findall(plain):
        found |= ({run} if run[0] <= "\u30ff" else {run[i : i + 2] for i in range(len(run) - 1)}) - _KANJI_STOP
    return frozenset(found | {word[:2] for word in _HANGUL.findall(plain) if word[:2] not in _HANGUL_STOP})


_KANJI_STOP = frozenset(("作業", "必要", "原因", "最初"))
_HANGUL_STOP = frozenset(("사용", "그대", "때문", "원인", "모두", "처음", "했다"))


def _stem(word: str) -> str:
    return word[: max(4, min(5, len(word) - 2))]


def _bare(text: str) -> str:
    return _BOLD_NAME.sub(r"__\1__", _FOR_NAMES.sub(" ", text))


def _union(rows: Sequence[Row]) -> Place:
    text = "\n".join(row.text for row in rows)
    return Place(text, gather([_bare(text)]), fold(text))


def _has(word: str, place: Place) -> bool:
    if word in place.facts.names or word in place.facts.numbers:
        return True
    if _EAST.match(word):
        return word in place.folded
    if not word.isalpha():
        return not unsupported(f"`{word}`", place.facts) if any(named(word)) else word in place.folded
    return any(word.startswith(_stem(other)) or other.startswith(word) for other in _spoken(place) if len(other) > 2)


def _spells(place: Place, name: str) -> bool:
    """Whether a place has each part of a name as a word: `won/lost` of "won and lost", a file without its ending."""
    return set(_PARTS.findall(name)) <= set(_PARTS.findall(place.folded))


def _spoken(place: Place) -> list[str]:
    return _LETTERS.findall(_EAST.sub(" ", unicodedata.normalize("NFKC", place.folded)))


def covered(wanted: frozenset[str], place: Place) -> float:
    """The part of some words that a place has."""
    return sum(_has(word, place) for word in wanted) / len(wanted) if wanted else 0.0


def _whose(sentence: str, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows that may bear a sentence: of what the person wanted prompts and answers, of the agent the others."""
    if claims.of_person(sentence):
        return [row for row in rows if row.id[0] == PERSON or row.text.startswith("answered")]
    return [row for row in rows if row.id[0] != PERSON] if claims.AGENT.search(sentence) else rows


def tells_change(said: str, rows: Mapping[str, Row]) -> bool:
    """Whether the place that bears a sentence, the one with most of its words, tells of a change by the work."""
    for sentence, ids in cited(said):
        wanted = content(sentence)
        places = [place for one in ids if one in rows for place in rows[one].places]
        if places and _SINCE.search(max(places, key=lambda one: covered(wanted, one)).text):
            return True
    return False


_SINCE = re.compile(r"\b(?:is|are|was|were|has|have) now\b|(?<!\bright )\bnow (?:is|are|has|have|\w{3,}s)\b")
"""Words that tell of a change by the work: "falls now back", not "Now I see"."""


def _introduced(text: str) -> list[str]:
    """What lines that end with a colon introduce, with them: a list or code, up to the next heading or paragraph."""
    out: list[str] = []
    block: list[str] = []
    inside = False
    for line in [*text.split("\n"), "#"]:
        bare = line.strip()
        inside ^= bare.startswith("```")
        if block and not inside and bare and (bare[0] == "#" or not (_ITEM.match(bare) or block[-1][-1] in ":`")):
            out.append("\n".join(block)[:_BLOCK])
            block = []
        if bare and (block or bare[-1] in ":："):
            block.append(bare)
    return [one for one in out if "\n" in one]


_ITEM = re.compile(r"[-*•+`]|\d+[.)]")
_BLOCK = 700
"""Characters of a list or of code that are one place with what introduces them."""


def _at_home(sentence: str, windows: Sequence[Place]) -> bool:
    """Whether one place has half of a sentence's words, or each of its facts has such a place."""

    def placed(text: str) -> bool:
        wanted = content(text)
        return not wanted or max((covered(wanted, one) for one in windows), default=0.0) >= _HOME

    return placed(sentence) or all(placed(fact) for fact in _FACTS.split(sentence))


def _apart(sentence: str, windows: Sequence[Place], changed: Facts) -> list[str]:
    """Names and numbers that are not beside each other in any place; among signs of the East each Latin word is one.

    Where a comma joins two facts, each has a place of its own; the name of a changed file has its place in the records.
    """
    east = bool(_EAST.search(sentence))
    for fact in _FACTS.split(sentence):
        names = [
            word for word in sorted(content(fact))
            if not _EAST.match(word) and (east or not word.isalpha()) and word not in changed.names
        ]  # fmt: skip
        if len(names) > 1 and not any(all(_has(name, place) for name in names) for place in windows):
            return names
    return []


_FACTS = re.compile(
    r", (?:(?:and|und|y|e|while|whereas|but|so|während|aber) |(?=`)"
    r"|(?=(?:\S+ ){1,6}(?:is|are|was|were|has|have|pass|fails?)\b))|;\s*"
)
"""What joins two facts in one sentence."""


def _ended(sentence: str, rows: Sequence[Row]) -> list[str]:
    """An end that the rows do not tell so, or not of so many."""
    for kind, reached in claims.ends(sentence):
        counts = _counts(sentence, kind)
        places = [place for row in rows for place in _clauses(row)]
        telling = [place for place in places if (kind, reached) in list(claims.ends(place.text))]
        if not telling:
            return [kind]
        if len(counts) == 1 and not any(counts <= place.facts.numbers for place in telling):
            return [f"{next(iter(counts))} {kind}"]
        if kind == "failed" and reached and claims.STILL.search(sentence) and not _still(telling, places):
            return ["still"]
    return []


def _counts(sentence: str, kind: str) -> set[str]:
    """The numbers that belong to an end of a kind that is counted."""
    if kind not in claims.NUMBERED:
        return set()
    sides = [side for part in _FACTS.split(sentence) for side in claims.halves(part) or (part,)]
    return set().union(*(numbers(fold(side)) for side in sides if claims.ENDS[kind].search(side)))


def _still(telling: Sequence[Place], places: Sequence[Place]) -> bool:
    """Whether what failed fails in the end: the row says so, or no later line tells that it passed."""
    if any(claims.STILL.search(place.text) for place in telling):
        return True
    last = max(number for number, place in enumerate(places) if place in telling)
    return not any(("passed", True) in list(claims.ends(place.text)) for place in places[last + 1 :])


def _clauses(row: Row) -> list[Place]:
    """The sentences of a row cut at semicolons."""
    out = []
    for place in row.places:
        parts = [place.text] if row.lines else re.split(r"[;；]", place.text)
        out += [Place(part, gather([_bare(part)]), fold(part)) for part in parts if part.strip()]
    return out


def _wished(sentence: str, rows: Sequence[Row]) -> list[str]:
    """A wish of the person's that is told as its opposite."""
    if not claims.of_person(sentence):
        return []
    wanted = content(sentence)
    clauses = [place for row in rows for place in _clauses(row)]
    best = max(clauses, key=lambda place: covered(wanted, place), default=None)
    if best is None or claims.against(sentence) == claims.against(best.text):
        return []
    same = [one for one in clauses if covered(wanted, one) >= _HOME and one is not best]
    return [] if any(claims.against(one.text) == claims.against(sentence) for one in same) else ["wanted"]


def _why(sentence: str, rows: Sequence[Row]) -> list[str]:
    """A cause that no row tells as the cause of it: both sides in one sentence, or in two that are joined."""
    sides = claims.halves(sentence)
    if sides is None:
        return []
    parts = [found for side in sides if (found := content(side))]
    if not parts:
        return []
    for row in rows:
        for number, place in enumerate(row.places):
            least = min(covered(part, place) for part in parts)
            if least >= _SHARE or (least >= _SIDE and claims.CAUSE.search(place.text)):
                return []
            if number and not row.lines and _joined(parts, row.places[number - 1], place):
                return []
    return ["cause"]


def _joined(parts: Sequence[frozenset[str]], before: Place, place: Place) -> bool:
    """Whether two sentences tell both sides: the second says that it is cause or effect, or each tells a side."""
    if claims.CAUSE.search(place.text):
        return min(max(covered(part, one) for one in (before, place)) for part in parts) >= _SIDE
    return any(
        all(covered(part, one) >= _APART for part, one in zip(parts, order, strict=False))
        for order in ((before, place), (place, before))
    )
