"""Determines an episode's outcome, as flags (`committed`, `pushed`) and in a sentence."""

from __future__ import annotations

import re

from nmem.episodes import open_ends
from nmem.episodes.narrate import cues, naming
from nmem.episodes.narrate.checks import FOLLOWED, Struggle, judged, says_pass, vouched
from nmem.episodes.narrate.facts import deleted_clone, handed_last
from nmem.episodes.narrate.ledger import ELSEWHERE, Ledger
from nmem.episodes.narrate.prompts import Ask
from nmem.episodes.narrate.prose import AT_THE_END, clip, sentences, short
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode
from nmem.episodes.narrate.reply import PROGRESS
from nmem.episodes.narrate.turns import acts, left_plan
from nmem.episodes.text import outside
from nmem.names import reads_as_sentence

_FEW = 2
_BY_WEIGHT = ("lint", "build", "test")  # from the weakest to the strongest


def marks(
    episode: Episode, ledger: Ledger, ran: list[Struggle], *, accepted: bool, unanswered: bool, by_word: bool = False
) -> list[str]:
    """The facts of the end, for machines; see Narrative.marks."""
    standing, kept = ledger.standing(), ledger.kept_commits()
    nothing = not (standing or ledger.undone() or kept or ledger.published or ledger.pushes)
    facts = {
        "committed": bool(kept),
        "pushed": bool(ledger.pushes),
        "pull_request": any("Opened a pull request" in what for what, _ in ledger.published),
        **_tested(ran, said=by_word),
        "uncommitted": bool(ledger.inside()),
        "abandoned": bool(ledger.undone()) and not standing and not kept,
        **_broken_off(episode, unfinished=unanswered and not accepted),
        "commands": nothing and bool(episode.closings()) and _acted(episode),
        "scripts": nothing and any(_cut_script(one) for one in episode.actions),
        "answered": nothing and bool(episode.closings()) and not (_acted(episode) or _handed_on(episode)),
        "confirmed": accepted,
    }
    return [name for name, holds in facts.items() if holds]


def _tested(ran: list[Struggle], *, said: bool) -> dict[str, bool]:
    """The newest test run, when its result was seen. `said`: the agent said after it that tests pass, which counts
    where the work was kept.
    """
    tests = _tests(ran)
    newest = max(tests, key=lambda one: one.last_at, default=None)
    if newest is None:
        return {}
    return {
        "tests_passed": newest.passed and not any(one.red for one in tests),
        "tests_failed": not (newest.passed or newest.open or newest.trial) and not (said and newest.settled),
    }


def _tests(ran: list[Struggle]) -> list[Struggle]:
    """The tests that say how the work ended: those that could run, of the project before those made for a trial."""
    able = [one for one in ran if one.kind == "test" and (one.passed or not one.misused)]
    return [one for one in able if not one.trial] or able


def _broken_off(episode: Episode, *, unfinished: bool) -> dict[str, bool]:
    """How it ended before its end, if it did."""
    if _interrupted(episode):
        return {"interrupted": True}
    last = episode.closings()[-1:]
    if last and cues.LIMIT.match(last[0].text):
        return {"cut_off": True}
    return {"unfinished": unfinished and not episode.going_on}


def _acted(episode: Episode) -> bool:
    """Commands ran that do more than look."""
    return any(acts(action) for action in episode.actions)


def _cut_script(action: Action) -> bool:
    """Whether a script ran that the records do not hold to its end: what it wrote is not known."""
    return "…[+" in action.content and acts(action) and naming.inline(action.content)


def _handed_on(episode: Episode) -> int:
    """How many subagents were started whose description names more than a look at something."""
    sent = [one for one in episode.actions if one.obs_type == "task_spawn" and not one.halted and one.outcome != FAILED]
    return sum(not STUDIES.match(task_name(one)) for one in sent)


def _kept_since(episode: Episode) -> bool:
    """Whether a commit after the last start of a subagent holds the subagent's changes."""
    last = next((one.obs_type for one in reversed(episode.actions) if one.obs_type in _HANDED), "")
    return last == "git_commit"


_HANDED = ("task_spawn", "git_commit")


def _interrupted(episode: Episode) -> bool:
    """The last thing that happened is a refused call, or that the user broke the turn off."""
    last = episode.actions[-1] if episode.actions and left_plan(episode) is None else None
    said = max((one.at for one in episode.closings()), default=0)
    asked = episode.prompts[-1].at if episode.prompts else 0
    if episode.stopped(max(said, asked)):
        return True
    return last is not None and last.halted and not last.waited and last.at > said


