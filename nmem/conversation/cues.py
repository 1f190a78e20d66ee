"""Multilingual regular expressions for phrases of decisions, and `Cue`, which compiles and searches them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from capture import cache
from capture.redaction import rules_cache

_every: list[Cue] = []


class _Lazy:
    """A pattern that is compiled when it is first used."""

    def __init__(self, source: str, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever a pattern has
        found = self.__dict__[name] = getattr(re.compile(*self._given), name)
        return found


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but compiled on first use: compiling all patterns of titles delays the cockpit by 20 ms."""
    return cast("re.Pattern[str]", _Lazy(source, flags))


class Cue:
    """Patterns of words in any case, written in lower case and compiled when they are first looked for.

    A text of ASCII is looked through in lower case, which takes half as long as ignoring its case, and only for
    patterns that ASCII can match; not at all where it holds none of the words that each of them needs.
    """

    def __init__(self, *patterns: str) -> None:
        self.source = "|".join(patterns)
        _every.append(self)

    def search(self, text: str) -> bool:
        """Whether one of them is in the text."""
        if not text.isascii():
            return self._any_case.search(text) is not None
        low = text.lower()
        begins, within, signs = self._low
        if begins is not None and begins.match(low):
            return True
        if within is None or (signs and not any(map(low.__contains__, signs))):
            return False
        return within.search(low) is not None

    @cached_property
    def _low(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None, tuple[str, ...]]:
        """What finds those that begin a text, and the others; the signs without one of which none of these is there."""
        parts = self._lower()
        begins, within = (_compiled("cues", part, _all_parts()) if part else None for part in parts)
        signs = _read_once("cues-signs", parts[1], needed, _within_parts()) if within else None
        return begins, within, signs or ()

    @cached_property
    def _any_case(self) -> re.Pattern[str]:
        return _compiled("cues-any-case", self._ignoring_case(), (one._ignoring_case() for one in _every))

    def _lower(self) -> tuple[str, str]:
        some = [one for one in _alternatives(self.source) if _may_be_ascii(one)]
        begin = [one.removeprefix("^") for one in some if one.startswith("^")]
        return "|".join(begin), _at_words([one for one in some if not one.startswith("^")])

    def _ignoring_case(self) -> str:
        return f"(?i){_at_words(_alternatives(self.source))}"


def _all_parts() -> Iterator[str]:
    return (part for one in _every for part in one._lower() if part)


def _within_parts() -> Iterator[str]:
    return (part for one in _every if (part := one._lower()[1]))


T = TypeVar("T")
_kept: dict[str, dict[str, Any]] = {}


def _read_once(name: str, source: str, make: Callable[[str], T | None], every: Iterable[str]) -> T | None:
    """What is made of a pattern, from a cache file: to compile them takes each run of settling longer than to tell a
    turn.

    What the file lacks is made for every cue at once, and kept.
    """
    rules = Path(rules_cache.path())
    file = str(rules.with_name(rules.name.replace("rules", name, 1)))
    if file not in _kept:
        found = cache.read(file, dict)
        _kept[file] = found if isinstance(found, dict) else {}
    known = _kept[file]
    if source not in known:
        known = _kept[file] = {one: known[one] if one in known else make(one) for one in every}
        cache.write(file, known)
    return cast("T | None", known[source])


def _compiled(name: str, source: str, every: Iterable[str]) -> re.Pattern[str]:
    entry = _read_once(name, source, rules_cache.code, every)
    return (entry and rules_cache.made(source, entry)) or re.compile(source)


_LEAST = 2
"""Characters of a word that tells texts apart."""


def needed(source: str) -> tuple[str, ...]:
    """Words of which each text of ASCII that a pattern is found in holds one; none where nothing like that is known."""
    try:
        found = _needed(re._parser.parse(source))  # type: ignore[attr-defined]
    except (AttributeError, re.error, RecursionError):
        return ()
    if min(map(len, found), default=0) < _LEAST:
        return ()
    return tuple(sorted(one for one in found if one.isascii() and not any(less in one for less in found - {one})))


