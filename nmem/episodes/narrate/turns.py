"""An episode request by request: what was asked, what was done for it, and what the agent said in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nmem.episodes.narrate import cues
from nmem.episodes.narrate.checks import judged
from nmem.episodes.narrate.corrections import Correction
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import Sentence, clip, plain, sentences
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode
from nmem.episodes.narrate.words import alike, codes, size, words

_WEIGHT = {
    "file_edit": 2.0, "file_write": 2.0, "git_commit": 2.0, "git_push": 2.0, "task_spawn": 2.0, "test": 0.5,
    "github": 0.3, "install": 1.0, "plan": 1.0,
}  # fmt: skip
_LOOKS = frozenset(("file_read", "search", "web_search", "web_fetch"))
_DIES = 0.3
"""The share of words with a corrected text from which an older sentence is taken to speak of the same."""


@dataclass(slots=True)
class Turn:
    """One request with its work."""

    number: int
    ask: Ask
    actions: list[Action] = field(default_factory=list)
    closing: str = ""
    """The last thing that the agent said to the user for it."""
    thoughts: list[str] = field(default_factory=list)
    stopped: bool = False
    """The user broke it off: nothing was completed, whatever the agent said last."""

    @property
    def weight(self) -> float:
        """How much it changed."""
        return sum(_WEIGHT.get(one.obs_type, 0.15) for one in self.actions if one.outcome != FAILED and not one.halted)

    @property
    def changed(self) -> bool:
        """Whether a file, a commit or something outside was changed for it."""
        return any(_changes(one) for one in self.actions)

    @property
    def lasting(self) -> bool:
        """Whether more was changed for it than that work was handed on: what subagents found is told in the answer."""
        return any(_changes(one) and one.obs_type != "task_spawn" for one in self.actions)

    @property
    def tried(self) -> bool:
        """Whether a change was begun for it that was refused or broken off: it was asked for all the same."""
        return any(one.halted and _WEIGHT.get(one.obs_type, 0) >= 1.0 for one in self.actions)

    @property
    def edited(self) -> bool:
        """Whether files were changed or committed for it."""
        return any(_changes(one) and one.obs_type in ("file_edit", "file_write", "git_commit") for one in self.actions)

    @property
    def verified(self) -> bool:
        """Something was edited, and a check passed after it."""
        edited = False
        good = False
        for one in self.actions:
            if one.obs_type in ("file_edit", "file_write") and one.outcome != FAILED and not one.halted:
                edited, good = True, False
            elif one.obs_type in ("test", "build", "lint") and (verdict := judged(one)) is not None:
                good = edited and verdict
        return good

    @property
    def kept(self) -> bool:
        """The last change that was made for it is a commit or a push."""
        last = next((one for one in reversed(self.actions) if _changes(one)), None)
        return last is not None and last.obs_type in ("git_commit", "git_push")


def _changes(one: Action) -> bool:
    return one.outcome != FAILED and not one.halted and _WEIGHT.get(one.obs_type, 0) >= 1.0


def turns(episode: Episode, asks: list[Ask]) -> list[Turn]:
    """All requests in order."""
    out = [Turn(number, ask) for number, ask in enumerate(asks)]
    for action in episode.actions:
        if (number := episode.turn(action.at)) >= 0:
            out[number].actions.append(action)
    thoughts = [one for one in episode.sayings if one.kind == "thinking"]
    for saying in [*thoughts, *episode.closings()]:
        if (number := episode.turn(saying.at)) < 0:
            continue
        if saying.kind == "thinking":
            out[number].thoughts.append(saying.text[:2000])
        elif size(saying.text) > 0:
            out[number].closing = saying.text
    for stop in episode.stops:
        if (number := episode.turn(stop)) >= 0:
            out[number].stopped = not out[number].closing
    return out


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
            held = held or one.text
            continue
        if cues.CHATTER.match(one.text) or (cues.TALK.match(one.text) and not cues.DONE.match(one.text)):
            continue
        head = f"{held} " if held and not cues.TALK.match(held) and len(held) < 24 else ""
        return Sentence(clip(head + one.text, 240), one.label, raw=one.raw)
    return Sentence(held, raw=held) if held and cues.DONE.match(held) else None


_SAYS = 8
_TELLS = re.compile(r"(?:now|if|when|each|every|both|all|it)\b", re.IGNORECASE)
"""How a sentence before an example begins that tells how things are now."""


def conclusion(turn: Turn) -> str:
    """What a request that changed nothing was answered with: the first sentence with substance, with the list that it
    leads to, or of a text that was written for the person its heading and its first sentence; "" for none.
    """
    if not turn.closing or cues.LIMIT.match(turn.closing):
        return ""
    title = heading(turn.closing)
    said = sentences(turn.closing)[:40]
    code = _code_first(turn.closing)
    if len(said) <= _FEW and any(PROGRESS.search(one.text) for one in said):
        return ""
    short = said[0].text if said and size(said[0].text) < _BRIEF and not said[0].item else ""
    head = f"{short} " if short and not _PRAISES.match(short) and not short.endswith((":", "：", "?")) else ""
    for number, one in enumerate(said):
        if _passing(one, titled=bool(title)):
            continue
        lead = one.text.endswith((":", "："))
        talk = cues.TALK.match(one.text) and not cues.DONE.match(one.text) and not cues.DRAFT.search(one.text)
        if talk and not (lead and size(one.text) > _NOD):
            continue
        if lead:
            if not (rest := _listed(said[number + 1 :])):
                if size(one.text) < _SAYS or _REFERS.match(one.text) or _HERE.search(one.text):
                    continue
                return code + head + one.text.rstrip(":： ") + "." + _more(said[number + 1 :], _ALL - len(one.text))
            return clip(f"{code}{head}{one.text} {rest}", _ALL)
        if (one.text[:1].islower() and not codes(one.raw)) or _IF.match(one.text):
            continue
        said_first = _CONNECTS.sub("", one.text)
        said_first = said_first[:1].upper() + said_first[1:] if said_first != one.text else one.text
        text = code + clip(f"“{title}”: {one.text}" if title and number < _EARLY else head + said_first, _ROOM)
        more = _more(said[number + 1 :], _ALL - len(text))
        if not more and len(parts := _parts(said)) > _FEW:
            more = f" (in parts: {'; '.join(parts[:_PARTS])})"
        if not more and size(text) < _NOD + 1 and (rest := _listed(said[number + 1 :])):
            more = f" {rest}"
        return text + more
    return code.rstrip(": ")


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
    if one.item or size(one.text) < _BRIEF or cues.QUESTION.search(one.text):
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
PROGRESS = re.compile(
    r"\bso far\b|\balmost (?:there|done)\b|\bstill (?:running|waiting|going|in progress|downloading|building)\b"
    r"|\bwhile we wait\b",
    re.IGNORECASE,
)
"""Something goes on: how far it is, is out of date when it is read."""
_IF = re.compile(r"(?:if|when|once|unless|otherwise|then|so|but|and|plus|also)\b", re.IGNORECASE)
"""How a sentence begins that hangs on another one."""
_CONNECTS = re.compile(
    r"(?:however|therefore|thus|overall|in short|in summary|unfortunately|note that)[,:]? ", re.IGNORECASE
)
_PRAISES = re.compile(
    r"(?:exactly|right|great|good|nice|perfect|excellent|interesting|absolutely|ah|oh|fair|that'?s|you'?re|sure|done"
    r"|now|i |let|here|analysis complete|found)\b",
    re.IGNORECASE,
)
_NODS = re.compile(
    r"(?:exactly|right|correct|yes|no|yeah|true|indeed|great|good|nice|perfect|excellent|interesting|absolutely|ah|oh"
    r"|fair|you'?re (?:absolutely |totally )?(?:right|correct)|that'?s (?:a|an|the)|this is (?:a|an)"
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
    for one in said:
        if not one.item or len(items) == _ITEMS + 1:
            break
        text = one.text.rstrip(".:：")
        if " " not in text:
            named = one.label.rsplit(" / ", 1)[-1] if " / " in one.label else ""
            if named:
                items[f"{named[:1].upper()}{named[1:]}: {text}"] = None
            else:
                name = f"{text}: "
            continue
        own = one.label.rsplit(" / ", 1)[-1] if apart else ""
        own = _NUMBER.sub("", own)
        said_so = not own or cues.DONE_LABEL.search(own) or text.lower().startswith(own)
        about = "" if said_so else f"{own[:1].upper()}{own[1:]}: "
        under = one.label and cues.LEFT_LABEL.search(one.label)
        if not (under or cues.QUESTION.search(text) or cues.HOLLOW.match(text)) and len(words(text)) > 1:
            items[name + about + clip(text, 120)] = None
            name = ""
    return "; ".join(items)


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


def _listed(said: list[Sentence]) -> str:
    """The first items of a list, or the first sentence below a heading, that a lead is followed by."""
    items: list[str] = []
    for one in said[:8]:
        if one.item and size(one.text) > 1:
            items.append(clip(one.text.rstrip("."), 90))
        elif not items:
            return "" if one.text.endswith((":", "：")) or cues.QUESTION.search(one.text) else one.text
        else:
            break
        if len(items) == _ITEMS:
            break
    return "; ".join(items)


_GREEN = re.compile(
    r"(?:all )?(?:the )?(?:tests|checks|lint|build)\b.{0,30}\b(?:pass|green|clean)\w*\b.{0,30}$", re.IGNORECASE
)


def _thought(turn: Turn) -> Sentence | None:
    """Where a turn ends without a word to the user: what the agent noted as done, in its thinking."""
    for text in reversed(turn.thoughts[-3:]):
        for one in sentences(text)[:3]:
            if _MADE.match(one.text) and size(one.text) >= 4 and not cues.QUESTION.search(one.text):
                return Sentence(clip(one.text, 200), raw=one.raw)
    return None


_MADE = re.compile(
    r"(?:good[,!.] )?(?:now )?i(?:'ve|’ve| have) (?:now |just )?"
    r"(?:add|updat|chang|remov|fix|renam|replac|creat|increas|set)",
    re.IGNORECASE,
)


def unanswered(episode: Episode, asks: list[Ask]) -> bool:
    """The last request got neither an answer, nor work that a check then passed or that was committed."""
    if not episode.prompts:
        return False
    said = max((one.at for one in episode.closings()), default=0)
    if said >= episode.prompts[-1].at:
        return False
    found = turns(episode, asks)
    return not (found and (found[-1].verified or found[-1].kept))


_STILL = re.compile(r"\W*(?:still|same|again|ainda|여전히|まだ)", re.IGNORECASE)
"""It goes on: what was said may be right and not enough."""


class Superseded:
    """What the user's corrections have overtaken: the corrected turn, and older words on the same matter."""

    __slots__ = ("_older", "_turns")

    def __init__(self, found: list[Turn], corrected: list[Correction]) -> None:
        self._turns: set[int] = set()
        self._older: list[tuple[int, set[str]]] = []
        for one in corrected:
            if one.error or _STILL.match(one.text) or not 0 < one.turn <= len(found):
                continue
            before = found[one.turn - 1]
            self._turns.add(one.turn - 1)
            for earlier in range(one.turn - 1, 0, -1):  # a bare "yes" went on with what was said before it
                if found[earlier].ask.kind not in ("terse", "empty"):
                    break
                self._turns.add(earlier - 1)
            self._older.append((one.turn - 1, words(one.text) | words(before.closing[:3000])))

    def __call__(self, turn: int, text: str) -> bool:
        """Whether a sentence of a turn no longer holds."""
        if turn in self._turns:
            return True
        bag = words(text)
        return any(turn < at and (len(bag & known) >= max(3, _DIES * len(bag))) for at, known in self._older)


