"""Checks a sentence's claims against known facts: names, hashes, addresses, numbers; outcome, cause, author.

A sentence stands when each of its claims is among the facts and it speaks of the work at all; else it is dropped whole,
because the rest of a sentence with an invented part is not to be trusted either.

Words of English, German, Portuguese, Spanish, Japanese and Korean; each kind is one concept whatever the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nmem.llm.facts import LINES, UNITS, Facts, fold, name_forms, numbers_in, spelled, words

_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)(?<!\n\d\.)\s+|(?<=[。！？])|\s*\n\s*")
_QUOTED = re.compile(r"`+([^`\n]+)`+")
_MEASURE = re.compile(rf"[-+~]?\d+(?:[.,]\d+)*(?:{UNITS})?")
_DOTTED = re.compile(r"(?:[\w@~-]|\.(?=\w))[\w.+@~-]*\.[a-z_]\w{0,15}|\.[a-z_][\w.-]+")
_HASH = re.compile(r"(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}|[a-f]{7,40}")
_PLACE = re.compile(r"(?<=[a-z_]):\d+(?:-\d+)?(?:[,;]?(?=\s|$|\W))")
"""A line or lines of a file: a place, not a number that is claimed."""
_SHORT_HASH = re.compile(r"[0-9a-f]{6,64}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_WORDS, _LEAST_WIDE = 3, 6
_PAIRS = """and/or read/write input/output i/o client/server ci/cd tcp/ip yes/no true/false on/off n/a before/after
    start/stop pass/fail w/o open/close load/save enable/disable left/right"""
_PLAIN_PAIRS = frozenset(_PAIRS.split())
_PLAIN_DOTS = frozenset(("e.g", "i.e", "a.m", "p.m", "u.s", "etc", "vs"))
_FILES = "makefile dockerfile justfile procfile jenkinsfile gemfile rakefile vagrantfile"
_BARE_FILES = frozenset(_FILES.split())
_TO_THE_READER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|previous|prior|above|earlier|rule|prompt)"
    r"|\bsystem (?:prompt|message|override|reminder)\b"
    r"|\byou (?:must|should|are|will|have to|need to) (?:now|always|never|immediately)\b"
    r"|\bas an ai\b|\b(?:assistant|system|developer|user|human)\s*:"
    r"|\b(?:curl|wget|iwr)\b.*\|\s*(?:ba|z|da)?sh\b|\brm -rf\b|\bbase64 -d\b|\beval\s*\(",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; a full stop within a command (`pip install -e . -q`) ends none."""
    text = _QUOTED.sub(lambda found: found[0].replace(". ", _DOT), text)
    return [part.strip().replace(_DOT, ". ") for part in _SENTENCE.split(text) if part and part.strip()]


_DOT = ".\u2060"  # a full stop and a blank that part nothing


def safe(sentence: str, *, brief: bool = False) -> bool:
    """Whether a sentence addresses nobody, does not go round in circles, and says something; `brief`: or is a word."""
    return not (_TO_THE_READER.search(sentence) or _loops(sentence)) and (brief or _says(sentence))


def stands(sentence: str, facts: Facts, *, brief: bool = False) -> bool:
    """Whether the sentence may be kept; `brief` lets a bare word or name pass as one."""
    if not safe(sentence, brief=brief):
        return False
    return not unsupported(sentence, facts) and (facts.grounds(sentence) or any(named(fold(sentence))))


def unsupported(sentence: str, facts: Facts) -> list[str]:
    """The names and numbers of a sentence that the facts do not have."""
    folded = fold(sentence)
    return [
        *(claim for claim in named(folded) if not _known(claim, facts)),
        *sorted(number for number in numbers(folded) if number not in facts.numbers),
    ]


def named(folded: str) -> Iterator[str]:
    """The names a folded sentence gives: what is quoted as code, and what looks like a path, hash or identifier."""
    for quoted in _QUOTED.findall(folded):
        yield from words(quoted)
    for word in words(folded):
        if _is_name(word):
            yield word