def _needed(parsed: Iterable[tuple[object, Any]]) -> set[str]:
    """The words of the part that tells most; a part that is looked ahead for or may be missing gives none."""
    candidates: list[set[str]] = []
    run = ""
    for part, of in parsed:
        if str(part) == "LITERAL":
            run += chr(of)
            continue
        candidates.append({run} if run else set())
        run = ""
        if str(part) == "SUBPATTERN":
            candidates.append(set() if of[1] else _needed(of[3]))
        elif str(part) == "BRANCH":
            each = [_needed(one) for one in of[1]]
            candidates.append(set().union(*each) if all(each) else set())
        elif str(part) in ("MAX_REPEAT", "MIN_REPEAT") and of[0]:
            candidates.append(_needed(of[2]))
    candidates.append({run} if run else set())
    return max(candidates, key=lambda words: (min(map(len, words), default=0), -len(words)))


def _alternatives(source: str) -> list[str]:
    """What stands between the bars of a pattern that are in no bracket."""
    out, start, depth, at, listed = [], 0, 0, 0, False
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 1
        elif listed:
            listed = char != "]"
        elif char == "|" and not depth:
            out.append(source[start:at])
            start = at + 1
        else:
            listed = char == "["
            depth += (char == "(") - (char == ")")
        at += 1
    return [*out, source[start:]]


def _at_words(alternatives: list[str]) -> str:
    """The alternatives as one pattern that looks for those that begin a word at the beginnings of words alone."""
    out = [one for one in alternatives if not one.startswith(_STARTS)]
    for start in _STARTS:
        found = [one.removeprefix(start) for one in alternatives if one.startswith(start)]
        if found:
            out.append(f"{start}(?:{'|'.join(found)})")
    return "|".join(out)


def _may_be_ascii(pattern: str) -> bool:
    return pattern.isascii() or re.search("[a-z0-9]", _SIGNS.sub("", pattern)) is not None


_STARTS = (r"\b", "^")
_SIGNS = re.compile(r"\\.|\(\?[:=!<]*|\{[\d,]*\}")


RULE = Cue(
    r"\b(?:from (?:now|here) on|going forward|henceforth|as a (?:general )?rule|full stop|no exceptions?|"
    r"under no circumstances|in (?:the )?future,)",
    r"\b(?:the|our|that'?s the|this is the|[\w-]+'?s') (?:rule|policy|convention|contract|invariant) (?:is|has to|must|"
    r"going|stays|that)\b",
    r"^(?:\W*(?:and|but|so|also|please|yes|no|ok(?:ay)?|well|hm+|right)\b\W*)*(?:never|always)\b(?! mind)",
    r"\b(?:must|should|shall|do|does|let'?s|please|to|will|would|ought to|we)\s+(?:\w+ )?(?:always|never)\b"
    r"(?! (?:\w+ing|got|had|seen?|heard|knew|know|found|did|was|were|been|happen|work|fail|get|use[ds]|said|thought))",
    r"\b(?:can|must|may|should) never\b|\bnever (?:ever|again)\b|\bdon'?t ever\b",
    r"\bmust (?:not|only|match|stay|remain|never|always)\b|\b(?:has|have) to stay\b",
    r"\b(?:on purpose|by design|not expected (?:that|to))\b",
    r"\b(?:is|are|stays?) (?:off the table|off limits|forbidden|pinned|mandatory|non-negotiable|not negotiable)\b",
    r"\b(?:immer|niemals|grundsätzlich|ausnahmslos|ab (?:jetzt|sofort)|künftig|in zukunft|von nun an|"
    r"auf keinen fall)\b",
    r"\b(?:sempre|nunca|jamais|a partir de agora|de agora em diante|daqui (?:em|pra) (?:diante|frente)|por regra|"
    r"em hipótese alguma)\b",
    r"\b(?:siempre|jamás|de ahora en adelante|a partir de ahora|en adelante|toujours|désormais|à partir de maintenant|"
    r"dorénavant)\b",
    r"앞으로(?:는|도)|항상|언제나|절대(?:로)?|무조건|반드시|이제부터",
    r"必ず|常に|いつも|絶対に?|今後は?|これからは|決して|原則として",
    r"以后都|今后|从现在(?:起|开始)|必须|永远|绝对不|一律|總是|总是",
)
"""A standing rule, said as one."""

