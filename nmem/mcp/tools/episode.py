"""`episode`: lets the agent report that the user turned to another task, and name it.

Nothing is written here: the hook of the client, which knows the session and the prompt, records the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.mcp.reply import line
from nmem.mcp.tool import Answer, Param, Tool, Usage

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask

_SHOWN = 60


def run(ask: Ask) -> Answer:
    """Say that the call arrived, or what is wrong with its title."""
    title = ask.text("title")
    if not any(char.isalpha() for char in title):
        raise Usage("title: a few words that name the task")
    return {"noted": line(title, _SHOWN)}


TOOL = Tool(
    "episode",
    "Call it when the user turns to another task (no mere step): its title in a few words; the title or id that it "
    "`resumes`.",
    (Param("title", required=True), Param("resumes")),
    run,
)
