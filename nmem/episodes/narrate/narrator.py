"""Composes an episode's story from its records alone: goal, completed work, lessons, next steps, outcome."""

from __future__ import annotations

import re
from dataclasses import replace

from nmem.episodes import titles
from nmem.episodes.narrate import cues, facts, obstacles
from nmem.episodes.narrate.checks import Struggle, found_by_own_tool, once, struggles, told
from nmem.episodes.narrate.completed import Grounds, completed
from nmem.episodes.narrate.ending import call, marks, outcome, ran_unseen, reached, said_to_pass, unseen
from nmem.episodes.narrate.intent import asks, intent
from nmem.episodes.narrate.learned import causes, decided, found_out, labelled, mended
from nmem.episodes.narrate.ledger import REPLACED, Ledger
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import alike, clip, sentences, short, size, within, words
from nmem.episodes.narrate.records import OK, UNKNOWN, Episode, Narrative
from nmem.episodes.narrate.remaining import next_steps
from nmem.episodes.narrate.reply import answer, answers, conclusion, last_word
from nmem.episodes.narrate.shell import adopt, written
from nmem.episodes.narrate.turns import (
    Correction,
    Superseded,
    Turn,
    complaint,
    confirmed,
    corrections,
    distinct,
    objection,
    refusals,
    turns,
    unanswered,
    without_last_commands,
)  # fmt: skip
from nmem.episodes.open_ends import ANSWER, CORRECTED, REPORTED

_NOTES = 7


def narrate(episode: Episode) -> Narrative:
    """The story of one episode; any records give a Narrative, an empty episode an empty one."""
    told = (adopt(action, episode.root) for action in episode.actions)
    told = (replace(one, outcome=UNKNOWN) if found_by_own_tool(one, episode.root) else one for one in told)
    episode = replace(episode, actions=tuple(one for action in told for one in written(action, episode.root)))
    episode = without_last_commands(episode)
    read_prompts = asks(episode)
    ledger = facts.ledger(episode)
    ran = struggles(episode, ledger.trials())
    found_turns = turns(episode, read_prompts)
    corrected = corrections(read_prompts, [turn.closing for turn in found_turns])
    gone = Superseded(found_turns, corrected)
    did = answers(found_turns, gone)
    open_end = unanswered(episode, read_prompts)
    ledger.by_user = facts.committed_by_user(episode)
    ledger.said_commits = facts.said_commits(episode) if ledger.changes or ledger.commits or ledger.tried else 0
    ledger.said_pushed = facts.said_pushed(episode)
    ledger.worded = "" if ledger.kept_commits() else facts.worded_commit(episode)
    refused = refusals(episode)
    spoken, against = objection(episode, refused)
    objected = call(spoken) + f", and said: “{against}”" * bool(against) if spoken else ""
    accepted = confirmed(read_prompts)
    by_word = said_to_pass(episode, ledger)
    ended = marks(episode, ledger, ran, accepted=accepted, unanswered=open_end, by_word=by_word)
    grounds = Grounds(episode, ledger, checked=_checked(ran))
    empty = not (episode.prompts or episode.sayings or episode.actions)
    answered = _answers(found_turns, gone)
    done = completed(episode, ledger, ran, grounds, did, gone, found_turns, answered)
    found = causes(episode, found_turns, gone)
    cause = _new(_telling(labelled(found_turns)) or _cause(read_prompts, found), episode)
    edits, barred = obstacles.resisted(episode), obstacles.untested(episode, ran)
    again = obstacles.lost(episode) or obstacles.made_again(episode, ledger)
    aside = [(1.1, again), (_REDONE, obstacles.diagnosed(episode)), edits, barred]
    way = obstacles.obstacle(
        episode, ran, corrected, refused, ledger, (_blocked(episode), objected), told_by_turns(found_turns),
        interrupted="interrupted" in ended, aside=aside,
    )  # fmt: skip
    known = [words(text) for text in done if not text.startswith(REPORTED)]
    solved, settled = mended(episode, ran), decided(episode)
    proven = list(filter(_telling, found_out(episode, found, found_turns)))
    end = "" if empty else _end(
        episode, read_prompts, found_turns, ledger, ran, ended, by_word=by_word, barred=bool(barred[1])
    )  # fmt: skip
    return Narrative(
        intent=intent(episode, read_prompts, found_turns),
        title=_title(episode, ledger),
        learned=[
            *settled,
            *(text for text in proven if not any(within(words(text), other) >= _SAID for other in known)),
            *solved,
        ],
        completed=[*answered, *(text for text in done if text.removeprefix(REPORTED) not in proven)],
        next_steps=next_steps(episode, read_prompts, ran, finished=accepted, unanswered=open_end),
        files_read=facts.files_read(episode),
        files_edited=[change.path for change in ledger.standing()],
        notes=_untold(_notes(ran, corrected, ledger, objected, cause), [*solved, *settled, *proven]),
        outcome=end,
        obstacle=way or edits[1] or obstacles.broken_off(episode),
        marks=ended,
    )