def said_to_pass(episode: Episode, ledger: Ledger) -> bool:
    """Whether the agent said that checks pass: at the end after a test or an edit, or right after a hidden run."""
    newest = next((one for one in reversed(episode.actions) if one.obs_type == "test" and not one.halted), None)
    if newest is None:
        return False
    edited = ledger.touched_at()
    after = episode.said_after(newest.at)[:1] if judged(newest) is None and newest.at > edited else []
    said = [row.text for one in after for row in sentences(one.text)[:_FEW]]
    own_word = any(says_pass(row, cues.TESTS_PASS) and not _WISHES.search(row) for row in said)
    return own_word or vouched(episode, max(newest.at, edited), cues.TESTS_PASS)


_WISHES = re.compile(
    r"\?\W*$|\b(?:let me|let['’]s|need(?:s|ed)? to|want(?:s|ed)? to|make sure|verify|check|ensure|confirm|see if"
    r"|whether|wait\w*|to pass|only \d+|\d+ of \d+)\b", re.IGNORECASE,
)  # fmt: skip
"""Says that tests are to pass, or how many do."""


def outcome(
    found: list[str],
    ledger: Ledger,
    ran: list[Struggle],
    open_ends: tuple[str, ...] = (),
    *,
    by_word: bool = False,
    reached: str = "",
    said: str = "",
    unseen_at: int = 0,
) -> str:
    """The end in one sentence; `open_ends`: what was asked for or begun, and not seen to be done. `by_word`: the agent
    said at the end that the tests pass. `reached`: how far the last request came that got no answer. `said`: the
    agent's last words, where they say something. `unseen_at`: when tests last ran whose result was not seen.
    """
    denied = bool(_FAILING.search(said))
    parts = _work(found, ledger)
    parts += _checked(found, ran, ledger, by_word=by_word and not denied, unseen_at=unseen_at, denied=denied)
    parts += open_ends
    parts += [f"{AT_THE_END}“{said}”"] * bool(said)
    for mark, words in (
        ("interrupted", "interrupted by the user"),
        ("cut_off", "cut off by a limit or an error of the client"),
        ("unfinished", f"no answer to the last request is recorded{reached}"),
        ("confirmed", "the user accepted it"),
    ):
        if mark in found:
            parts.append(words)
    text = "; ".join(parts) or "nothing was changed"
    return text[:1].upper() + text[1:]


def reached(episode: Episode) -> str:
    """What was done last for a last request that got no answer, as the end of a sentence."""
    since = episode.prompts[-1].at if episode.prompts else 0
    done = [one for one in episode.actions if one.at >= since and one.outcome != FAILED and not one.halted]
    last = next((one for one in reversed(done) if one.obs_type not in QUIET and not _LOOKS.match(one.content)), None)
    if last is None and any(one.at >= since and one.halted for one in episode.actions):
        return ", what was begun for it was refused or broken off"
    if last is None:
        return ", nothing was done for it" if not done and episode.prompts else ", it was only looked into"
    return "" if last.obs_type == "task_spawn" else f"; done for it last: {call(last)}"


QUIET = frozenset(("file_read", "search", "web_search", "web_fetch", "todo", "skill", "tool_other", "session_compact"))
_LOOKS = re.compile(
    r"(?:cd \S+ && )?(?:git (?:-C \S+ )?(?:--no-pager )?(?:status|log|diff|show|remote|fetch|rev-parse|ls-\S+)"
    r"|ls|cat|pwd|gh \S+ (?:view|list|diff))\b"
)
"""Commands that only look."""