CORRECTION = Cue(
    r"^\W*(?:no|nope|nah)\b(?! (?:problem|worries|idea|rush|luck|response|changes?|output|errors?))\s*[,.;:!—–-]"
    r"(?!\W*(?:this|that|it|all|everything)(?:'s| is) (?:fine|ok(?:ay)?|good|right|correct)|\W*(?:thanks|nothing))",
    r"^\W*(?:no|nope),? (?!(?:this|that|it|all)(?:'s| is) (?:fine|ok(?:ay)?|good|right|correct))(?:not|don'?t|it|"
    r"that|this|we|use|keep|the|remove|just|only|dual|clamp|i want|let'?s|do)\b",
    r"^\W*(?:almost|not quite|close,|nearly|careful|hold on|wait|actually)\b\s*[,.;:!—–-]",
    r"^\W*not (?:just|only|exactly|like|the|a|in|on|for|by|with|that|this|as)\b",
    r"^\W*only (?:on|in|for|when|if|the)\b.{0,60}\b(?:won'?t|isn'?t|doesn'?t|is not|not enough)\b",
    r"\b(?:the )?other way (?:a?round|about)?\b",
    r"\bdirection is right\b.*\bwrong\b|\bnot what i (?:meant|want|asked|said)\b",
    r"^\W*(?:(?:no|sorry|oh|ah|but|well|ok(?:ay)?)\b\W*)*i (?:meant|said)\b",
    r"\bi(?:'d| would) (?:rather|prefer)\b|\b(?:i|we) (?:prefer|want|need) .{1,80}\b(?:instead|rather than|not)\b",
    r"^\W*(?:nein|nee|doch nicht|nicht ganz|fast|stattdessen|andersherum|umgekehrt)\b|\bandersr?herum\b",
    r"^\W*(?:não|nao|quase|na verdade|pelo contrário|ao contrário)\b\s*[,.;:!—–-]|\bao contrário\b",
    r"^\W*(?:casi|en realidad|al revés|non|presque|en fait|plutôt)\b\s*[,.;:!—–-]|^\W*no, (?:usa|mejor|el|la|hay|"
    r"debe)\b",
    r"^\W*(?:아니(?:요|야|지|오)?|아뇨|거의)(?:[\s,.!]|$)|(?:가|이|은|는) 아니(?:라|고)|반대(?:로|예요|야)",
    r"^\W*(?:いいえ|いや|違う|違います|ちがう|惜しい)|逆(?:です|だ|に)",
    r"^\W*(?:不是?|不对|不要)[，,。 ]|反过来",
)
"""A person puts the agent right."""

CONTRAST = Cue(
    r"[,;—–-]\s*(?:and )?not (?!sure|yet|that i|only|just|really|necessarily|to mention|bad|working)\w+",
    r"\b(?:instead of|rather than|in favou?r of|as opposed to|over and above)\b",
    r"\band not (?:the |a |in |on |as )?\w+|\bno need (?:to|for)\b",
    r"\binstead\b(?=\s*[.!,)]|\s*$)",
    r"\bnot\b[^.?!]{1,60}\bbut\b (?:rather |as |to |the |a |in |on |with )?",
    r"\b(?:nicht|kein\w*)\b[^.?!]{1,80}\bsondern\b|\bstatt(?:dessen)?\b|\banstatt\b|,\s*nicht\s+\w+",
    r"\bem vez (?:de|do|da)\b|\bao invés\b|,\s*(?:e )?não\s+\w+",
    r"\ben (?:vez|lugar) de\b|\bau lieu de?\b|\bplutôt que\b|,\s*no\s+(?:el|la|los|las|un|una)\b|,\s*pas\s+\w+",
    r"말고|대신(?:에)?|이? ?아니라",
    r"ではなく|じゃなくて?|代わりに|かわりに",
    r"而不是|不要用|代替",
)
"""One thing is chosen and another is not."""

