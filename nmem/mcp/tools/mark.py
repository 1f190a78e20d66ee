"""`mark`: adds a note, a decision or a rollback point to the current session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture import paths
from nmem.mcp.reply import line, when
from nmem.mcp.tool import Answer, Param, Tool

if TYPE_CHECKING:
    from nmem.mcp.tool import Ask

KINDS = ("note", "decision", "rollback")


def run(ask: Ask) -> Answer:
    """Store it in the session that is going on here, redacted, and say under which id."""
    from nmem import marks  # on use: start-up stays short

    session_id = ask.session_named()  # one clear line where there is no memory, or another's
    ask.close()
    made = marks.mark(paths.database(), ask.text("text"), ask.text("kind"), cwd=ask.cwd, session_id=session_id)
    return {"id": f"obs/{made.id}", "at": when(made.at), "kind": made.kind, "text": line(made.text, 300),
            "session": f"session/{line(made.session_id, 80)}"}  # fmt: skip


TOOL = Tool("mark", "Keep a note, a decision (with its reason) or a rollback point for later.", (
    Param("text", required=True), Param("kind", choices=KINDS, default="note"),
), run, writes=True)  # fmt: skip