def unseen(episode: Episode, asks: list[Ask], ledger: Ledger) -> tuple[str, ...]:
    """That a commit or push asked for last did not follow, a clone was deleted, something still ran at the end."""
    out = []
    if asks and episode.prompts:
        last, since = asks[-1], episode.prompts[-1].at
        said = last.title if last.kind == "command" else " ".join(last.sentences)
        wanted = _WANTED.findall(said) if last.kind == "command" or _ASKED.match(said) else []
        done = " ".join(f"{one.obs_type} {one.content}" for one in episode.actions if one.at >= since)
        answered = [one.text for one in episode.closings() if one.at >= since]
        had = any(_HAD.search(text) for text in answered)
        worded = {"commit": bool(ledger.said_commits), "push": ledger.said_pushed}
        pushed = "push" in wanted and ledger.said_pushed and "push" not in done and not ledger.kept_commits()
        if pushed and not ledger.said_commits:
            out.append("by the agent's word pushed")
        wanted = [one for one in wanted if not (worded[one] or pushed)]
        if wanted and answered and not had and not any(word in done for word in wanted):
            out.append(f"the {' and '.join(dict.fromkeys(wanted))} asked for last: not seen")
    if plan := left_plan(episode):
        title = next((line.strip("# ") for line in plan.content.split("\n") if line.startswith("#")), "")
        out.append(f"a plan was put to the user and not carried out here{f': {clip(title, 100)}' if title else ''}")
    if sent := 0 if _kept_since(episode) else _handed_on(episode):
        out.append(f"what {sent} subagent{'s' * (sent > 1)} changed is not counted")
    if gone := deleted_clone(episode):
        out.append(f"the clone {gone} was deleted after that")
    closings = episode.closings()
    ended = episode.actions[-1] if episode.actions else None
    spoken = max((one.at for one in closings), default=0)
    asked = episode.prompts[-1].at if episode.prompts else 0
    if ended and ended.obs_type == "task_spawn" and not (ended.halted or episode.going_on) and spoken < ended.at:
        out.append(handed_last(episode))
    elif not episode.going_on and closings and spoken >= asked and _to_be_tried(episode, closings[-1].text, asked):
        out.append("it was left to the user to try")
    elif not episode.going_on and closings and spoken >= asked and PROGRESS.search(closings[-1].text[-400:]):
        out.append("something was still running at the end")
    return tuple(out)


def task_name(action: Action) -> str:
    said = action.metadata.get("description")
    return said if isinstance(said, str) and said else action.content


STUDIES = re.compile(
    r"\W*(?:explor|research|find|check|read|analy[sz]|review|investigat|plan|design|map|search|look|verif|understand|audit"
    r"|compar|test|security|performance|architecture|pattern|assess|validat|evaluat|identif|diagnos|trace|locat"
    r"|(?:\S+ ){1,3}(?:review|analysis|audit|research|study)\b)",
    re.IGNORECASE,
)
"""How a subagent is called that changes nothing."""


def _to_be_tried(episode: Episode, said: str, since: int) -> bool:
    """Whether the last words ask the user to try work of which no check was seen to pass after its last edit."""
    done = [one for one in episode.actions if one.at >= since and one.outcome == OK]
    edited = max((one.at for one in done if one.obs_type in ("file_edit", "file_write")), default=0)
    checked = any(one.obs_type in ("test", "build", "command") and one.at > edited for one in done)
    return bool(edited) and not checked and bool(_TRY.search(said))


_TRY = re.compile(
    r"^\W*(?:(?:please|now|then|you can(?: now)?) )*(?:try|re-?run|rebuild|restart|reload|refresh|run it|test it"
    r"|give it a)\b|\blet me know (?:if|how|what|when)\b|다시 (?:실행|시도)|^\W*(?:tente|teste|rode) |もう一度|試して",
    re.IGNORECASE | re.MULTILINE,
)
_HAD = re.compile(
    r"\balready (?:been )?(?:committed|pushed|in place|up[- ]to[- ]date|there)|\bnothing to (?:commit|push)",
    re.IGNORECASE,
)
"""Says that what was asked for had been done before."""
_WANTED = re.compile(r"\b(commit|push)\b(?! message)")
_ASKED = re.compile(
    r"(?:(?:ok(?:ay)?|yes|now|then|please|and|let'?s|can you|go ahead and)[,.!]? )*"
    r"(?:commit|push)\b(?! message).{0,40}$",
    re.IGNORECASE,
)
"""A request for no more than a commit or a push."""