def complaint(found: list[Turn]) -> str:
    """What the user came back with again and again, with the cause that was named after the last time; "" for none."""
    told: list[tuple[Turn, str, set[str]]] = []
    for turn in found[1:]:
        text = " ".join(turn.ask.sentences[:3])[:300]
        if turn.ask.kind in ("text", "terse", "command") and cues.COMPLAINT.search(text):
            told.append((turn, text, words(text)))
    best: list[tuple[Turn, str, set[str]]] = []
    for last in told:
        same = [one for one in told if one[0].number <= last[0].number and (one[2] & last[2] or one is last)]
        if len(same) >= 2 and len(same) >= len(best):
            best = same
    if not best:
        return ""
    last_turn, text = best[-1][0], best[-1][1]
    cause = _cause_after(found[last_turn.number :])
    return f"The user reported it {len(best)} times: “{clip(text, 120)}”" + (f" — {cause}" if cause else "")


def _cause_after(found: list[Turn]) -> str:
    """What the closings from there on name as the cause, or else as the remedy."""
    said = [one for turn in found for one in sentences(turn.closing) if 5 <= size(one.text) <= 50]
    for cue in (cues.PROBLEM, cues.STRONG, cues.BROKEN):
        for number, one in enumerate(said):
            if cue.search(one.text) and not cues.QUESTION.search(one.text) and not cues.CHATTER.match(one.text):
                more = said[number + 1].text if size(one.text) < 14 and number + 1 < len(said) else ""
                return clip(f"{one.text} {more}".strip(), 220)
    return ""


