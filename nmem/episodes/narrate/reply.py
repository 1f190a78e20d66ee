"""Extracts from the agent's last reply to a request what was done, the answer to a question, and the summary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from nmem.conversation.cues import Cue
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prose import Sentence, clip, codes, plain, sentences, size, some, split, within, words
from nmem.episodes.narrate.turns import Superseded, Turn


def answer(turn: Turn) -> Sentence | None:
    """The first sentence of the closing that says something, before any list."""
    if not turn.closing or cues.LIMIT.match(turn.closing) or cues.DRAFT.search(turn.closing[:300]):
        return None
    held = ""
    for one in sentences(turn.closing)[:6]:
        if one.item or cues.QUESTION.search(one.text) or one.done:
            break
        if one.text.endswith((":", "：")):
            if size(one.text) < _SAYS or cues.TALK.match(one.text) or not _TELLS.match(one.text):
                break
            return Sentence(clip(one.text.rstrip(":： "), 240), one.label, raw=one.raw)
        if _GREEN.match(one.text) or (one.text[:1].islower() and not codes(one.raw)):
            continue
        if size(one.text) < 4 and not codes(one.raw):
            held = held or ("" if _hollow(one.text) else one.text)
            continue
        if cues.CHATTER.match(one.text) or (cues.TALK.match(one.text) and not cues.DONE.match(one.text)):
            continue
        head = f"{held} " if held and not cues.TALK.match(held) and len(held) < 24 else ""
        return Sentence(clip(head + one.text, 240), one.label, raw=one.raw)
    return Sentence(held, raw=held) if held and cues.DONE.match(held) else None


def _hollow(text: str) -> bool:
    """Whether a few words say no more than that all is well: "All clean."; a number or one word says more."""
    return size(text) > 1 and not any(map(str.isdigit, text)) and bool(cues.HOLLOW.match(text))


_SAYS = 8
_TELLS = re.compile(r"(?:now|if|when|each|every|both|all|it)\b", re.IGNORECASE)
"""How a sentence before an example begins that tells how things are now."""


def conclusion(turn: Turn, *, last: bool = False) -> str:
    """What a request that changed nothing was answered with: the first sentence with substance, with the list that it
    leads to, or of a text that was written for the person its heading and its first sentence; "" for none. The `last`
    one is what the work came to: it has more room, and the sentence that turns is told.
    """
    if not turn.closing or cues.LIMIT.match(turn.closing):
        return ""
    title = heading(turn.closing)
    said = sentences(turn.closing)[:40]
    code = _code_first(turn.closing)
    if len(said) <= _FEW and any(PROGRESS.search(one.text) for one in said):
        return ""
    brief = [one.text for one in takewhile(lambda one: size(one.text) < _BRIEF and not one.item, said[:2])]
    brief = [one for one in brief if not (_PRAISES.match(one) or _hollow(one) or one[-1] in ":：?")]
    head = " ".join([*brief, ""])
    for number, one in enumerate(said):
        if _passing(one, titled=bool(title)):
            continue
        lead = one.text.endswith((":", "："))
        talk = cues.TALK.match(one.text) and not cues.DONE.match(one.text) and not cues.DRAFT.search(one.text)
        if talk and not (lead and size(one.text) > _NOD):
            continue
        after = said[number + 1 :]
        if lead:
            if told := _led(one, after, _ITEMS + 2 * last):
                return clip(f"{code}{head}{told}", _ALL)
            continue
        if (one.text[:1].islower() and not codes(one.raw)) or _IF.match(one.text):
            continue
        said_first = _CONNECTS.sub("", one.text)
        said_first = said_first[:1].upper() + said_first[1:] if said_first != one.text else one.text
        room = _ALL - 60 if last else _ROOM
        text = code + clip(f"“{title}”: {one.text}" if title and number < _EARLY else head + said_first, room)
        turns = _turning(after, _ALL - len(text)) if last else ""
        text += _goes_on(text, said, after, _ALL - len(text) - len(turns))
        text += turns * (turns not in text)
        return text + _verdict(after, text, _ALL - len(text))
    return code.rstrip(": ")


def last_word(found: list[Turn], subjects: list[set[str]], *, checked: bool) -> str:
    """What the agent said at the very end, in a few words: the end that the work came to. "" where nothing was said, or
    no more than that something was committed, whose subjects these are. `checked`: how checks ended is told already.
    """
    turn = found[-1] if found else None
    if turn is None or not turn.closing or cues.LIMIT.match(turn.closing) or turn.stopped:
        return ""
    said = [one for one in _opening(turn.closing) if not (checked and cues.PASSES.search(one))]
    said = [one for one in said if not (turn.kept and _KEPT.search(one) and size(one) < _KEEPS)]
    told = [one for one in said if not _PROCESS.match(one)]
    told = told if size(" ".join(told)) >= _BRIEF else said
    whole = (
        told and _SAID_ALONE < len(told[0]) <= _LAST_WORD and not (_KEPT.search(told[0]) or cues.HOLLOW.match(told[0]))
    )
    told = told[:1] if whole and len(" ".join(told[:_FEW_SAID])) > _LAST_WORD else told
    text = clip(" ".join(told[:_FEW_SAID]), _LAST_WORD).replace("; ", ", ").rstrip(".")
    bag = words(text)
    retold = any(within(one, bag) >= _RETOLD for one in subjects)
    return "" if retold or size(text) < _FEW or PROGRESS.search(text) or cues.FLEETING.search(text) else text


def _opening(text: str) -> list[str]:
    """The sentences with which a text begins, each that says something: of a list its first item, a heading as well."""
    out: list[str] = []
    for line in [one.strip() for one in text.split("\n") if one.strip()][:_OPENS]:
        if line.startswith(("```", "|")):
            break
        item = _ITEM.match(line)
        if item and out:
            break
        bare = plain(line[item.end() :] if item else line.lstrip("#").strip())
        bare = bare.rstrip(":：") if size(bare) >= _BRIEF else bare
        out += [one if one[-1:] in ".!" else f"{one}." for one in split(bare) if _says(one, listed=bool(item))]
        if item or len(out) >= _FEW_SAID:
            break
    return out


def _says(text: str, *, listed: bool) -> bool:
    """Whether a sentence with which a text begins says something by itself."""
    return not (_ANNOUNCES.search(text) or cues.QUESTION.search(text) or (size(text) < _FEW and not listed))


_KEPT = re.compile(r"\b(?:commit|push)|커밋|コミット|com+it", re.IGNORECASE)
_KEEPS, _RETOLD, _LAST_WORD, _SAID_ALONE, _FEW_SAID, _OPENS = 7, 0.6, 150, 60, 2, 8
_ITEM = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s+")
_ANNOUNCES = re.compile(
    r"\bhere(?:['’]s| is| are)\b|^(?:(?:a |the )?(?:summary|overview|changes made|files changed)\b"
    r"|let me\b|i['’]ll\b)|[:：]$",
    re.IGNORECASE,
)
"""Leads to what stands below it."""
_PROCESS = re.compile(
    r"i(?:['’]ve| have)? (?:now |thoroughly |carefully )*"
    r"(?:reviewed|checked|looked|analy[sz]ed|read|went|examined|investigated|explored|compared)\b",
    re.IGNORECASE,
)
"""Tells how something was found, not what."""


def _turning(after: list[Sentence], room: int) -> str:
    """The sentence of an answer that limits or turns what it began with; "" for none."""
    turned = (one.text for one in after if _TURNS.match(one.text) and size(one.text) >= _BRIEF)
    text = next((one for one in turned if len(one) < room - 1 and one[-1] not in "?:："), "")
    return f" {text}" if text else ""


_TURNS = re.compile(
    r"(?:but|however|that said|on the other hand|the other (?:half|part|one)|the (?:catch|exception)|except|still,"
    r"|porém|mas|allerdings|aber|jedoch)\b|하지만|그러나|ただし|しかし",
    re.IGNORECASE,
)


def _led(one: Sentence, after: list[Sentence], most: int) -> str:
    """A sentence that leads to something, with that; without it where the sentence says enough; else ""."""
    if rest := _listed(after, most):
        return f"{one.text} {rest}"
    if size(one.text) < _SAYS or _REFERS.match(one.text) or _HERE.search(one.text):
        return ""
    return one.text.rstrip(":： ") + "." + _more(after, _ALL - len(one.text))


def _goes_on(text: str, said: list[Sentence], after: list[Sentence], room: int) -> str:
    """What follows the first sentence of an answer: sentences, else its parts by their headings, else a list."""
    if more := _more(after, room):
        return more
    if len(parts := _parts(said)) > _FEW:
        return f" (in parts: {some(parts, _PARTS, '; ')})"
    rest = _listed(after) if size(text) < _NOD + 1 else ""
    return f" {rest}" if rest else ""


def _verdict(said: list[Sentence], told: str, room: int) -> str:
    """What a long answer comes to: the sentence near its end that recommends or sums up; "" where it is told."""
    if len(said) < _LONG:
        return ""
    for one in said[-_NEAR:]:
        if _VERDICT.search(one.text) and _BRIEF <= size(one.text) <= _WHOLE and not cues.QUESTION.search(one.text):
            text = one.text.rstrip(":：")
            return f" […] {text}" if text not in told and len(text) < room and one.text[-1] not in ":：" else ""
    return ""


_LONG, _NEAR, _WHOLE = 8, 10, 50
_VERDICT = re.compile(
    r"\b(?:recommend\w*|verdict|conclusion|overall|bottom line|in short|in summary"
    r"|i(?:'d|’d| would) (?:go|pick|choose|keep|say|suggest|start|use|lean|prefer)"
    r"|my (?:instinct|take|pick|preference)|best (?:option|choice|approach)|effort"
    r"|recomendo|empfehle|fazit)\b|추천|권장|결론|おすすめ|推奨|結論",
    re.IGNORECASE,
)


def _code_first(text: str) -> str:
    """The few lines of code that an answer begins with, and a colon; "" for none."""
    found = _FENCED.match(text.lstrip())
    lines = [line.strip() for line in found[1].strip().split("\n")] if found else []
    told = " ".join(lines)
    return f"`{told}`: " if told and len(lines) <= _FEW and len(told) <= _ROOM and "`" not in told else ""


def _parts(said: list[Sentence]) -> list[str]:
    """The headings that a long answer is divided by."""
    named = dict.fromkeys(_NUMBER.sub("", each.label.split(" / ", 1)[0]) for each in said)
    return [one for one in named if len(words(one)) > 1]


_PARTS = 5
_HERE = re.compile(r"\b(?:here|below|following|these|follows?|options?)\b|다음|以下|seguint", re.IGNORECASE)
"""Words by which a sentence points to what stands below it."""
_FENCED = re.compile(r"```\w*\n(.{4,600}?)\n```", re.DOTALL)


def _more(said: list[Sentence], room: int) -> str:
    """What goes on with an answer, as far as it fits: whole sentences, and the list that they lead to."""
    out = ""
    for number, one in enumerate(said[:_GOES_ON]):
        lead = one.text.endswith((":", "："))
        if one.item or cues.QUESTION.search(one.text) or one.text.endswith("…") or cues.TALK.match(one.text):
            break
        if size(one.text) < _BRIEF or _passing(one, titled=False):
            continue
        after = said[number + 1 : number + 2]
        rest = _listed(said[number + 1 :]) if lead and after and after[0].item else ""
        if lead and not (rest or cues.BROKEN.search(one.text)):
            continue  # what it leads to is a picture or code
        text = f"{one.text} {rest}" if rest else one.text.rstrip(":：") + "." * lead
        if len(out) + len(text) >= room:
            break
        out += f" {text}"
        if rest:
            break
    return out


_ROOM, _ALL, _GOES_ON, _NOD, _EARLY, _ITEMS = 260, 560, 6, 9, 4, 3


def _passing(one: Sentence, *, titled: bool) -> bool:
    """A question, an item, a nod, how far something is: no answer by itself."""
    if one.item or size(one.text) < _BRIEF or cues.QUESTION.search(one.text) or _PROCESS.match(one.text):
        return True
    if (
        cues.HOLLOW.match(one.text)
        or _GREEN.match(one.text)
        or PROGRESS.search(one.text)
        or (cues.CHATTER.match(one.text) and not titled)
    ):
        return True
    return bool(_NODS.match(one.text)) and size(one.text) < _NOD


_BRIEF, _FEW = 5, 3
PROGRESS = Cue(
    r"(?:minutes?|seconds?|hours?|min|%|[kmg]b|done|complete|running)\W+so far\b|\balmost (?:there|done)\b"
    r"|\bstill (?:running|waiting|going|in progress|downloading|building)\b"
    r"|\bwhile we wait\b"
)
"""Something goes on: how far it is, is out of date when it is read."""
_IF = re.compile(r"(?:if|when|once|unless|otherwise|then|so|but|and|plus|also)\b", re.IGNORECASE)
"""How a sentence begins that hangs on another one."""
_CONNECTS = re.compile(
    r"(?:however|therefore|thus|overall|in short|in summary|unfortunately|note that)[,:]? ", re.IGNORECASE
)
_PRAISES = re.compile(
    r"(?:exactly|right|great|good|nice|perfect|excellent|interesting|absolutely|ah|oh|fair|that'?s|you'?re|sure|done"
    r"|now|i |let|here|analysis (?:complete|done)|found)\b",
    re.IGNORECASE,
)
_NODS = re.compile(
    r"(?:exactly|right|correct|yes|no|yeah|true|indeed|great|good|nice|perfect|excellent|interesting|absolutely|ah|oh"
    r"|fair|you raise|you'?re (?:absolutely |totally )?(?:right|correct)|that'?s (?:a|an|the)|this is (?:a|an)"
    r"|네|맞|はい|そうです|sim|exato)\b",
    re.IGNORECASE,
)


def account(turn: Turn) -> str:
    """How the agent summed up a request that files were edited for: the sentence or the list that says what was done,
    where there is none the first that tells something; "" for none.
    """
    if not turn.closing or cues.LIMIT.match(turn.closing) or cues.DRAFT.search(turn.closing[:300]):
        return ""
    said = sentences(turn.closing)
    if said and not turn.edited and cues.QUESTION.search(said[-1].text):
        return ""  # what may be done, not what was
    told = list(_summed(said[:_SUMMED]))
    return next((text for text, done in told if done), told[0][0] if told else "")


def _summed(said: list[Sentence]) -> Iterator[tuple[str, bool]]:
    """(a sentence or list of a summary, whether it says what was done), each list once."""
    listing = False
    for number, one in enumerate(said):
        if listing and one.item:
            continue
        lead = one.text.endswith((":", "：")) and not one.item
        listing = one.item or (lead and number + 1 < len(said) and said[number + 1].item)
        if listing:
            found = said[number + lead :]
            items = _items(found)
            telling = lead and not cues.TALK.match(one.text) and len(words(one.text)) > _BRIEF
            label = found[0].label
            done = bool(cues.DONE.match(found[0].text)) or bool(label and cues.DONE_LABEL.search(label))
            if items:
                yield clip(f"{one.text} {items}" if telling else items, _ALL), done
            continue
        if lead or _passing(one, titled=False) or _IF.match(one.text) or _REFERS.match(one.text):
            continue
        done = bool(cues.DONE.match(one.text) or cues.DONE_ANY.search(one.text))
        if done or not (cues.TALK.match(one.text) or _HEDGES.search(one.text)):
            yield clip(one.text, _ROOM) + _more(said[number + 1 :], _ALL - len(one.text)), done


def _items(said: list[Sentence]) -> str:
    """The first items of a summary that tell something, each with what it is about; not those below "next steps"."""
    items: dict[str, None] = {}
    name = ""
    apart = len({one.label for one in said[:_ITEMS] if one.item}) > 1
    for one in takewhile(lambda one: one.item, said):
        text = one.text.rstrip(".:：")
        if " " not in text:
            named = one.label.rsplit(" / ", 1)[-1] if " / " in one.label else ""
            if named:
                items[f"{_titled(named)}: {text}"] = None
            else:
                name = f"{text}: "
            continue
        own = one.label.rsplit(" / ", 1)[-1] if apart else ""
        own = _NUMBER.sub("", own)
        said_so = not own or cues.DONE_LABEL.search(own) or text.lower().startswith(own)
        about = "" if said_so else f"{_titled(own)}: "
        under = one.label and cues.LEFT_LABEL.search(one.label)
        least = 2 if one.done == "|" else 1
        if not (under or cues.QUESTION.search(text) or cues.HOLLOW.match(text)) and len(words(text)) > least:
            items[name + about + clip(text, 120)] = None
            name = ""
    return _some(list(items), _ITEMS + 1)


def _titled(label: str) -> str:
    """A label as the beginning of a line; the name of a file stays as it is."""
    return label if "." in label.split(" ", 1)[0] else label[:1].upper() + label[1:]


_HEDGES = re.compile(
    r"\b(?:might|maybe|perhaps|probably|likely|may be|could be|not sure|talvez|provavelmente|vielleicht|vermutlich)\b"
    r"|아마|かもしれ|おそらく",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\d{1,2}[.)] ")
_SUMMED = 25
_REFERS = re.compile(r"(?:this|that|these|those|it|they)\b", re.IGNORECASE)


def heading(text: str) -> str:
    """The title that a text begins with; "" where it begins with a sentence, or with a name for any text."""
    found = _HEAD.match(text.lstrip())
    name = plain(found[1]).rstrip(":") if found else ""
    return clip(name, 90) if len(words(name)) > 1 else ""


_HEAD = re.compile(r"#{1,3}[ \t]+(.{4,200})")


def _listed(said: list[Sentence], most: int = _ITEMS) -> str:
    """The first items of a list, or the first sentence below a heading, that a lead is followed by."""
    items: list[str] = []
    for one in said:
        if one.item and (size(one.text) > 1 or codes(one.raw) or one.text[-1] == "…"):
            items.append(clip(one.text.rstrip("."), 90))
        elif not (items or one.item):
            return "" if one.text.endswith((":", "：")) or cues.QUESTION.search(one.text) else one.text
        elif not one.item:
            break
    return _some(items, most)


def _some(items: list[str], most: int) -> str:
    """Joins the first items of a list and says that more follow; a last item cut to almost nothing is dropped."""
    cut = bool(items) and items[-1][-1] == "…" and size(items[-1]) <= _FEW
    items = items[: len(items) - cut]
    return some(items, most, "; ") + " and more" * (cut and 0 < len(items) <= most)


_GREEN = re.compile(
    r"(?:all )?(?:the )?(?:tests|checks|lint|build)\b.{0,30}\b(?:pass|green|clean)\w*\b.{0,30}$", re.IGNORECASE
)


def answers(found: list[Turn], gone: Superseded) -> list[tuple[Turn, Sentence]]:
    """What was said of turns that changed something, in order."""
    did: list[tuple[Turn, Sentence]] = []
    for turn in found:
        one = answer(turn)
        if one is None or gone(turn.number, one.text):
            continue
        if turn.changed and (turn.edited or cues.DONE.match(one.text) or cues.DONE_ANY.search(one.text)):
            did.append((turn, one))
    return did