def _work(found: list[str], ledger: Ledger) -> list[str]:
    kept, parts = ledger.kept_commits(), _made(found, ledger)
    loose = ledger.inside()
    beyond = [change for change in ledger.standing() if change.commit < 0 and outside(change.path)]
    settled = [change for change in ledger.standing() if change.commit == ELSEWHERE]
    if settled:
        parts.append(f"{_files(len(settled))} that git lists no more: ignored, or in a commit made elsewhere")
    if ledger.worded:
        parts.append(f"by the agent's word committed ({ledger.worded}), although the call failed")
        return parts + [what[:1].lower() + what[1:] for what, _ in dict(ledger.published).items()][:3]
    if ledger.tried and not kept:
        parts.append("a commit was tried, its result was not seen")
    if beyond and not kept:  # outside the folder that the records name
        count = len(loose) + len(beyond)
        unkept = "" if ledger.tried or ledger.said_commits else _unseen_commit(ledger)
        parts.append(f"{count} file{'s' * (count > 1)} changed{unkept}")
    elif loose:
        parts.append(f"{_files(len(loose))} {_uncommitted(ledger)}")
    if kept and (late := {one.path for one in beyond} & set(ledger.touched_after(kept[-1].at))):
        parts.append(f"{len(late)} file{'s' * (len(late) > 1)} changed after the last commit")
    parts += [what[:1].lower() + what[1:] for what, _ in dict(ledger.published).items()][:3]
    if "abandoned" in found:
        how = next((one.undone for one in ledger.undone() if one.undone), "undone")
        parts.append(f"given up: every change was undone ({how})")
    return parts + _unchanged(found, ledger)


def _made(found: list[str], ledger: Ledger) -> list[str]:
    """The commits and pushes: those that were seen, and how many the agent's last words tell of beyond them."""
    kept = ledger.kept_commits()
    branch = next((name for name in reversed(ledger.pushes) if name), "")
    pushed = (f"pushed to {clip(branch, 60)}" if branch else "pushed") if "pushed" in found else ""
    parts: list[str] = []
    if kept:
        hashes = ", ".join(one.hash for one in kept[-3:] if one.hash)
        count = "committed" if len(kept) == 1 else f"{len(kept)} commits"
        parts.append(count + (f" ({hashes})" if hashes else "") + (f" and {pushed}" if pushed else ""))
    elif pushed:
        parts.append(pushed)
    if ledger.said_commits > len(kept) and not (ledger.worded or ledger.tried):
        parts.append(f"by the agent's word {f'{ledger.said_commits} commits' if kept else 'committed'}")
    if ledger.push_failed:
        parts.append("the last push failed")
    elif ledger.said_pushed and not pushed and (kept or ledger.said_commits):
        parts.append("by the agent's word pushed")
    return parts


def _unseen_commit(ledger: Ledger) -> str:
    return f", {_uncommitted(ledger)}" if ledger.by_user else ", no commit seen"


def _files(count: int) -> str:
    return f"{count} changed file{'s' * (count > 1)}"


def _uncommitted(ledger: Ledger) -> str:
    if ledger.by_user:
        return "not seen in a commit (the user commits, too)"
    return "not seen in a commit" if ledger.kept_commits() or ledger.said_commits else "not committed"


def _unchanged(found: list[str], ledger: Ledger) -> list[str]:
    """What there is of work that changed no file."""
    if ledger.plans and not ledger.standing() and not ledger.kept_commits():
        return ["a plan was written; no file of the project was changed"]
    if "answered" in found:
        return ["answered; no file was changed"]
    if "commands" not in found:
        return []
    names = list(dict.fromkeys(path.replace("\\", "/").rsplit("/", 1)[-1] for path in ledger.scratch))
    if names:
        return [f"commands were run; only temporary files were written ({clip(', '.join(names[:_SHOWN]), 120)})"]
    if "scripts" in found:
        return ["scripts were run; what they changed was not seen"]
    return ["commands were run; no edit of a file was seen"]


_SHOWN = 3


def _checked(
    found: list[str], ran: list[Struggle], ledger: Ledger, *, by_word: bool, unseen_at: int, denied: bool
) -> list[str]:  # fmt: skip
    """The end, said once: of the newest run, and whether anything was edited or failed after it."""
    last_edit = ledger.touched_at()
    worst = max((one for one in ran if one.red), key=_weighs, default=None)
    red = [f"{worst.name} failed when it was last seen"] if worst else []
    failed_at = max((one.last_at for one in ran if one.failures and not one.passed and not one.probe), default=0)
    if "tests_passed" in found:
        return _passed(ran, ledger, last_edit, by_word=by_word, unseen_at=unseen_at, denied=denied) + red
    if "tests_failed" in found:
        return [_failed(max(_tests(ran), key=lambda one: one.last_at)), *[_WORD] * by_word]
    if by_word:
        return [*red, _WORD]
    checks = [one for one in ran if one.kind in open_ends.CHECKS and not (one.misused or one.trial)]
    if not checks:
        unable = any(one.kind == "test" and one.unable and not (one.passed or one.made) for one in ran)
        return [_UNSEEN] if unseen_at and unseen_at > last_edit else ["tests could not run"] * unable
    newest = max(checks, key=lambda one: one.last_at)
    if newest.open:
        return [*red, *([_UNSEEN] if unseen_at > last_edit and not red else [])]
    if not newest.passed:
        return [f"{newest.name} failed at the end"]
    if worst:  # what checks less than that is no end of the work
        again = newest.kind == worst.kind and newest.last_at > worst.last_at
        return [*red, *([f"{newest.name} passed after it"] if again else [])]
    if unseen_at > max(newest.last_at, last_edit):
        return [*[f"{newest.name} passed"] * (newest.last_at >= last_edit), _UNSEEN]
    if newest.last_at < last_edit:
        return [f"{newest.name} passed before the last edits{_of(ledger, newest.last_at)}"]
    return [f"{newest.name} passed{'' if newest.last_at < failed_at else ' at the end'}"]