def numbers(folded: str) -> set[str]:
    """The numbers a folded sentence gives, in digits or in English words."""
    return numbers_in(_PLACE.sub(" ", folded)) | spelled(folded)


def _is_name(word: str) -> bool:
    if word in _PLAIN_DOTS or word in _PLAIN_PAIRS or _MEASURE.fullmatch(word):
        return False
    bare = LINES.sub("", word)
    return bool(
        "/" in bare or "\\" in bare or "_" in bare.strip("_") or "://" in word or bare.startswith("--")
        or _DOTTED.fullmatch(bare) or _HASH.fullmatch(bare) or bare in _BARE_FILES
        or (any(char.isdigit() for char in bare) and any(char.isalpha() for char in bare))
    )  # fmt: skip


def _known(name: str, facts: Facts) -> bool:
    """Whether a name is among the facts as it is given; a number quoted as code is left to the numbers."""
    if _MEASURE.fullmatch(name) and not _HASH.fullmatch(name):
        return True
    bare = LINES.sub("", name).rstrip("/").replace("\\", "/")
    if bare in facts.names or bare.lstrip("/") in facts.names:
        return True
    if _SHORT_HASH.fullmatch(bare):
        return any(each.startswith(bare) and _HASH.fullmatch(each) for each in facts.names)
    return not _is_name(bare) and bool(name_forms(bare) & facts.names)


def _says(sentence: str) -> bool:
    """Whether it is long enough: three words, two with a name, or six characters of a script without spaces."""
    count = len(sentence.split())
    if count >= _LEAST_WORDS or len(_WIDE.findall(sentence)) >= _LEAST_WIDE:
        return True
    return count == _LEAST_WORDS - 1 and any(named(fold(sentence)))


def _loops(sentence: str) -> bool:
    """Whether it says one thing over and over, as a small model at a loss does."""
    row = sentence.casefold().split()
    if len(row) < 12:
        return False
    triples = [tuple(row[i : i + 3]) for i in range(len(row) - 2)]
    return len(set(triples)) < len(triples) * 0.6


@dataclass
class Checker:
    """Keeps what stands, once; one checker for one answer, its fields in order of importance."""

    facts: Facts
    dropped: int = 0
    seen: set[str] = field(default_factory=set)
    """A model at a loss says one thing in every field."""

    def text(self, text: str, *, brief: bool = False) -> str:
        """The sentences of the text that stand and were not said before, joined."""
        standing = []
        for row in sentences(text):
            key = row.casefold().strip(" .;!")
            if key in self.seen or not stands(row, self.facts, brief=brief):
                self.dropped += 1
            else:
                standing.append(row)
            self.seen.add(key)
        return " ".join(standing).rstrip(" ;；")

    def texts(self, rows: Iterable[str], *, brief: bool = False) -> tuple[str, ...]:
        """The rows of which something stands."""
        return tuple(checked for row in rows if (checked := self.text(row, brief=brief)))