def in_vain(found: list[Turn]) -> str:
    """What was looked for and not found: a turn that only searched, for something the request names."""
    for turn in reversed(found):
        done = [one for one in turn.actions if not one.halted]
        looked = [one for one in done if one.obs_type in _LOOKS or _searches(one)]
        if len(looked) < 4 or len(looked) < 0.6 * len(done) or turn.changed:
            continue
        names = _named(turn.ask)
        missing = [name for name in names if not any(_shows(one, name) for one in looked)]
        if not missing:
            continue
        said = next((one.text for one in sentences(turn.closing)[:12] if cues.NOT_FOUND.search(one.text)), "")
        if turn.closing and not any(words(name) & words(said) for name in missing):
            continue
        if not turn.closing and (turn is not found[-1] or len(looked) < 8):
            continue
        tail = "" if turn.closing else "; the session broke off"
        what = ", ".join(missing[:2])
        return f"{what}, named in the request, was not found after {len(looked)} searches and readings{tail}"
    return ""


def _searches(one: Action) -> bool:
    families = one.metadata.get("families")
    return isinstance(families, list) and bool({"read", "search"} & set(families))


def _named(ask: Ask) -> list[str]:
    text = " ".join((*ask.sentences, ask.title))
    return sorted(
        (one for one in codes(text) if len(one) > 4 and not one.startswith("-") and _NAME.search(one)), key=len
    )[-3:]


_NAME = re.compile(r"\.\w{1,5}$|_|\(")


def _shows(one: Action, name: str) -> bool:
    """Whether a search or a reading came upon the name."""
    if one.outcome != OK:
        return False
    if one.obs_type == "file_read" and one.file_path.lower().endswith(name):
        return True
    return name in one.response.lower()


def answers(found: list[Turn], gone: Superseded) -> list[tuple[Turn, Sentence]]:
    """What was said of turns that changed something, in order."""
    did: list[tuple[Turn, Sentence]] = []
    for turn in found:
        silent = turn.changed and not turn.closing and not turn.stopped
        one = answer(turn) or (_thought(turn) if silent else None)
        if one is None or gone(turn.number, one.text):
            continue
        if turn.changed and (turn.edited or cues.DONE.match(one.text) or cues.DONE_ANY.search(one.text)):
            did.append((turn, one))
    return did


def distinct(found: list[str], share: float = 0.6) -> list[str]:
    """Texts that do not repeat an earlier one."""
    kept: list[tuple[str, set[str]]] = []
    for text in found:
        bag = words(text)
        if all(alike(bag, other) < share for _, other in kept):
            kept.append((text, bag))
    return [text for text, _ in kept]
