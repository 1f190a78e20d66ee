"""Builds a language model's input from a session: of each turn the prompt, its work in lines, and the answer.

Reads and looks around are one line at the end; a result is told where it says something; a page, a file's content or
what a network program answered is not shown at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from capture.event import STOPPED
from nmem.episodes import history, store
from nmem.episodes.narrate import naming
from nmem.episodes.narrate.records import FAILED, OK, Action
from nmem.episodes.narrate.turns import REASON
from nmem.episodes.reading import action
from nmem.llm import story
from nmem.llm.claims import sentences
from nmem.llm.session_prompt import Turn

_STOP = "broken off by the user"
_CHECKS = frozenset(("test", "build", "lint"))
_EDITS = {"file_edit": "edited", "file_write": "wrote"}
_LOOKS = frozenset(("file_read", "search", "web_fetch", "web_search", "todo", "tool_other", "skill"))
_QUIET = re.compile(
    r"^(?:cd \S+ && )?(?:git (?:-C \S+ )?(?:--no-pager )?(?:status|log|diff|show|branch|remote|fetch)|ls|cat|head|tail"
    r"|grep|rg|find|sed -n|wc|pwd|echo|which|tree|stat|file|sleep|ps|env)\b"
)
"""Commands that only look."""
_OUTSIDE = re.compile(r"\b(?:curl|wget|http|https|nc|ssh|gh|glab|lynx|w3m)\b")
"""Programs whose answers somebody else writes."""
_FILES, _LOOKED = 8, 6
_COMMAND, _RESULT = 110, 140


@dataclass(frozen=True, slots=True)
class Shown:
    """A session as a model is shown it; `ids` are the prompts of each turn."""

    turns: list[Turn]
    ids: list[tuple[int, ...]]
    history: list[history.Turn]


def read(db: Connection, session_id: str, only: Iterable[int] | None = None) -> Shown:
    """The turns of a session, or those of them that hold any of the prompts in `only`. Raises sqlite3.Error."""
    wanted = None if only is None else frozenset(only)
    turns = [
        turn for turn in history.whole(db, session_id) if wanted is None or not wanted.isdisjoint(turn["ids"])
    ]  # fmt: skip
    done: dict[int, list[Action]] = {}
    for prompt_id, *row in store.done(db, session_id):
        done.setdefault(prompt_id, []).append(action(tuple(row)))
    said = store.spoken(db, session_id)
    return Shown([_turn(turn, done, said) for turn in turns], [tuple(turn["ids"]) for turn in turns], turns)


def _turn(turn: history.Turn, done: dict[int, list[Action]], said: Sequence[tuple[int, str, str]]) -> Turn:
    actions = [one for number in turn["ids"] for one in done.get(number, ())]
    own = [(kind, text) for at, kind, text in said if turn["at"] <= at <= turn["last_at"]]
    last = dict(own)
    stopped = [_STOP] * (next((text for kind, text in reversed(own) if kind != "thinking"), "") == STOPPED)
    words = last.get("closing") or last.get("thinking") or str(turn["agent"]["said"])
    by_the_way = [(at, text) for at, kind, text in said if kind == "thinking" and turn["at"] <= at <= turn["last_at"]]
    did = [*stopped, *deeds(actions, _comments(actions, by_the_way))]
    return Turn(turn["text"], float(turn["gap_minutes"] or 0), did, words)


def _comments(actions: Sequence[Action], said: Sequence[tuple[int, str]]) -> dict[str, str]:
    """What the agent said directly after the newest run of a check that was not seen to pass, by the check's name."""
    found: dict[str, str] = {}
    ends = [*(one.at for one in actions[1:]), 1 << 62]
    for one, end in zip(actions, ends, strict=False):
        if one.obs_type in _CHECKS and one.outcome != OK:
            rows = [row for at, text in said if one.at < at <= end for row in sentences(text)]
            telling = [row for row in rows if not row.endswith((":", "：")) and len(row) > _TELLING][:1]
            found[_failing(one)] = f"; the agent then: “{_line(telling[0], _RESULT)}”" if telling else ""
    return found


_TELLING = 24
"""Characters of a sentence that is more than "Perfect!"."""