NORM = Cue(
    r"\b(?:must|has to|have to|needs? to|should(?:n'?t)?|shall|only|exactly|strictly?|at (?:most|least)|no more than|"
    r"never|always|always|no longer|deliberate(?:ly)?|by design|counts? as|is treated as|wins?|required|mandatory)\b",
    r"^\W*(?:(?:yes|yeah|right|ok(?:ay)?|no|and|but|so|then|also|just|please|well)\b\W*)*(?:keep|use|cap|drop|"
    r"strip|leave|"
    r"round|sort|treat|skip|ignore|prefer|normali[sz]e|encode|limit|require|reject|allow|count|stick|scope|make it|"
    r"go with|let'?s (?:go with|use|keep|do|not|stick)|don'?t)\b",
    r"\b(?:we|i) (?:decided|agreed|settled|chose|take|accept|also accept|want|keep|go with|stick)\b",
    r"^\W*(?:yes|no|never|neither|both|none|in|out|base|first|last)\b\W",
    r"\b(?:muss|müssen|soll(?:en|te)?|darf|dürfen|nur|genau|höchstens|mindestens|kein\w*|bleibt|nimm|nehmen wir|"
    r"verwende|benutze?|lass)\b",
    r"\b(?:deve[mr]?|só|somente|apenas|exatamente|no máximo|pelo menos|tem que|precisa|use|usar|mantenha|deixe)\b",
    r"\b(?:debe[ns]?|solo|sólo|como máximo|al menos|hay que|usa|doit|doivent|seulement|au plus|au moins|il faut)\b",
    r"(?:해야|하지 ?마|써야|만 |으로 하자|로 하자|로 해|쓰자|사용하자|사용해|안 ?돼|말아|유지)",
    r"(?:べき|ください|てはいけ|ないと|のみ|だけ|にしよう|にします|にして|を使っ|を使う|ましょう|禁止)",
    r"(?:应该|必须|只|不能|不要|用|保持|最多|至少)",
)
"""How things are to be."""

WISH = Cue(
    r"\b(?:should(?:n'?t)?|must|has to|have to|let'?s|i(?:'d| would)? (?:want|like|rather|prefer)|we (?:want|need|"
    r"accept|keep|use|take|go)|"
    r"i want|can we|could we|we removed|please)\b",
    r"^\W*(?:(?:yes|yeah|right|ok(?:ay)?|no|and|but|so|then|also|just|please|well|great|cool|sure)\b\W*)*(?:keep|"
    r"use|call|name|cap|drop|"
    r"strip|leave|round|sort|treat|skip|ignore|prefer|normali[sz]e|encode|limit|require|reject|allow|count|stick|"
    r"scope|make|go with|remove|"
    r"put|show|display|return|raise|log|store|write|measure|take|set|pass|match|compare|read|test|default|start|"
    r"do|instead of)\b",
    r"\b(?:soll(?:en|te)?|muss|müssen|nimm|nehmen|verwende|benutze?|lass|bitte|wir (?:nehmen|wollen))\b",
    r"\b(?:deve[mr]?|use|usar|vamos|quero|prefiro|mantenha|usa|debe|quiero|il faut|utilise)\b",
    r"(?:해야|하지 ?마|써야|하자|쓰자|사용|해 ?줘|해주세요|세요)|"
    r"(?:べき|ください|しよう|します|して|使)|(?:应该|必须|用|要|保持)",
)
"""How the speaker wants something to be."""

TASK = Cue(
    r"^\W*(?:(?:ok(?:ay)?|now|and|so|great|good|yes|yeah|then|also|please|alright|perfect|next|thanks?(?: you)?|"
    r"cool|nice|"
    r"first|can you|could you|would you|let'?s|go(?: ahead)? and|i want you to|you can|"
    r"we can)\b\W*)*(?:please )?(?:fix|add|commit|push|run|check|write|"
    r"create|implement|update|look|continue|review|explain|show|tell|investigate|debug|refactor|rename|move|"
    r"delete|remove|test|try|build|"
    r"install|merge|rebase|open|find|search|read|make sure|ensure|clean|start|stop|restart|evaluate|summari[sz]e|"
    r"analy[sz]e|verify|"
    r"validate|change|generate|improve|compare|describe|list|close|release|deploy|undo|revert|resolve|proceed|"
    r"do it|go ahead|help|"
    r"figure|see if|take a look|give me|copy|convert|replace|apply|extend|include|put|set|document|address|tidy|"
    r"simplify)\b"
)
"""A piece of work is asked for."""

AGREES = Cue(
    r"^\W*(?:yes|yep|yeah|yup|right|correct|exactly|precisely|confirmed|agreed|perfect|that'?s (?:it|right|"
    r"correct|the (?:one|rule|"
    r"plan|policy|decision|contract))|ship it|sounds good|looks good|lgtm|good|great|fine|ok(?:ay)?|sure|approved|"
    r"deal|makes sense|"
    r"works for me|settled|done deal)\b",
    r"^\W*(?:ja|genau|richtig|stimmt|passt|einverstanden|so machen wir(?:'s| es|das))\b",
    r"^\W*(?:sim|isso|exato|exatamente|certo|perfeito|combinado|confirmado|correto|fechado)\b",
    r"^\W*(?:sí|si|exacto|correcto|de acuerdo|vale|oui|exactement|d'accord|c'est ça|parfait)\b",
    r"^\W*(?:네|예|응|맞(?:아|습니다|아요)|좋(?:아|습니다|아요)|그렇게|확정)",
    r"^\W*(?:はい|うん|ええ|その通り|そうです|正しい|それで|了解|確定)",
    r"^\W*(?:对|是的|好的?|没错|正确|可以|就这样)",
)
"""A person agrees."""

