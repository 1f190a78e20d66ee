"""Determines an episode's main obstacle: what failed longest, the user's objections, work that was taken back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from nmem.episodes import open_ends
from nmem.episodes.narrate import cues, naming
from nmem.episodes.narrate.checks import ABSENT, FOLLOWED, MISUSE, Struggle, families, judged, once, told
from nmem.episodes.narrate.ending import QUIET, STUDIES, call, task_name
from nmem.episodes.narrate.facts import brought_nothing
from nmem.episodes.narrate.ledger import REPLACED, Ledger
from nmem.episodes.narrate.prose import clip, sentences, short, size
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode
from nmem.episodes.narrate.turns import Correction, acts, looks

_LEAST = 0.9
"""From which weight on something stood in the way."""
_KEPT = 0.4
_UNDONE = 1.47
"""What a test weighs that showed that an edit of the work was wrong."""
_FEW = 2
_GIT = ("git_commit", "git_push")
_LINE = 60
"""Characters by which the subjects of two commits are compared."""


def _failed(ran: list[Struggle], episode: Episode) -> list[Struggle]:
    """What failed and mattered: no slip that the next calls mended, no tidying up, no check that failed before any edit
    and passed after some, which is what the work was for."""
    return [
        one for one in once(ran)
        if one.weighty and not one.got_past and not (one.failures == 1 and not one.passed and one.settled)
        and not _mended_at_once(one, episode) and not _TIDIES.match(one.name)
        and not (one.misused and one.failures == 1)
        and not (one.kind in open_ends.CHECKS and one.failures == 1 and one.passed and one.fixed_by and one.at_first)
        and not (one.passed and not one.fixed_by and one.kind in ("github", "git_other") and not any(one.reasons))
        and not (one.kind == "command" and one.failures == 1 and not one.passed
                 and episode.calls_between(one.last_at) > _SLIP)
        and not (one.kind == "lint" and (one.passed or not (one.edited or one.undone)))
    ]  # fmt: skip


def _mended_at_once(one: Struggle, episode: Episode) -> bool:
    """Whether a failure is a slip: a few calls put it right, or one failure of a script of the episode's own that did
    not run the work. A test of the project that showed an edit of the work to be wrong is none.
    """
    if one.made and len(one.weighty) == 1 and (one.passed or one.faults[-1][0] or not one.broke):
        return True
    if not one.passed or one.failures > 1 or (one.cure and one.kind in _GIT):
        return False
    if any(_MISWRITTEN.search(reason) for reason in one.reasons):
        return True
    if one.undone and one.kind == "test" and any(one.reasons):
        return False
    return episode.calls_between(one.failed_at, one.passed_at) <= _SLIP


_MISWRITTEN = re.compile(
    r"\bundefined: |(?:declared|imported) and not used|no new variables|redeclared|\b(?:Syntax|Indentation)Error"
    r"|syntax error|\berror TS\d|cannot find (?:name|symbol)|NameError: ", re.IGNORECASE,
)  # fmt: skip
"""The compiler or the interpreter rejects a line that was written wrong: the approach was not."""
_SLIP = 3
"""Calls between a failure and the run that passed, or after a run, that are few."""
_TIDIES = re.compile(r"(?:rm|mv|cp|mkdir|ls|cd|cat|find|kill|pkill)\b")
"""Commands whose failure says nothing of the work."""


def _struggled(ran: list[Struggle], episode: Episode) -> list[tuple[float, str]]:
    """What failed, by how often and how much it mattered."""
    out: list[tuple[float, str]] = []
    last_at = max((one.last_at for one in ran), default=0)
    for one in _failed(ran, episode):
        check = one.kind in open_ends.CHECKS
        called_wrong = one.passed and not one.fixed_by and all(how for how, _ in one.faults)
        misused = called_wrong or (one.misused and one.failures <= _FEW)
        weight = len(one.weighty) * (0.2 if misused or one.probe else 1.0 if check or one.kind in _GIT else 0.6)
        if one.passed and one.fixed_by and not one.misused:
            weight = max(weight, 1.0)  # something had to be edited
        if one.kind == "command" and any(one.reasons) and not (one.misused or one.probe):
            weight = max(weight, _LEAST)  # it did something, and says what was wrong
        if one.undone and (one.kind == "test" or "FAIL" in one.reasons[-1]):
            weight = max(weight, _UNDONE)
        if one.settled and not (one.passed or one.red):
            weight *= _KEPT  # the work was committed all the same
        if one.kind == "install" and not one.passed:
            weight = max(weight, _LEAST)
        if not (one.passed or one.open or one.probe or one.settled):
            weight += 1.0 * (one.last_at == last_at) + 0.5 * check
        out.append((weight, told(one)))
    return out


def _objections(corrected: list[Correction], said: dict[int, str]) -> str:
    """How often the user objected or came back with an error, and the most telling of these prompts."""
    errors = sum(one.error for one in corrected)
    longest = max(corrected, key=lambda one: (one.error, min(len(one.text), 90), one.turn))
    what = (
        "objected" if not errors else "reported an error" if errors == len(corrected) else "objected or reported errors"
    )
    count = "" if len(corrected) == 1 else f" {len(corrected)} times"
    came = said.get(longest.turn, "")
    then = f"; what came of it: {clip(came, 150)}" if cues.DONE.match(came) or cues.DONE_ANY.search(came) else ""
    return f"The user {what}{count}: " + (longest.text if longest.error else f"“{longest.text}”") + then


_OTHER_MIND = re.compile(r"\W*(?:on second thought|thinking (?:again|about it)|scratch that)\b", re.IGNORECASE)
"""A wish of the user's that takes the place of an earlier one: nothing stood in the way."""