def _end(
    episode: Episode, read_prompts: list[Ask], found: list[Turn], ledger: Ledger, ran: list[Struggle],
    ended: list[str], *, by_word: bool, barred: bool,
) -> str:  # fmt: skip
    """How it ended, in a sentence; the agent's last words are left out where the work was given up."""
    checked = by_word or any("tests_" in mark for mark in ended)
    silent = "abandoned" in ended or ledger.worded
    missing = unseen(episode, read_prompts, ledger)
    missing += (obstacles.UNTESTED,) * (barred and not by_word and "tests_passed" in ended)
    return outcome(
        ended, ledger, ran, missing, by_word=by_word, unseen_at=ran_unseen(episode),
        reached=reached(episode) if "unfinished" in ended else "",
        said="" if silent else last_word(found, [words(one.subject) for one in ledger.kept_commits()], checked=checked),
    )  # fmt: skip


def _title(episode: Episode, ledger: Ledger) -> str:
    prompts, said = [one.text for one in episode.prompts], [one.text for one in episode.closings()]
    if episode.going_on:  # told anew after each turn: of a long one its beginning and its end
        prompts, said = prompts[:_FIRST] + prompts[_FIRST:][-_LAST:], said[-_LAST:]
    made = titles.made(
        titles.Material(
            prompts=prompts,
            said=said,
            commits=[one.subject for one in ledger.kept_commits()],
            files=[change.path for change in ledger.standing()],
            client=next((one.text for one in reversed(episode.sayings) if one.kind == "title"), ""),
        )
    )
    return made or titles.of_prompt(episode.prompts[0].text if episode.prompts else "")


_FIRST, _LAST = 3, 3
"""Prompts at the beginning, and turns at the end, that the title of an episode that goes on is made of."""


def _answers(found: list[Turn], gone: Superseded) -> list[str]:
    """The answer to the last request, where that changed nothing: the end that the work came to; where it is no
    sentence, to the one before. Then those to earlier requests that changed nothing, each with its question: of many
    those that say most.
    """
    told: dict[int, str] = {}
    ended = max((turn.number for turn in found if turn.closing), default=-1)
    for turn in found:
        if (
            turn.lasting
            or any(one.outcome == OK and facts.makes(one.content) for one in turn.actions)
            or turn.ask.kind not in ("text", "plan", "document", "issue", "command", "terse", "empty")
        ):
            continue  # what was made on the forge is told by its address
        text = conclusion(turn, last=turn.number == ended)
        if text and not gone(turn.number, text) and not cues.FLEETING.search(text):
            told[turn.number] = text
    last = max(told, default=-1)
    if any(turn.lasting or not (turn.actions or turn.ask.kind != "terse") for turn in found[last + 1 :]):
        last = -1
    asked = {number: " ".join(found[number].ask.sentences[:2]) for number in told if number != last}
    weighty = sorted(
        (number for number in asked if size(asked[number]) >= _ASKED), key=lambda one: -len(found[one].closing)
    )
    newest = [f"{ANSWER}{told[last]}"] if last in told else []
    newest += [
        f"{ANSWER}{told[number]} (asked: “{clip(asked[number], 110)}”)" for number in sorted(weighty[:_ANSWERED])
    ]
    return distinct(newest, _RETOLD)


_SAID = 0.75
"""The share of its words by which something is told already."""
_ANSWERED, _ASKED, _RETOLD = 3, 3, 0.8
"""Answers to earlier requests that are told, words of a request that is named, and the share of words that repeats."""


def _untold(notes: list[str], learned: list[str]) -> list[str]:
    """What was not told as learned already."""
    bags = [words(one) for one in learned]
    return [one for one in notes if not any(within(words(one.removeprefix(CORRECTED)), bag) >= _SAID for bag in bags)]


def told_by_turns(found: list[Turn]) -> tuple[str, dict[int, str]]:
    """What came up again and again, and what each turn's answer was."""
    said = {turn.number: one.text for turn in found if (one := answer(turn))}
    return complaint(found), said


def _cause(read_prompts: list[Ask], found: list[str]) -> str:
    """The last cause that was named, when the episode began with something that did not work."""
    opening = read_prompts[0] if read_prompts else None
    if opening is None or not _is_broken(opening):
        return ""
    asked = [bag for one in (opening.title, opening.goal, *opening.sentences[:6]) if len(bag := words(one)) > _ASKED]
    causes_named = (text for text in reversed(found) if cues.PROBLEM.search(text) and not _MINE.match(text))
    named = next((text for text in causes_named if all(alike(words(text), bag) < _RESTATES for bag in asked)), "")
    bare = _PROBLEM_IS.sub("", named)
    bare = _telling(named) and (named if _PLACED.match(bare) else bare)
    return bare[:1].upper() + bare[1:]


