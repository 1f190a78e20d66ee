"""Reads a session's turns (prompt, tool calls, files, answer) from the database, as input of the episode detector.

A turn is {id, ids, at, text, gap_minutes, cleared, agent}: `id` is the prompt that opened it, `ids` are all prompts of
the user in it (late ones and bare commands belong to the turn they were typed in; those before the first real prompt
to that one), `agent` is what the features read. Machine texts and subagents are no turns.
"""

from __future__ import annotations

from nmem.episodes import store
from nmem.episodes.text import MAX_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import Any

    Turn = dict[str, Any]

REMEMBERED = 20
"""Turns after which nothing of a turn is left in the past."""
_COMMAND_WORDS = 4
"""Words after a slash command from which on it says what is wanted."""
_MORE = 5
"""Prompts read beyond the turns that are remembered: some are no turns of their own."""
_MINUTE = 60_000


def whole(db: Connection, session_id: str) -> list[Turn]:
    """All turns of a session."""
    return _assembled(db, session_id, store.asked(db, session_id, MAX_CHARS), store.work(db, session_id))


def spoken(db: Connection, session_id: str, files: bool) -> list[Turn]:
    """All turns of a session, of which only the words are read, and the files if they are asked for: a third of it."""
    turns = _grouped(store.asked(db, session_id, MAX_CHARS))
    if files:
        owner = {number: turn for turn in turns for number in turn["ids"]}
        for prompt_id, path in store.touched(db, session_id):
            if prompt_id in owner:
                owner[prompt_id]["agent"]["files"].append(path)
    if turns:
        _spoke(turns, store.closings(db, session_id, turns[0]["at"]))
    return turns


def recent(db: Connection, session_id: str) -> list[Turn]:
    """The newest turns of a session, as many as are remembered, or a few more."""
    rows = store.asked(db, session_id, MAX_CHARS, REMEMBERED + _MORE)
    return _assembled(db, session_id, rows, store.work(db, session_id, [row[0] for row in rows]))


def opens_turn(kind: str, content: str) -> bool:
    """Whether a user prompt is a turn of its own: no late word, no bare command."""
    return kind == "prompt" or (kind == "command" and len(content.split(None, _COMMAND_WORDS)) > _COMMAND_WORDS)


def _assembled(db: Connection, session_id: str, prompts: list[Any], done: list[Any]) -> list[Turn]:
    turns = _grouped(prompts)
    if not turns:
        return []
    owner = {number: turn for turn in turns for number in turn["ids"]}
    for prompt_id, obs_type, tool, path, calls, at, commit, interrupted in done:
        turn = owner.get(prompt_id)
        if turn is not None:
            _did(turn, obs_type, tool, path, calls, at, bool(commit), bool(interrupted))
    _spoke(turns, store.closings(db, session_id, turns[0]["at"]))
    for before, turn in zip(turns, turns[1:], strict=False):  # noqa: RUF007 - itertools is dear in a hook
        turn["gap_minutes"] = max(0.0, round((turn["at"] - before["last_at"]) / _MINUTE, 1))
        turn["cleared"] = "clear" in before["agent"]["events"]
    return turns


def _grouped(prompts: list[Any]) -> list[Turn]:
    turns: list[Turn] = []
    real = False
    for number, at, kind, content in prompts:
        opens = opens_turn(kind, content)
        if turns and (not opens or not real):
            turn = turns[-1]
            turn["ids"].append(number)
            turn["last_at"] = at
            if opens:
                turn["id"], turn["text"], turn["at"], real = number, content, at, True
            continue
        real = opens
        turns.append({
            "id": number, "ids": [number], "at": at, "text": content, "gap_minutes": None, "cleared": False,
            "last_at": at, "agent": {"tools": {}, "files": [], "said": "", "events": []},
        })  # fmt: skip
    return turns


def _did(
    turn: Turn, obs_type: str, tool: str | None, path: str | None, calls: int, at: int, commit: bool, stopped: bool
) -> None:
    agent = turn["agent"]
    turn["last_at"] = max(turn["last_at"], at)
    if obs_type == "session_clear":
        agent["events"].append("clear")
    if tool is None:
        return
    agent["tools"][tool] = agent["tools"].get(tool, 0) + calls
    if path and obs_type in store.FILES and path not in agent["files"]:
        agent["files"].append(path)
    if commit:
        agent["events"].append("commit")
    if stopped:
        agent["events"].append("interrupt")


def _spoke(turns: list[Turn], said: list[tuple[int, str, int]]) -> None:
    """Closing texts, each to the turn that it closes: the last one of a turn counts; and that it was broken off."""
    following = 1
    for at, text, stopped in said:
        while following < len(turns) and turns[following]["at"] <= at:
            following += 1
        turn = turns[following - 1]
        if stopped:
            turn["agent"]["events"].append("interrupt")
        else:
            turn["agent"]["said"] = text
        turn["last_at"] = max(turn["last_at"], at)