def deeds(actions: Sequence[Action], comments: Mapping[str, str] | None = None) -> list[str]:
    """What was done, a line each, the telling ones first: answers of the person, commits, checks, edits, commands.

    `comments`: what the agent said of checks, by their names.
    """
    lines: list[tuple[int, str]] = []
    tries = _tries(actions)
    comments = comments or {}
    told: set[str] = set()
    for one in actions:
        name = _failing(one)
        if one.refused and one.obs_type == "plan" and not REASON.search(one.response):
            lines.append((0, "a plan was put to the user and not carried out here"))  # elsewhere, for all one knows
        elif one.refused:
            lines.append((0, f"refused by the user: {_refused(one)}"))
        elif one.obs_type in ("question", "plan"):
            lines.append((0, f"answered by the user: {_line(one.content, 200)} -> {_line(one.response, 200)}"))
        elif one.obs_type == "git_commit" and one.outcome != FAILED:
            lines.append((1, _commit(one)))
        elif one.obs_type == "git_push" and one.outcome == OK:
            lines.append((1, f"pushed {one.told('push').get('branch') or ''}".strip()))
        elif _goes_wrong(one) and tries[name].failures > 1:
            if name not in told:
                lines.append((2, f"{name}{story.FAILED} {tries[name].told()}{comments.get(name, '')}"))
            told.add(name)
        elif one.obs_type not in _LOOKS and one.obs_type not in _EDITS and (line := _ran(one)):
            checked = one.obs_type in _CHECKS or one.outcome == FAILED
            after = tries[name].after * (one.outcome == FAILED) + comments.get(name, "") * (one.outcome != OK)
            lines.append((3 if checked else 5, line + after))
    lines += [(4, line) for line in _touched(actions)]
    lines.sort(key=lambda each: each[0])
    seen = dict.fromkeys(line for _, line in lines)
    looked = _looked(actions)
    return [*seen, looked] if looked else list(seen)


@dataclass(slots=True)
class _Tries:
    """What one command or edit came to, each time that it was tried."""

    failures: int = 0
    results: list[str] = field(default_factory=list)
    """What was wrong, each reason once."""
    after: str = ""
    """That it passed after its newest failure."""

    def told(self) -> str:
        return f"{self.failures} times{' -> ' * bool(self.results)}{' / '.join(self.results[:_REASONS])}{self.after}"


_REASONS = 3


def _tries(actions: Sequence[Action]) -> dict[str, _Tries]:
    """By what is tried: see `_failing`."""
    found: dict[str, _Tries] = {}
    for one in actions:
        known = found.setdefault(_failing(one), _Tries())
        if not _goes_wrong(one):
            known.after = "; passed later" if known.failures and one.outcome == OK else known.after
            continue
        known.failures, known.after = known.failures + 1, ""
        result = "" if one.obs_type in _EDITS else _result(one)
        known.results += [result] if result and result not in known.results else []
    return found


def _goes_wrong(one: Action) -> bool:
    """Whether a call that does more than look was run and failed."""
    return one.outcome == FAILED and not one.refused and one.obs_type not in _LOOKS


def _refused(one: Action) -> str:
    if one.obs_type in ("plan", "question"):
        return f"the agent's {one.obs_type}"
    return f"{one.tool_name} {_line(one.content or one.file_path, _COMMAND)}"


def _failing(one: Action) -> str:
    """What a call that failed is named by, the same each time."""
    if one.obs_type in _EDITS:
        return f"an edit of {one.file_path or ''}".strip()
    return f"{one.obs_type if one.obs_type in _CHECKS else 'command'} `{_line(one.content, _COMMAND)}`"


def _commit(one: Action) -> str:
    told = one.told("commit")
    subject = told.get("subject") or told.get("message") or one.content
    return f"committed {str(told.get('hash') or '')[:10]} {_line(str(subject), 120)}".replace("  ", " ")


def _ran(one: Action) -> str:
    """A command with its result; nothing of one that only looks, unless it failed."""
    failed = one.outcome == FAILED
    if _QUIET.match(one.content) and not failed:
        return ""
    result = "" if _OUTSIDE.search(one.content) and not failed else _result(one)
    told = f"{_failing(one)}{story.FAILED if failed else ''}"
    return f"{told} -> {result}" if result else told


def _result(one: Action) -> str:
    """Counts of tests where they are known, else the last line of the answer that says something."""
    counts = {name: count for name, count in one.told("tests").items() if isinstance(count, int) and count > 0}
    if counts:
        return ", ".join(f"{count} {name}" for name, count in counts.items())
    rows = [row for row in naming.bare(one.response).split("\n") if sum(map(str.isalnum, row)) >= 2]
    told = [row for row in rows if re.search(r"error|fail|exception|assert|denied|not found", row, re.IGNORECASE)]
    if one.outcome == FAILED:
        return _line((told or rows or [""])[-1], _RESULT)
    return _line(rows[-1], _RESULT) if rows and len(rows[-1]) <= _RESULT * 2 else ""


def _touched(actions: Sequence[Action]) -> Iterable[str]:
    for kind, word in _EDITS.items():
        files = [one.file_path for one in actions if one.obs_type == kind and one.outcome != FAILED and not one.refused]
        if named := _names(files, _FILES):
            yield f"{word} {named}"


def _looked(actions: Sequence[Action]) -> str:
    named = _names([one.file_path for one in actions if one.obs_type == "file_read"], _LOOKED)
    return f"read {named}" if named else ""


def _names(files: Sequence[str], most: int) -> str:
    known = list(dict.fromkeys(path for path in files if path))
    more = f" (+{len(known) - most} more)" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def _line(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
