"""Splits an episode into requests with their tool calls and answers; finds corrections, refusals and complaints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nmem.conversation.cues import Cue
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.checks import families, judged
from nmem.episodes.narrate.prompts import Ask, read
from nmem.episodes.narrate.prose import alike, clip, plain, sentences, size, words
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode

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


def acts(one: Action) -> bool:
    """Whether a call did more than look: a command, or a verb of git or the forge that changes something."""
    if one.outcome != OK or one.halted:
        return False
    if one.obs_type in _EITHER:
        return _alters(one)
    return one.obs_type in ("command", "install", "mcp_call") and not _searches(one)


def looks(one: Action) -> bool:
    """Whether a call can do no more than look: a reading, a search, a question to git or the forge."""
    return not _alters(one) if one.obs_type in _EITHER else one.obs_type in _LOOKS or _searches(one)


def _alters(one: Action) -> bool:
    """Whether a line of git or the forge has a verb that changes something."""
    return bool(_ACTS.search(_QUOTED.sub("", one.content[:2_000])))


_EITHER = ("git_other", "github")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_ACTS = re.compile(
    r"\bgit (?:-C \S+ )?(?:switch|checkout|pull|merge|rebase|reset|cherry-pick|revert|clean|rm|mv|tag \w|clone|init"
    r"|stash(?: pop| apply| drop|$)|branch (?:-[dDmM]|--delete)|worktree (?:add|remove|prune)"
    r"|remote (?:add|set-url|remove))\b"
    r"|\bgh (?:pr|issue|release|repo|workflow|run|gist) "
    r"(?:create|merge|close|comment|review|edit|reopen|run|rerun|delete)\b"
)


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


def unanswered(episode: Episode, asks: list[Ask]) -> bool:
    """The last request got neither an answer, nor work that a check then passed or that was committed."""
    if not episode.prompts:
        return False
    said = max((one.at for one in episode.closings()), default=0)
    if said >= episode.prompts[-1].at:
        return False
    found = turns(episode, asks)
    return not (found and (found[-1].verified or found[-1].kept))


def without_last_commands(episode: Episode) -> Episode:
    """An episode without commands to the client itself at its end: they ask the agent for nothing."""
    prompts = list(episode.prompts)
    worked = max([0, *(one.at for one in episode.actions), *(one.at for one in episode.closings())])
    while len(prompts) > 1 and prompts[-1].at > worked and _CLIENTS.fullmatch(prompts[-1].text.strip()):
        prompts.pop()
    return replace(episode, prompts=tuple(prompts)) if len(prompts) < len(episode.prompts) else episode


_CLIENTS = re.compile(
    r"/(?:plan|clear|compact|model|exit|quit|context|usage|cost|resume|login|logout|help|config|status|doctor|mcp|memory"
    r"|agents|hooks|permissions|rewind|fast|effort|theme|vim|ide|add-dir|export|bashes|tasks|upgrade|plugin)"
)


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


def _searches(one: Action) -> bool:
    return not {"read", "search"}.isdisjoint(families(one))


def distinct(found: list[str], share: float = 0.6) -> list[str]:
    """Texts that do not repeat an earlier one."""
    kept: list[tuple[str, set[str]]] = []
    for text in found:
        bag = words(text)
        if all(alike(bag, other) < share for _, other in kept):
            kept.append((text, bag))
    return [text for text, _ in kept]


@dataclass(frozen=True, slots=True)
class Correction:
    """One prompt that said the work was not right."""

    turn: int
    text: str
    error: bool = False
    """The user pasted an error that the work had left or made."""


def corrections(asks: list[Ask], said: Sequence[str] = ()) -> list[Correction]:
    """Prompts after the first that object to what was done or said before them, or report that it does not work.

    `said`: the agent's answer to each. A mere question objects where the answer grants it; what the agent owns as its
    mistake was an objection however it was put. A prompt that is sent twice in a row, or opens the work anew, objects
    to nothing.
    """
    out: list[Correction] = []
    for number in range(1, len(asks)):
        ask = asks[number]
        if ask.error:
            out.append(Correction(number, clip(ask.error, 130), error=True))
            continue
        if ask.kind not in ("text", "terse") or not ask.sentences or ask in (asks[number - 1], asks[0]):
            continue
        answer = said[number][:_GRANTED] if number < len(said) else ""
        own = _unquoted(ask.sentences, said[number - 1] if number <= len(said) else "")
        head = " ".join(own[:2])[:240]
        objects = cues.CORRECTION.search(head) and (
            not cues.QUESTION.search(head)
            or _OBJECTS.search(head)
            or cues.CONCEDES.match(answer)
            or cues.YES_BUT.match(head)
        )
        if (
            (objects or cues.OWNS.search(answer))
            and size(head) >= 2
            and (not cues.APPROVAL.match(quoted := _quoted(own)) or cues.YES_BUT.match(quoted))
        ):
            out.append(Correction(number, quoted))
        elif (_reports(ask) or cues.ADMITS.match(answer)) and not _REQUESTS.match(head):
            out.append(Correction(number, clip(head, _ROOM), error=True))
    return out


_REQUESTS = re.compile(r"\W*(?:you can|can you|could you|please|let'?s|go ahead)\b", re.IGNORECASE)


def _unquoted(said: Sequence[str], before: str) -> Sequence[str]:
    """What a person wrote without the agent's words before that are pasted back: known, or led to by a colon."""
    led = next((at for at, one in enumerate(said) if one.endswith((":", "："))), len(said))
    known = " ".join(plain(before).lower().split()) if len(said) > 1 else ""
    return [one for one in said[: led + 1] if size(one) < _QUOTES or one.lower().rstrip(".")[:60] not in known]