def lost(episode: Episode) -> str:
    """How often a limit of the client broke the work off, else how many subagents brought nothing, and why; or ""."""
    broken = [one.text for one in episode.closings() if cues.LIMIT.match(one.text)]
    if broken:
        times = f" {len(broken)} times" if len(broken) > 1 else ""
        return f"A limit or an error of the client broke the work off{times}: {clip(' '.join(broken[-1].split()), 100)}"
    sent = [one for one in episode.actions if one.obs_type == "task_spawn" and not one.halted]
    came = {task_name(one): one.at for one in sent if not brought_nothing(one)}
    gone = [one for one in sent if brought_nothing(one) and came.get(task_name(one), 0) < one.at]  # not sent again
    said = clip(" ".join(gone[-1].response.split()), 100) if gone else ""
    return f"{len(gone)} of {len(sent)} subagents brought no result{f': {said}' if said else ''}" if gone else ""


def unable_to_run(episode: Episode, ran: list[Struggle]) -> tuple[float, str]:
    """How many calls failed as something could not be installed, built or imported, and the weight; 0.0 for few."""
    ended_badly = (one for one in episode.actions if one.outcome == FAILED and not one.halted)
    failed = [one for one in ended_badly if _UNABLE.search(one.response)]
    if len(failed) < _OFTEN:
        return 0.0, ""
    why = next(filter(None, map(naming.why, reversed(failed))), "")
    why = f" ({why})" if why else ""
    text = f"{len(failed)} calls failed as something could not be installed, built or imported{why}"
    made = {one.name for one in ran if one.made and not any(_UNABLE.search(reason) for _, reason in one.faults)}
    later = (one for one in episode.actions if one.at > failed[-1].at and one.outcome == OK)
    runs = (one for one in later if one.obs_type == "test" or _INTERPRETED.search(one.content))
    got_past = any(naming.name(one.content, one.obs_type) not in made for one in runs)
    work = sum(not _RUNNER.search(one.response) for one in failed)
    return (0.25 * len(failed) if got_past or work < _OFTEN else 1.0 * work), text


UNTESTED = "the project's tests could not be run"


def untested(episode: Episode, ran: list[Struggle]) -> tuple[float, str]:
    """That the project's tests were tried and none could run, by the reason, and the weight; 0.0 where one ran."""
    made = {one.name for one in ran if one.made}
    tried = [one for one in episode.actions if "test" in (one.obs_type, *families(one)) and not one.halted]
    tried = [one for one in tried if naming.name(one.content, "test") not in made]
    barred = [one for one in tried if _NO_TESTS.search(one.response) and not (one.told("tests") or judged(one))]
    others = (one for one in tried if one not in barred)
    if not barred or any(one.told("tests") or judged(one) or not MISUSE.search(one.response[:300]) for one in others):
        return 0.0, ""
    rows = [row.strip() for row in barred[-1].response.split("\n") if _NO_TESTS.search(row)]
    return _LEAST + 0.2 * (len(barred) - 1), f"{UNTESTED.capitalize()} ({clip(_PROGRAM.sub('', rows[-1]), 80)})"


_NO_TESTS = re.compile(rf"(?i){ABSENT.pattern}|no test runner found")
_PROGRAM = re.compile(r"^\S*/(?=[^\s/]+: )")
"""The folder of the program that an error names."""