RESTATES = Cue(
    r"\b(?:settled|recap|to be explicit(?:[,:]| about)|(?:just )?to confirm[,:]|in summary:? the (?:rule|policy)|"
    r"amending|superseding|"
    r"the (?:rule|policy|contract|decision|convention) (?:is|then|now|becomes)|(?:new|final|agreed) (?:rule|"
    r"policy|contract|"
    r"convention|semantics)|so the (?:rule|policy|contract))\b",
    r"\b(?:zusammengefasst|festgehalten|abgemacht|vereinbart|die regel (?:ist|lautet)|also gilt|somit gilt)\b",
    r"\b(?:resumindo|recapitulando|combinado|fica (?:assim|definido|decidido)|a regra (?:é|fica))\b",
    r"\b(?:resumiendo|queda (?:así|decidido)|la regla es|en résumé|c'est noté|la règle est)\b",
    r"정리하면|요약하면|규칙은|확정|합의|정하겠습니다",
    r"まとめると|確認(?:です|します|：|:)|ルールは|決定|方針は|整理すると",
    r"总结一下|规则是|确定|约定",
)
"""An agent says again what holds, for the person to confirm."""

TAKES = Cue(
    r"^\W*(?:understood|got it|noted|settled|agreed|confirmed|clear|makes sense|makes complete sense|will do|"
    r"recap|amending|"
    r"so[,:]? |so it is|then |ok(?:ay)?[,.:]|right[,.:—-]|you'?re (?:absolutely )?right|you are (?:absolutely )?right|"
    r"excellent|good (?:catch|point)|thanks for)\b",
    r"^[^.!?\n]{3,90}\b(?:it is|understood|noted|got it|then)\b",
    r"^\W*(?:verstanden|alles klar|notiert|abgemacht|gut[,.]|entendido|certo|combinado|anotado|compris|noté|"
    r"d'accord)\b",
    r"^\W*(?:알겠|네|이해|확인)|^\W*(?:了解|承知|わかり|分かり)|^\W*(?:明白|好的|了解)",
)
"""An agent takes something as settled."""

REVISES = Cue(
    r"\b(?:updates?|amendments?|changes?|revisions?|corrections?|follow-up) (?:to|of|after|on) (?:the|our|that|this)\b",
    r"\b(?:amend(?:s|ed|ing|ment)?|supersed\w+|overrul\w+|overrid(?:es?|ing) (?:the|our|what)|revis(?:e|ed|ing|it)|"
    r"no longer|used to|instead of the|we (?:settled|agreed|decided)|previously (?:settled|agreed|decided)|"
    r"chang(?:e|ed|ing) (?:our|my) minds?|old (?:rule|policy|cap|limit|behaviou?r|convention)|going forward|"
    r"from now on|replaces the|changes shape|as (?:we|i) (?:decided|agreed) (?:before|earlier|last)|anymore|"
    r"after all)\b",
    r"\b(?:nicht mehr|ab jetzt|ab sofort|künftig|doch lieber|bisherige\w*|alte (?:regel|grenze)|ersetzt)\b",
    r"\b(?:não (?:vale )?mais|a partir de agora|mudamos|mudei de ideia|de agora em diante|substitui|antiga regra)\b",
    r"\b(?:ya no|a partir de ahora|cambiamos|reemplaza|désormais|ne .{1,20} plus|remplace)\b",
    r"이제(?:는|부터)|더 이상|앞으로|변경|바꾸|대신",
    r"これからは|今後|もう.{1,12}ない|変更|やめて|に変え",
    r"不再|从现在|改为|改成|今后",
)
"""Something that held is changed."""