_QUOTES = 5
"""Words of a sentence that nobody writes twice by chance."""


def _quoted(said: Sequence[str]) -> str:
    """The sentence that objects, with the one that goes on with it."""
    at = next((at for at, one in enumerate(said[:2]) if cues.CORRECTION.search(one)), 0)
    return clip(" ".join(said[at : at + 2]), _ROOM)


def _reports(ask: Ask) -> bool:
    """A short statement that something fails: "linting is failing now"."""
    text = " ".join(ask.sentences)
    if "?" in text or size(text) > _SHORT or not cues.BROKEN.search(text) or _WHY.match(text):
        return False
    return not (cues.REQUEST.search(text) or cues.IMPERATIVE.match(text) or cues.APPROVAL.match(text))


_WHY = re.compile(
    r"\W*(?:(?:and|so|but|also|ok) )*(?:why|what|how|when|where|which|who)\b"
    r"|.*\b(?:i (?:think|guess|believe)|maybe|probably)\b",
    re.IGNORECASE,
)
"""Asks, or guesses."""
_OBJECTS = Cue(
    r"\bwhy (?:did|are|do) you\b|\bare you sure\b|\bwrong\b|(?:\bnot|n['’]?t) (?:seem to )?(?:work|what)"
    r"|\bwhy\b.{0,60}\bstill\b|\bstill (?:not|\w+n['’]?t|fail|crash|broken|see|get|there|the same|show|ha(?:s|ve|pp))"
    r"|왜 |아니(?!면|라)|なぜ|ない(?!か)"
)
_GRANTED, _ROOM, _SHORT = 300, 190, 14
"""Characters of an answer that may grant an objection, of an objection as it is quoted, and words of a short report."""


def refusals(episode: Episode) -> list[Action]:
    """Tool calls that the user did not let run; a plan that is carried out next, or ends an episode, is none."""
    end = left_plan(episode)
    return [one for one in episode.actions if one.refused and one is not end and not _begun_anew(episode, one)]