def misplaced(episode: Episode) -> tuple[float, str]:
    """How many calls looked for one file or folder where it was not, and the weight; 0.0 for few. A command that goes
    on without what it names (`find`) counts half.
    """
    missed: dict[str, list[float]] = {}
    for one in episode.actions:
        failed = one.outcome == FAILED
        found = _NOT_THERE.search(one.response[:400] if failed else one.response[:400].partition("\n")[0])
        name = _head(next(filter(None, found.groups()))) if found and not one.halted else ""
        if name and (failed or (one.obs_type in _COMMANDS and name in one.content)):
            missed.setdefault(name, []).append(0.35 if failed else 0.17)
    often = [(sum(times), len(times), name) for name, times in missed.items() if len(times) >= _LOST]
    weight, times, name = max(often, default=(0.0, 0, ""))
    text = f"The agent lost track of its folder: {times} calls looked for {name} where it was not"
    return (weight, text) if often else (0.0, "")


_COMMANDS = FOLLOWED | {"search"}
_LOST = 5
_NOT_THERE = re.compile(
    r"(?i)(?:no such file or directory|not exist|no matches found): ['\"]?([^\s'\"]+)"
    r"|(?:^|[\s'\"])([^\s'\":]+)['\"]?: no such file or directory|can't open file ['\"]([^'\"]+)"
)


def _head(path: str) -> str:
    """An absolute path whole; of a relative path the first part."""
    return path if path.startswith("/") else re.sub(r"^(?:\.{1,2}/)+", "", path).split("/")[0]


_OFTEN = 3
_RUNNER = re.compile(r"No module named '?(?:pytest|pip|tox|nox)\b")
_INTERPRETED = re.compile(r"\b(?:python|node|ruby|php)[\d.]* -(?:m (?!pip\b|venv\b)|[cer] )")
"""A command that runs a module, or a script of its own."""
_UNABLE = re.compile(
    r"^(?:E +)?(?:ImportError|ModuleNotFoundError): |: No module named \S+$|requires a different Python"
    r"|\berror: (?:subprocess-exited-with-error|metadata-generation-failed|externally-managed-environment)"
    r"|\berror: command .{1,80} failed|^(?:error: )?Failed (?:building|to build)\b",
    re.MULTILINE,
)


def made_again(episode: Episode, ledger: Ledger) -> str:
    """That a commit was made a second time after something was mended, though the first was not seen to fail."""
    kept = {one.subject.removesuffix("…")[:_LINE]: one.at for one in ledger.kept_commits() if one.subject}
    for first in ledger.commits:
        then = kept.get(first.subject.removesuffix("…")[:_LINE], 0) if first.undone == REPLACED else 0
        between = [one for one in episode.actions if first.at < one.at < then and one.outcome != FAILED]
        if mended := [one for one in between if acts(one) or (one.file_path and one.obs_type not in QUIET)]:
            return f"A commit did not go through at first; it was made again after {call(mended[-1])}"
    return ""


_RESISTED, _TWICE = 3, 2
"""The least number of failed edits that is an obstacle: in all, and of one file where nothing else was in the way."""


def resisted(episode: Episode) -> tuple[float, str]:
    """How many edits failed, and the file with most failures, with what that weighs: 0.0 for few."""
    failed = [
        one for one in episode.actions
        if one.obs_type in _EDITS and one.outcome == FAILED and not one.halted and one.file_path
        and not _UNREAD.search(one.response[:300])
    ]  # fmt: skip
    if not failed:
        return 0.0, ""
    path, times = Counter(one.file_path or "" for one in failed).most_common(1)[0]
    if len(failed) < _RESISTED and times < _TWICE:
        return 0.0, ""
    of = short(path)
    if times == len(failed):
        text = f"{times} edits of {of} failed"
    else:
        text = f"{len(failed)} edits failed" + (f", {times} of them of {of}" if times > 1 else "")
    return 1.2 * (len(failed) >= _RESISTED), text


_EDITS = ("file_edit", "file_write")
_UNREAD = re.compile(
    r"has not been read yet|been modified since read|must (?:first )?read|read it (?:first|again)", re.IGNORECASE
)
"""A client that wants a file read before it is edited: a matter of one more call."""