_ENDS = {
    "passed": r"\bpass(?:es|ed|ing)?\b|\bgreen\b|\bsucce(?:ss|ed)\w*|\bpass(?:a|am|ou|aram)\b|\bpasan?\b|\bbestand\w*"
    r"|\bl(?:äuft|aufen|ief|iefen) (?:\w+ ){0,3}durch\b|\bgrün|erfolgreich|成功|通っ|通り|通過|パスし|통과|성공",
    "failed": r"\bfail(?:s|ed|ing|ure)?\b|\bbroke|\bcrash|\berror|\bfalh(?:a|ou|av|ar)\w*|\bquebr(?:a|ou)"
    r"|\bfall(?:a|ó)\b"
    r"|\bschl(?:ug|ugen|ägt|agen) (?:\w+ ){0,4}fehl|fehlgeschlagen|\bscheiter|失敗|エラー|落ち|실패|오류|에러",
    "fixed": r"\bfix(?:ed|es)\b|\bresolved\b|\brepaired\b|\bcorrected\b|\bcorrigi(?:d|u\b|ram\b)\w*"
    r"|\bconsert(?:ad|ou)\w*|\bresolvid"
    r"|\bbehob|\brepariert|\bkorrigiert|直し|修正し|解決し|고쳤|고쳐|해결했|수정했",
    "committed": r"\bcommitt?ed\b|\bcommitt?et\b|\bcommit \w{6,} (?:feito|hecho|made)"
    r"|コミットし|コミット済|커밋했|커밋됨|로 커밋",
    "pushed": r"\bpushed\b|\bpush(?:en)?\b|\bgit push\b|\bgepusht|\benviad[ao]\b|プッシュ|푸시",
    "merged": r"\bmerged?\b|\bgemerg|\bmesclad|\bfusionad|マージ|병합|머지",
    "released": r"\breleased?\b|\bdeployed\b|\bpublished\b|veröffentlich|ausgerollt|\bpublicad|\blançad"
    r"|リリース|デプロイし|배포했|배포됨",
    "reverted": r"\brevert(?:ed|s)?\b|\bundone\b|\brolled back\b|\bgit (?:revert|reset|checkout)\b"
    r"|zurückgenommen|rückgängig"
    r"|\brevertid|\bdesfeit|元に戻|取り消|되돌",
    "deleted": r"\bdelet(?:e|ed|es)\b|\bremov(?:e|ed|es|ing)\b|\bdropped from\b|\bgelöscht|\bentfern|\bremov\w+"
    r"|\bapag(?:ou|ad|ar)"
    r"|\btir(?:ar|ou|ad)|\belimin|\bquit(?:ar|ó)|削除|消し|取り除|삭제|제거",
    "refused": r"\breject(?:ed|s)?\b|\brefus(?:ed|es)\b|\bdeclined\b|abgelehnt|\brecus(?:ou|ad)|\brechaz|却下"
    r"|拒否|거부|거절",
}  # fmt: skip
ENDS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _ENDS.items()}
"""How something ended, by its kind."""
NUMBERED = frozenset(("passed", "failed"))
"""Ends that are counted: a number beside one of them belongs to it."""
_DENIES = re.compile(
    r"(?:\bnot\b|\bnothing\b|\bno\b(?!,)|\bnone\b|\bnever\b|n['’]t\b|\bwithout\b|\bcannot\b|\bneither\b|\bnor\b"
    r"|\bbefore\b(?! (?:it|they) )"
    r"|\buntil\b|\bnão\b|\bnada\b|\bsem\b|\bnunca\b|\bnenhum|\bnicht\b|\bnichts\b|\bkein\w*|\bohne\b|\bnie\b|\bsin\b)"
    r"[^.;,。、]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"(?:(?!고\s)[^.;,。、]){0,14}?(?:ない|なかっ|ません|せず|지 ?않|지 ?못|지 ?마|안 했)"
    r"|[^.;,。、]{0,8}\bnicht\b|(?:(?!\bpass)[^.;,。、]){0,30}\b(?:later|yet to be)\b"
)
_PENDING = re.compile(
    r"\b(?:to ?do|pending|open:|remaining|left to|still (?:has|have|needs?) to|should|must|needs? to|have to"
    r"|has to|would"
    r"|will|next(?: step)?:|do you want|shall|falta|pendente|deve\w*|precisa\w*|offen|muss|müssen|soll\w*|noch zu)\b"
    r"|残り|べき|必要|予定|남은|해야|필요|예정",
    re.IGNORECASE,
)
_PENDING_AFTER = re.compile(r"[^.;。]{0,16}?(?:べき|必要|作業が残|해야|필요|예정|할게|릴게)")
_LEFT = re.compile(
    r"\bleave|\bleft (?:alone|as|un)|\bunchanged|\buntouched|\bkeeps?\b|\bkept\b|\bas it is\b|\bas is\b"
    r"|\bstays?\b|\bdeixa"
    r"|\bcontinua|\bmantém|\bmanter|\blassen\b|\bbleibt|そのまま|まま|그대로|유지",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"\bnot\b|\bnothing\b|\bno\b(?!,)|\bnever\b|n['’]t\b|\bwithout\b|\bcannot\b|\binstead of\b|\bdon['’]?t\b"
    r"|\bstop\b|\bavoid"
    r"|\bnão\b|\bnada\b|\bsem\b|\bnunca\b|\bnicht\b|\bnichts\b|\bkein\w*|\bohne\b|ないで|ない|なかっ|ません"
    r"|せず|지 ?않|지 ?못|지 ?마|말라|말고",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"\bbecause\b|\bcaused by\b|\bcauses?\b|\bcame from\b|\bcomes from\b|\bdue to\b|\bas a result of\b"
    r"|\bowing to\b|\bsince\b"
    r"(?! (?:\d|last|this|yesterday|v?\d))|\bthe (?:root )?(?:cause|reason)\b|\bthat is why\b|\btherefore\b"
    r"|\bporque\b|\bpor causa d\w+|\bpor isso\b|\bvem d\w+|\bvinha d\w+|\bdevido a\w*|\bcausad[ao]\b|\bweil\b"
    r"|\bdeshalb\b"
    r"|\bda(?:her|durch)\b|\bdie ursache\b|\bursache\b|\bliegt (?:im|am|an|in|daran)\b|\bwegen\b|原因|ため"
    r"|せいで|ので|から発生"
    r"|때문|원인|탓에|므로",
    re.IGNORECASE,
)
STILL = re.compile(
    r"\bstill\b|\bremains?\b|\bainda\b|\bimmer noch\b|\bweiterhin\b|まだ|依然|아직|여전히", re.IGNORECASE
)
_SAYS = (
    r"(?:asked|want(?:s|ed)?|decided|told|chose|prefer\w*|reject\w*|refus\w*|accept\w*|approv\w*|said|insist\w*"
    r"|remember\w*"
    r"|request\w*|need(?:s|ed)?|confirm\w*|agreed|found|fixed|changed|\w+ed)"
)
PERSON = re.compile(
    rf"\b(?:the )?(?:user|person)(?:['’]s)?\b(?= {_SAYS}|['’]s)|\bo usuário\b|\ba usuária\b|\bel usuario\b"
    r"|\bla usuaria\b|用户|\bder (?:be)?nutzer\b|\bdie nutzerin\b|ユーザー[はがも]|사용자[는가이]",
    re.IGNORECASE,
)
AGENT = re.compile(
    r"\bthe (?:agent|assistant|model)\b|\bo (?:agente|assistente)\b|\bder (?:agent|assistent)\b"
    r"|エージェント[はが]|에이전트[는가]",
    re.IGNORECASE,
)