def _failed(newest: Struggle) -> str:
    """How the newest test run failed: one that could not run says nothing of the work."""
    if newest.made:
        return f"a script written for this ({newest.name}) failed when it was last run"
    return "tests could not run" if newest.unable else "the last test run that was seen failed"


def _weighs(one: Struggle) -> tuple[int, bool, int]:
    """How much a check that failed says of the end: by its kind, whether it checks all, and when it ran."""
    return _BY_WEIGHT.index(one.kind), not open_ends.targets(one.command), one.last_at


def _passed(
    ran: list[Struggle], ledger: Ledger, last_edit: int, *, by_word: bool, unseen_at: int, denied: bool
) -> list[str]:  # fmt: skip
    """How the tests ended whose newest run that was seen passed."""
    tests = _tests(ran)
    newest = max(one.last_at for one in tests)
    late = [one for one in tests if one.passed and one.last_at >= last_edit]
    if late and all(one.made for one in late) and not denied:
        return [f"a script written for this ({late[-1].name}) passed at the end", *[_WORD] * by_word]
    if newest >= last_edit and denied:
        return ["tests passed at the end, others fail by the agent's word"]
    if newest >= last_edit:
        return ["tests passed at the end"]
    if unseen_at > last_edit:
        return [_WORD if by_word else "tests passed, and ran again after the last edits with a result not seen"]
    what = f"a script written for this ({tests[-1].name})" if all(one.made for one in tests) else "tests"
    return [f"{what} passed before the last edits{_of(ledger, newest)}", *[_WORD] * by_word]


def ran_unseen(episode: Episode) -> int:
    """When tests last ran whose result is not on record, in ms; 0 for never."""
    return max((one.at for one in episode.actions if one.obs_type == "test" and not one.halted and judged(one) is None),
               default=0)  # fmt: skip


_FAILING = re.compile(
    r"\b(?:tests?|checks?|build|lint(?:er|ing)?|suite)\b (?:are |is |still |now )*(?:fail(?:s|ing)?|broken|red)\b",
    re.IGNORECASE,
)
"""Says that checks do not pass."""
_WORD = "the agent said that tests pass"
_UNSEEN = "tests ran, their result was not seen"


def _of(ledger: Ledger, at: int) -> str:
    """The files that were edited after a moment, where they are few."""
    names = [name for path in ledger.touched_after(at) if not reads_as_sentence(name := path.rsplit("/", 1)[-1])]
    return f" of {' and '.join(names)}" if 0 < len(names) <= _FEW else ""


def call(action: Action) -> str:
    """A tool call in a few words."""
    verb = {"file_edit": "an edit of", "file_write": "writing"}.get(action.obs_type, "")
    whole = action.content.strip()
    first = whole.split("\n", 1)[0].strip("# ")
    if action.obs_type == "question":
        return "a question of the agent"
    if action.obs_type == "plan":
        return clip(f"the plan {first.removeprefix('ExitPlanMode')}".strip(), 80)
    line = action.obs_type in FOLLOWED and len(whole) > _LINE and any(mark in whole for mark in ";|&")
    if "\n" in whole or line:
        first = naming.name(whole, action.obs_type)
    if not verb and naming.inline(action.content):
        said = action.metadata.get("description")
        first = f"a script ({said})" if isinstance(said, str) and said else "a script"
    return f"{verb} {short(action.file_path)}" if verb and action.file_path else clip(f"{verb} {first}".strip(), 80)


_LINE = 60
"""Characters of a command that is told as it stands."""