def _new(cause: str, episode: Episode) -> str:
    """What the agent had to find; "" where the user told of it, where it says what should be, or is cut."""
    asked: set[str] = set().union(*(words(one.text) for one in episode.prompts))
    told = within(words(cause), asked) >= _RETOLD_BY_HALF if cause else True
    return "" if told or _CUT.search(cause) else cause


_RETOLD_BY_HALF = 0.5
_CUT = re.compile(r"\[…\]|\b(?:supposed to|should (?:be|have|not)|is expected to)\b")
_REDONE = 1.46
"""What a repair weighs that did not do."""


def _telling(cause: str) -> str:
    """A cause, or "" where it says only the place of the problem."""
    place = _IN.match(cause)
    said = sum(_PLAIN.fullmatch(word) is not None for word in cause[place.end() :].split()) if place else _TELLS
    return cause if said >= _TELLS and not cause.endswith(" line") else ""


_IN = re.compile(
    r"(?:the (?:\w+ )?(?:problem|issue|bug|cause) (?:is|was|lies|lay) (?:in|on|at|within|about) )", re.IGNORECASE
)
_PLAIN = re.compile(r"(?!(?:the|an?|in|on|at|of|and|lines?|method|function|class|file|module)\b)[a-z']+[.,:;]?")
_TELLS = 4
"""Words besides those for a place that a cause has at least."""


def _is_broken(ask: Ask) -> bool:
    """Whether a request tells of something that does not work."""
    return bool(ask.error) or any(cues.BROKEN.search(one) for one in (*ask.sentences[:6], ask.goal))


def _blocked(episode: Episode) -> str:
    """What the last closing text says could not be done."""
    closings = episode.closings()
    for one in sentences(closings[-1].text) if closings else []:
        if _LED_TO.match(one.text):
            continue
        done = cues.DONE.match(one.text) or cues.PASSES.search(one.text)
        if cues.BLOCKED.search(one.text) and 5 <= size(one.text) <= 45 and not (done or cues.QUESTION.search(one.text)):
            return clip(one.text, 200)
    return ""


_LED_TO = re.compile(r"(?:this|that|it|which) (?:resulted|caused|led|meant|made)\b", re.IGNORECASE)
"""Tells what the fault was that is mended."""
_RESTATES = 0.6
"""The part of the smaller one's words from which on a cause says what was asked for."""
_PLACED = re.compile(r"(?:in|at|on|about|with|when|inside|within|how|where|from)\b", re.IGNORECASE)
"""What is left says where, and no more who."""
_PROBLEM_IS = re.compile(r"^the (?:problem|issue) (?:is|was) (?:that )?", re.IGNORECASE)
_MINE = re.compile(r"(?:i|but|actually|and|so|the user decided|plan accepted)\b", re.IGNORECASE)


def _checked(ran: list[Struggle]) -> bool | None:
    """Whether every check's newest run passed; None when nothing was checked."""
    verdicts = [one.passed for one in ran if one.kind in ("test", "build", "lint")]
    return all(verdicts) if verdicts else None


def _notes(ran: list[Struggle], corrected: list[Correction], ledger: Ledger, objected: str, cause: str) -> list[str]:
    """What a later session should not repeat. `objected`: the refused call that the user spoke upon, and the words."""
    hard = [
        one for one in once(ran)
        if one.failures and any(one.reasons) and not (one.probe or one.misused)
        and not (one.kind == "lint" and one.passed)  # how the code looks
        and (one.kind in ("test", "build", "lint") or not one.passed or one.failures > 1 or one.fixed_by or one.cure)
        and (one.passed or not one.settled)
    ]  # fmt: skip
    hard.sort(key=lambda one: (-one.failures, one.first_at))
    out = [f"Cause: {cause}"] * bool(cause) + [told(one) for one in hard[:_HARD]]
    out += [
        (f"The user reported an error: {one.text}" if one.error else f"{CORRECTED}“{one.text}”")
        for one in corrected
        if one.error or size(one.text) >= _SAYS
    ][:_MOST]
    out += _taken_back(ledger)
    if objected:
        out.append(f"The user refused: {objected}")
    return list(dict.fromkeys(out))[:_NOTES]


_HARD, _MOST, _SAYS = 2, 3, 5
"""Failures and corrections that are noted, and words that a correction has at least."""


def _taken_back(ledger: Ledger) -> list[str]:
    by: dict[str, list[str]] = {}
    for change in ledger.undone():
        if change.undone == "git stash" and ledger.kept_commits():
            continue  # put aside while the rest was committed
        by.setdefault(change.undone or "undone", []).append(change.path)
    out = [f"Undone ({how}): {clip(', '.join(short(path) for path in paths), 160)}" for how, paths in by.items()]
    return out + [
        f"Commit undone ({one.undone}): {clip(one.subject, 100)}"
        for one in ledger.commits
        if one.undone and one.undone != REPLACED
    ]