AMENDS = Cue(
    r"\b(?:updates?|amendments?|changes?|revisions?) (?:to|of|after) (?:the|our|that) [^.?!]{0,40}\b(?:policy|"
    r"rule|convention|decision|"
    r"contract|limit|spec|agreement|audit)\b|\b(?:amend(?:s|ed|ing|ment)?|supersed\w+|overrul\w+)\b",
    r"\b(?:we|i) (?:settled|agreed|decided)\b.{0,60}\b(?:ago|earlier|before|last|previously)\b|\bchang(?:e|ed|"
    r"ing) (?:our|my) minds?\b",
    r"\b(?:we|i) (?:don'?t|do not) (?:have|use|want|support|need)\b",
    r"\bdoch lieber\b|\bmudamos de ideia\b|\bmudei de ideia\b|\bcambiamos de idea\b|바꾸기로|に変更します|改为",
)
"""What was settled before is changed on purpose."""

POLICY_QUESTION = Cue(
    r"\b(?:should (?:i|we|it|the|that|those)|do (?:i|we|you want)|does (?:the|it|that)|"
    r"what'?s the (?:\w+ )?(?:rule|cap|limit|"
    r"line|policy|order|actual)|where'?s the line|which (?:one|position|of|wins|should|approach|option|way)|"
    r"how (?:many|long|much|"
    r"should|do)|keep|want (?:me|us|a|the|it) |would you (?:like|prefer|rather)|"
    r"(?:can|may|shall) (?:i|we)|in or out|before or after|did your|stays? |both|either|(?:use|drop|treat|strip|"
    r"switch|clamp|"
    r"validate|merge|split|new|log|allow|lowercase)\b[^?]*\bor)\b|\b(?:confirmed|right|correct|ok(?:ay)?|today|"
    r"first|then)\?",
    r"\b(?:soll(?:en|te)? (?:ich|wir)|welche\w*|wie (?:viele|lange|oft)|oder\b[^?]*\?|darf|muss)\b",
    r"\b(?:devo|devemos|qual|quantos?|quantas?|ou\b[^?]*\?|deve|posso|debería|cuántos?|cuál|dois-je|quel\w*|combien)\b",
    r"(?:할까요|될까요|인가요|어떤|몇|어느|하나요|습니까)",
    r"(?:ますか|ですか|でしょうか|どちら|いくつ|何回|べきか)",
    r"(?:吗|哪|几|还是|多少)",
)
"""A question whose answer says how something is to be."""

GO_AHEAD = Cue(
    r"\b(?:want me(?: to)?|would you like me to|should i|shall i|do you want me to|can i|may i|ready for me to|"
    r"like me to)"
    r"(?: now| also| go ahead and| then| just| proceed to| try to)? (?:proceed|continue|commit|push|run|fix|start|"
    r"go|implement|create|merge|"
    r"open|do|apply|make|write|help|investigate|look|check|clean|update|delete|remove|test|add|show|explain|dig|"
    r"draft|rebase|"
    r"resolve|address|stop|begin|move|also|elaborate|search|read)\b",
    r"\bdoes (?:the )?\S+ (?:look|feel|happen|occur|fail|mean)\b|\bis it (?:still|just|possible)\b|"
    r"\bdo you (?:remember|recall|have|see|know)\b",
    r"\b(?:can|could) you\b|(?:수정|진행|커밋|추가|실행|적용|반영)할까요",
    r"\b(?:anything else|what would you like|what'?s next|how can i|let me know|is there anything|does (?:this|"
    r"that) (?:look|work|"
    r"sound|help|make sense)|shall we|sounds? good\?|ready to|what do you (?:think|want)|could you (?:share|give|"
    r"provide|paste)|"
    r"what kind|are you (?:seeing|using|sure)|have you|did you|is your|any chance|what (?:error|version))\b",
)
"""A question that asks leave for the next piece of work, or for a fact: no answer to it is a decision by itself."""

ORDINARY = Cue(
    r"\b(?:error|traceback|exception|stack ?trace|severity|panic:|warning:|fail|broken|crash\w*|"
    r"exit code)\b"
)
"""A report of trouble."""

PREFERS = Cue(
    r"\b(?:i(?:'d| would)? (?:want|like) to|we(?:'ll| will| should)?|let'?s|i'?ll|please) (?:use|go (?:with|for)|"
    r"keep|stick "
    r"(?:with|to)) (?!this|it working|going|the following|me )\w+",
    r"\bi(?:'d| would) (?:rather|prefere?)\b|\bi prefere?\b|\bi like (?:the )?(?:option|approach|variant|first|"
    r"second|third|last|idea of)\b",
    r"\blieber\b|\b(?:eu )?prefiro\b|\bprefiero\b|\bje préfère\b|더 좋|(?:の)?(?:方|ほう)がいい|更好",
)
"""A preference, said as one."""

