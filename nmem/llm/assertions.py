"""Assertions of a sentence beyond names and numbers: an outcome, a cause, an author.

Words of English, German, Portuguese, Spanish, Japanese and Korean; each kind is one concept whatever the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    r"|\bbefore\b"
    r"|\buntil\b|\bnão\b|\bnada\b|\bsem\b|\bnunca\b|\bnenhum|\bnicht\b|\bnichts\b|\bkein\w*|\bohne\b|\bnie\b|\bsin\b)"
    r"[^.;,。、]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"(?:(?!고\s)[^.;,。、]){0,14}?(?:ない|なかっ|ません|せず|지 ?않|지 ?못|지 ?마|안 했)"
    r"|[^.;,。、]{0,8}\bnicht\b|[^.;,。、]{0,30}\b(?:later|yet to be)\b"
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
    r"|\bder (?:be)?nutzer\b|\bdie nutzerin\b|ユーザー[はがも]|사용자[는가이]",
    re.IGNORECASE,
)
AGENT = re.compile(
    r"\bthe (?:agent|assistant|model)\b|\bo (?:agente|assistente)\b|\bder (?:agent|assistent)\b"
    r"|エージェント[はが]|에이전트[는가]",
    re.IGNORECASE,
)


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