def of_person(sentence: str) -> bool:
    """Whether a sentence tells what the person wanted or said; "the agent included the user's email" does not."""
    return bool(PERSON.search(sentence)) and not AGENT.match(sentence)


def ends(text: str) -> Iterator[tuple[str, bool]]:
    """Every end that a text tells, and whether it is told as reached rather than denied or still to come."""
    for name, pattern in ENDS.items():
        for found in pattern.finditer(text):
            yield name, not _denied(text, found.start(), found.end())


def _denied(text: str, start: int, end: int) -> bool:
    before = re.split(r"[.;。！？!?\n]", text[:start])[-1]
    clause = re.split(r"[,、]|\band\b|\be\b|\bund\b|\bbut\b|\bmas\b|\baber\b", before)[-1]
    return bool(
        _DENIES.search(clause)
        or _PENDING.search(before)
        or _DENIED_AFTER.match(text, end)
        or _PENDING_AFTER.match(text, end)
    )


def against(text: str) -> bool:
    """Whether a wish is that something should not be, or should stay as it is."""
    return bool(NEGATION.search(text) or _LEFT.search(text))


def halves(sentence: str) -> tuple[str, str] | None:
    """What is on either side of the word by which a sentence gives a cause; None where it gives none."""
    found = CAUSE.search(sentence)
    return (sentence[: found.start()], sentence[found.end() :]) if found else None