EXPERIENCE = Cue(
    r"\bwe (?:\w+ )?(?:shipped|tried|had|measured|removed|dropped|learned|agreed|decided|already)\b|\b(?:doesn'?t|"
    r"won'?t|can'?t|cannot) work\b",
    r"\bwir (?:hatten|haben)\b|\bjá (?:tentamos|tivemos)\b|\bya (?:probamos|tuvimos)\b|해 ?봤|試し|试过",
)
"""What people know from before, given as the reason against a proposal."""

KEEPS = Cue(
    r"^\W*(?:(?:yes|yep|yeah|right|ok(?:ay)?|exactly|good)\b\W*)+(?:leave|keep|stay|stick)\b|^\W*(?:leave|"
    r"keep) (?:it|this|that) (?:at|as|like|in|on)\b",
    r"^\W*(?:ja|genau)\W+(?:lass|bleib|behalt)|^\W*(?:sim|isso)\W+(?:deixa|mant)",
)
"""A value or a way is to stay as the agent has it now."""

EITHER = Cue(r"\b(?:or|oder|ou|o|versus|vs)\b|아니면|또는|それとも|または|还是")
"""A question that names the ways to go."""

REASON = Cue(
    r"\b(?:because|since|so that|otherwise|or (?:we|else|it)|the point is|that'?s (?:what|how|why)|"
    r"that is (?:what|why)|which is how)\b",
    r"\b(?:weil|damit|sonst|denn|porque|senão|para que|pois|parce que|sinon)\b|때문|니까|므로|ので|から|ため|因为|否则",
)

_TO_CHOOSE = (
    r"^\W*(?:(?:(?:let'?s|i(?:'d| would|'ll| think)?|we|yes|ok(?:ay)?|yeah|please|just)\b(?!['’])\W*)*(?P<verb>do|"
    r"go(?: (?:with|for))?|try|take|pick|use|choose|prefer|like|want)?\W*)?"
)
CHOICE = re.compile(
    _TO_CHOOSE
    + r"(?:the )?(?P<called>option |variant |approach |choice |number |nr\.? ?|#|opção |variante |옵션 ?|案)?"
    r"(?P<which>[1-9]|[b-e]|a(?(called)|(?! +(?!(?:please|because|and|but|is)\b)\w)))\b(?![.,]?\d|['’]\w)"
    r"(?P<rest>.{0,200})$",
    re.IGNORECASE | re.DOTALL,
)
"""One of the options that an agent listed; a bare "a" before a word is the article."""
CHOICE_OF = re.compile(
    _TO_CHOOSE + r"the (?P<words>\w[\w-]*(?: [\w-]+){0,2}?) (?:one|option|variant|approach|choice|way)\b"
    r"(?P<rest>.{0,200})$",
    re.IGNORECASE | re.DOTALL,
)
"""An option by its place in the list, or by a word that it alone has."""
PLACES = {
    "first": 0,
    "1st": 0,
    "second": 1,
    "2nd": 1,
    "third": 2,
    "3rd": 2,
    "fourth": 3,
    "4th": 3,
    "fifth": 4,
    "5th": 4,
}
OPTION = re.compile(
    r"^[ \t]*(?:\|[ \t]*)?(?:[-*#]+[ \t]*)?(?:\*\*)?(?P<label>(?:option |variant |approach )?(?P<which>[1-9]|"
    r"[A-Ea-e]))(?:\*\*)?(?:[ \t]*\([^)\n]{1,40}\))?(?:[.):]|[ \t]+[–—-](?=[ \t])|[ \t]*\|)[ \t*]+(?P<text>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
REFUSED = re.compile(
    r"^[^,.;:!\n]*?(?:\b(?:not|too|never|bad|worse|worst|wrong|why|how|what|explain|does|don'?t|cannot)\b|n't\b|\?)",
    re.IGNORECASE,
)
"""What is said of an option by whom it does not convince."""
OPTION_NAMED = re.compile(
    r"\b(?:option|variant|approach|alternative|opção|variante|옵션|案) ?(?P<which>[1-9a-e])\b", re.IGNORECASE
)
"""An option by its number or letter, anywhere in what a person says."""

REVIEW = Cue(
    r"\b(?:good catch|great catch|excellent catch|valid (?:\w+ )?(?:concern|point|feedback|issue)|let me (?:check|"
    r"look|fix|verify|investigate|see))\b"
)
"""How an agent takes up a reviewer's finding."""