def diagnosed(episode: Episode) -> str:
    """What the agent said first of a check that did not pass after an edit of the work and led to another edit; "" for
    none. Of several the newest: a repaired repair.
    """
    made = {one.file_path for one in episode.actions if one.obs_type == "file_write" and one.outcome != FAILED}
    edits = [one.at for one in episode.actions if one.obs_type == "file_edit" and one.outcome != FAILED
             and not one.halted and one.file_path not in made]  # fmt: skip
    for one, then in reversed(list(pairwise(episode.actions))):  # none is last: an edit follows
        if one.obs_type not in open_ends.CHECKS or one.outcome == OK or one.halted:
            continue
        if not (edits and edits[0] < one.at < edits[-1]):
            continue
        said = [each.text for each in episode.said_after(one.at, then.at) if each.kind == "thinking"]
        rows = [row.text for text in said for row in sentences(text)[:_FIRST]]
        wrong = next((row for row in rows if _WRONG.search(row) and _LEAST_SAID <= size(row) <= _MOST_SAID), "")
        if wrong:
            return clip(wrong, 200)
    return ""


_FIRST, _LEAST_SAID, _MOST_SAID = 3, 6, 45
_WRONG = re.compile(
    r"\b(?:my|the) (?:fix|change|edit|patch|approach|implementation|regex|logic)\b.{0,60}"
    r"(?:n['’]t\b|\bnot\b|\bbroke|\bwrong\b)"
    r"|\b(?:tests?|assertion) (?:still )?fail(?:s|ed|ing)?\b.{0,40}\b(?:because|since|as)\b",
    re.IGNORECASE,
)
"""Says that the work so far does not do, and why."""


def broken_off(episode: Episode) -> str:
    """The last call that the user broke off, or that a turn was broken off; "" for none."""
    by_user = [one for one in episode.actions if one.halted and not one.waited and one.obs_type not in _ASKING]
    by_user = [one for one in by_user if one.metadata.get("refused") in (None, "user") and not looks(one)]
    by_user = [one for one in by_user if not (one.obs_type == "task_spawn" and STUDIES.match(task_name(one)))]
    if by_user:
        return f"The user broke off {call(by_user[-1])}"
    return "The user interrupted the work" if any(_at_work(episode, stop) for stop in episode.stops) else ""


def _at_work(episode: Episode, moment: int) -> bool:
    """Whether the turn that a moment lies in had changed something by then, or done more than look."""
    since = max((one.at for one in episode.prompts if one.at <= moment), default=0)
    last = next((one for one in reversed(episode.actions) if one.at <= moment), None)
    if last is not None and last.obs_type == "plan":
        return False  # put to the user, who did not take it
    return any(since <= one.at <= moment and (acts(one) or one.obs_type in _EDITS) for one in episode.actions)


_ASKING = ("plan", "question")


def obstacle(
    episode: Episode,
    ran: list[Struggle],
    corrected: list[Correction],
    refused: list[Action],
    ledger: Ledger,
    found: tuple[str, str],
    by_turns: tuple[str, dict[int, str]],
    *,
    interrupted: bool = False,
    aside: Sequence[tuple[float, str]] = (),
) -> str:
    """The longest struggle: failures of one thing, the user's objections, work that was taken back; "" for none.

    What the work was for is none. `found`: what the agent could not do, and the refused call that the user spoke upon;
    each may be "". `by_turns`: what the user reported again and again, each turn's answer. `aside`: what else stood in
    the way, with what each weighs.
    """
    blocked, objected = found
    ranked = [(1.3, f"In the agent's words: {blocked}")] if blocked else []
    recurring, said = by_turns
    ranked += [(9.0, recurring)] * bool(recurring)
    unable = unable_to_run(episode, ran)
    able = [one for one in ran if not (one.faults and all(_UNABLE.search(reason) for _, reason in one.faults))]
    ranked += [unable, misplaced(episode), *_struggled(ran if unable[0] < _LEAST else able, episode)]
    ranked += [one for one in aside if one[1]]
    corrected = [one for one in corrected if not _OTHER_MIND.match(one.text)]
    if corrected:
        ranked.append((1.8 * len(corrected), _objections(corrected, said)))
    refused = [one for one in refused if objected or not looks(one)]
    if refused:
        count = f"{len(refused)} tool call{'s' * (len(refused) > 1)}"
        weight = 0.6 * len(refused) + (0.7 if objected else 0.4 * interrupted)
        ranked.append((weight, f"The user refused {count}: {objected or call(refused[-1])}"))
    gone = [one for one in ledger.undone() if one.undone not in ("removed", "deleted", "git stash", REPLACED)]
    if gone:
        ranked.append((1.2, f"An attempt was taken back ({gone[-1].undone}): {short(gone[-1].path)}"))
    ranked = sorted((item for item in ranked if item[0] >= _LEAST), key=lambda item: -item[0])
    second = [item for item in ranked[1:2] if item[0] >= 1.5 and item[0] >= 0.65 * ranked[0][0]]
    return ". ".join(text.rstrip(".") for _, text in ranked[:1] + second)
