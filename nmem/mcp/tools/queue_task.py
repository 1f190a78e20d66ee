"""`queue_task`: queues work for another session, with the rights of any task; a person's runner starts it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from capture import paths
from nmem import hours
from nmem.errors import NmemError
from nmem.mcp.reply import line, some
from nmem.mcp.tool import TEXTS, Answer, Param, Tool, Usage

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask


def run(ask: Ask) -> Answer:
    """Queue it in the folder that the server runs in, and say under which id."""
    from nmem.dispatch import NAME, act, queue, read  # on use: start-up stays short
    from nmem.dispatch.config import load  # on use: start-up stays short
    from nmem.dispatch.task import AGENT, NewTask  # on use: start-up stays short

    config = load()
    if not config.agents_may:
        raise NmemError("agents may not queue tasks here ([dispatch] agent_tasks): tell the person what to do")
    parent = os.environ.get(NAME, "")
    assert ask.db  # one clear line where there is no memory, or another's
    ask.close()
    with queue.writing(paths.database()) as db:
        known = parent.isdecimal() and read.task(db, int(parent)) is not None
        new = NewTask(
            ask.text("prompt"), ask.cwd, client=config.client, not_before=hours.when(ask.text("after"), ask.now),
            needs=tuple(_number(need) for need in ask.texts("needs")), source=AGENT,
            parent_id=int(parent) if known else None,
        )  # fmt: skip
        made = act.add(db, new, ask.now)
        if not config.agents_ask:
            queue.approve(db, made.id, "by the configuration", ask.now)
            made = read.task(db, made.id) or made
        standing = "" if made.asks else read.standing(made, ask.now, config.quiet_hours)
    runs = "once the person approves it" if made.asks else "when the person's runner starts it"
    return some({"id": f"task/{made.id}", "state": made.state, "why": line(standing, 200),
                 "runs": runs})  # fmt: skip


def _number(need: str) -> int:
    number = need.removeprefix("task/")
    if not (number.isascii() and number.isdigit() and len(number) < 18):
        raise Usage(f"needs: {line(need, 40)} is not a task")
    return int(number)


TOOL = Tool("queue_task", "Queue work for a later session here, in a person's words.", (
    Param("prompt", required=True), Param("after", says="2h, 22:30, tonight"), Param("needs", TEXTS, "Task ids."),
), run, writes=True)  # fmt: skip