def _begun_anew(episode: Episode, action: Action) -> bool:
    """Whether a plan was taken up with a fresh context: clients tell the call as refused and send the plan back."""
    if action.obs_type != "plan":
        return False
    then = next((one for one in episode.prompts if one.at >= action.at), None)
    return then is not None and read(then.text).kind == "plan"


def left_plan(episode: Episode) -> Action | None:
    """A plan that was put to the user last of all: clients tell it as refused where it is carried out elsewhere."""
    last = episode.actions[-1] if episode.actions else None
    if last is None or last.obs_type != "plan" or not last.refused:
        return None
    return last if not any(one.at > last.at for one in episode.prompts) else None


def objection(episode: Episode, refused: list[Action]) -> tuple[Action | None, str]:
    """The newest refused call right after which the user said something, and the words where they speak against it or
    are few; where they do not, a call that only looks was broken off to go on otherwise.
    """
    for action in reversed(refused):
        told = REASON.search(action.response)
        said, cut, _ = told[1].partition("…[+") if told else ("", "", "")
        said = said.rpartition(" ")[0] + "…" if cut else said  # the last word may be a part of one
        if size(said) >= _SAYS:
            return action, clip(plain(said), 150)
        then = next((one for one in episode.prompts if one.at > action.at), None)
        if (
            then
            and size(then.text) >= _SAYS
            and not _GOES_ON.match(then.text)
            and not any(then.text.startswith(one.text[:TYPED]) for one in episode.prompts if one.at < action.at)
            and not any(action.at < one.at < then.at for one in episode.actions)
        ):
            said = clip(plain(then.text), 150)
            against = _AGAINST.search(said)
            if against or not looks(action):
                return action, said if against or (size(said) <= _CURT and not _CONTENT.match(said)) else ""
    return None, ""


_CURT = 8
"""The most words of a prompt that counts as the reply to a refused call."""
_CONTENT = re.compile(r"\W*(?:it['’]?s|that['’]?s|all|looks) (?:perfect|fine|good|great|ok)\b", re.IGNORECASE)
REASON = re.compile(r"\b(?:the user said|reason for the rejection):\s+(\S.*)", re.DOTALL)
"""What a client writes before a person's words in the answer to a refused call."""
_AGAINST = Cue(
    r"\b(?:no|not|don['’]?t|never|instead|rather|stop|wrong|wait|não|nao|nunca|nein|nicht|statt)\b"
    r"|아니(?!면|라)|말고|하지 ?마|ではなく|違|やめ"
)
_GOES_ON = re.compile(
    r"\W*(?:(?:please|ok(?:ay)?|yes|delegate|now|just|make it)[\s,.!]+)*"
    r"(?:continue|go (?:on|ahead)|proceed|resume|keep going|try again|계속|続けて|continua)",
    re.IGNORECASE,
)
"""Nothing was wrong with what was broken off."""
_SAYS, TYPED = 2, 50
"""Words of an objection, and the characters by which a prompt is an earlier one that was typed anew."""


def goes_on(text: str) -> bool:
    """Whether a reply that begins with praise or consent asks for something more: "great, also sort them"."""
    rest = cues.APPROVAL.sub("", text)
    asks = _ALSO.match(rest) or cues.REQUEST.search(rest) or cues.IMPERATIVE.match(rest)
    return rest != text and len(words(rest)) >= _MORE and bool(asks)


_ALSO = re.compile(r"\W*(?:and |but )?also\b", re.IGNORECASE)
_MORE = 3
"""Telling words of a request that can be read alone."""


def confirmed(asks: list[Ask]) -> bool:
    """The last prompt is praise: the work was accepted."""
    last = asks[-1] if len(asks) > 1 else None
    if last is None or last.kind not in ("text", "terse") or not last.sentences:
        return False
    text = " ".join(last.sentences[:2])
    if goes_on(text):
        return False
    return size(text) < 14 and bool(cues.PRAISE.search(text)) and not cues.CORRECTION.search(text) and "?" not in text
