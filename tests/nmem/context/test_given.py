"""A session is told nothing twice, and what it was told never comes back into memory."""

from __future__ import annotations

import json
import sqlite3

from hypothesis import given as examples
from hypothesis import strategies as st

from capture.clients.said import BEGIN, END, strip_own
from nmem.context.items import Item
from nmem.context.store import Injection, folded, given, remember
from tests.nmem.context.conftest import Played


def injection(session: str, at: int, *items: Item, event: str = "prompt", withheld: bool = False) -> Injection:
    one = Injection(session, at, event, "claude")
    one.items, one.text, one.withheld = items, f"{BEGIN}\n{END}", withheld
    return one


def test_items_and_files_count_since_the_last_compaction(played: Played) -> None:
    played.begin("s")
    db = played.database()
    remember(db, injection("s", 1, Item("episode/1", "episode", "one", files=("a.py",))))
    remember(db, injection("s", 20_000, Item("file/b.py", "file", "b.py", files=("b.py",)), withheld=True))
    assert given(db, "s", folded(db, "s")[0]) == (frozenset({"episode/1", "file/b.py"}), frozenset({"a.py", "b.py"}))
    assert folded(db, "s") == (0, 0)
    remember(db, injection("s", 40_000, Item("episode/9", "goal", "nine"), event="compact"))
    assert given(db, "s", folded(db, "s")[0]) == (frozenset({"episode/9"}), frozenset())
    assert folded(db, "s")[1] == 40_000
    assert given(db, "another", 0) == (frozenset(), frozenset())
    db.close()


def test_the_same_moment_is_stored_once(played: Played) -> None:
    played.begin("s")
    db = played.database()
    assert remember(db, injection("s", 100_000, event="startup"))
    assert not remember(db, injection("s", 100_900, event="startup"))
    assert remember(db, injection("s", 200_000, event="startup"))
    db.close()


def everything(path: str) -> str:
    """Every text that memory keeps, but for the record of what was told."""
    db = sqlite3.connect(path)
    tables = [
        name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith(("injection", "sqlite_")) and "_fts" not in name
    ]  # fmt: skip
    found = "\n".join(str(row) for name in tables for row in db.execute(f"SELECT * FROM {name}"))
    db.close()
    return found


def test_twelve_sessions_that_repeat_what_they_were_told_do_not_grow_memory(played: Played) -> None:
    played.fix("s0")
    sizes: list[int] = []
    for number in range(1, 13):
        played.begin(f"s{number}")
        told = played.ask("the voucher total in shop/cart.py must never be negative, fix the cart")
        assert told
        # whatever a client or an agent does with it, it comes back in every way there is
        played.hook("UserPromptSubmit", prompt=f"{told}\n\ngo on with the voucher of shop/cart.py, please")
        played.run(f"echo {number}", f"before\n{told}\nafter")
        played.edit("shop/cart.py", "a = 1", f"a = {number}\n{told}")
        played.hook("PostToolUse", tool_name="mcp__x__y", tool_use_id=f"m{number}", tool_input={"text": told},
                    tool_response=[{"type": "text", "text": json.dumps({"context": told})}])  # fmt: skip
        played.hook("PostToolUse", tool_name="Agent", tool_use_id=f"a{number}",
                    tool_input={"description": "look", "prompt": told, "subagent_type": "x"},
                    tool_response={"content": [{"type": "text", "text": told}]})  # fmt: skip
        played.say(f"I was told {told} and kept it above zero.")
        played.end()
        played.settle()
        sizes.append(len(told))
    kept = everything(played.path)
    assert BEGIN not in kept
    assert END not in kept
    assert "Recorded by nmem" not in kept
    assert max(sizes[5:]) <= max(sizes[:5]) * 1.1, sizes


@examples(st.text(), st.text(), st.text().filter(lambda text: BEGIN not in text and END not in text))
def test_what_stands_around_it_stays(before: str, after: str, told: str) -> None:
    kept = strip_own(f"{before}{BEGIN}{told}{END}{after}")
    rest = strip_own(before) + after if BEGIN not in before + after else ""
    assert not rest or kept.replace("\n", "") == (before + after).replace("\n", "")
