"""An episode request by request: what was asked, what was done for it, and what the agent said in the end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from nmem.episodes.narrate import cues
from nmem.episodes.narrate.checks import judged
from nmem.episodes.narrate.corrections import Correction
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import clip, sentences
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


def acts(one: Action) -> bool:
    """Whether a call did more than look: a command, or a verb of git or the forge that changes something."""
    if one.outcome != OK or one.halted:
        return False
    if one.obs_type in ("git_other", "github"):
        return bool(_ACTS.search(one.content[:2_000]))
    return one.obs_type in ("command", "install", "mcp_call") and not _searches(one)


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
        if not turn.closing and (
            turn is not found[-1] or len(looked) < 8 or any(_REMOVES.search(one.content) for one in looked)
        ):
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


_REMOVES = re.compile(r"(?:^|[;&|] *)(?:rm|mv|cp|mkdir|git rm) ")
_NAME = re.compile(r"\.\w{1,5}$|_|\(")


def _shows(one: Action, name: str) -> bool:
    """Whether a search or a reading came upon the name."""
    if one.outcome != OK:
        return False
    if one.obs_type == "file_read" and one.file_path.lower().endswith(name):
        return True
    return name in one.response.lower()


def distinct(found: list[str], share: float = 0.6) -> list[str]:
    """Texts that do not repeat an earlier one."""
    kept: list[tuple[str, set[str]]] = []
    for text in found:
        bag = words(text)
        if all(alike(bag, other) < share for _, other in kept):
            kept.append((text, bag))
    return [text for text, _ in kept]
