"""What the preview says is what the hook says, and what it is silent of, however telling is switched."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from capture import paths
from nmem import database
from nmem.context import config
from nmem.context.choosing import switched
from nmem.context.preview import Asked, Preview, of
from tests.nmem.context.conftest import HOUR, Played

SAME = "the voucher total in shop/cart.py must never be negative, fix the cart"
OTHER = "write a haiku about autumn leaves into poem.txt"


def configured(text: str) -> Callable[[Played], None]:
    def put(_: Played) -> None:
        file = Path(paths.config())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return put


def stored(*statements: str) -> Callable[[Played], None]:
    def put(played: Played) -> None:
        with closing(played.database()) as db:
            for statement in statements:
                db.execute(statement)

    return put


def off(played: Played) -> None:
    with closing(played.database()) as db:
        switched(db, 1, played.at, off=True)


def chosen(item: str, choice: str) -> str:
    return f"INSERT OR REPLACE INTO context_choices VALUES (1, '{item}', '{choice}', 5)"


PINNED = "UPDATE work_units SET pinned = 1"
MANY = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30) INSERT INTO context_choices"
    " SELECT 1, 'file/docs/' || hex(zeroblob(40)) || x || '.md', 'pin', x FROM n"
)
STATES: dict[str, Callable[[Played], None]] = {
    "as it comes": stored(),
    "a file included": stored(chosen("file/shop/cart.py", "include")),
    "an episode pinned": stored(PINNED),
    "an episode pinned and excluded": stored(PINNED, chosen("episode/1", "exclude")),
    "an episode excluded": stored(chosen("episode/1", "exclude")),
    "a prompt pinned": stored(chosen("prompt/1", "pin")),
    "more pinned than there is room for": stored(PINNED, MANY),
    "something taken away": stored(PINNED, "DELETE FROM observations WHERE obs_type = 'file_read'"),
    "off": off,
    "off by name": configured("[context]\noff = ['shop']\n"),
    "off by root": configured("[context]\noff = ['/src/shop']\n"),
    "not enabled": configured("[context]\nenabled = false\n"),
    "not enabled, and the rest is broken": configured("[context]\nenabled = false\n[llm\n"),
    "little room": configured("[context]\nprompt_tokens = 70\nstart_tokens = 60\n"),
    "no room": configured("[context]\nprompt_tokens = 0\nstart_tokens = 0\n"),
}


def previewed(played: Played, prompt: str = "", session: str = "") -> Preview:
    known = config.load()
    asked = Asked(prompt=prompt, now=played.at + 1000, session_id=session, like="" if session else "a")
    with closing(database.reader(played.path)) as db:
        db.row_factory = None
        return of(db, asked, known.prompt_tokens if prompt else known.start_tokens)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_the_preview_is_what_the_hook_says(db_path: str, state: str, client: str) -> None:
    played = Played(db_path, "claude")
    played.fix()
    stored(f"UPDATE sessions SET client = '{client}'")(played)
    STATES[state](played)
    played.client = client
    played.at += 2 * HOUR
    expected = previewed(played)
    told = played.begin("b", gap=0)
    assert told == expected.text
    assert bool(expected.why_silent) == (not told)
    for prompt in (OTHER, SAME):
        played.begin(f"at {prompt}", gap=0)
        expected, begun = previewed(played, prompt, played.session), previewed(played, prompt)
        told = played.ask(prompt)
        assert told == expected.text == begun.text
        assert bool(expected.why_silent) == bool(begun.why_silent) == (not told)


def two_sessions(played: Played) -> list[str]:
    """A project of two sessions that both touched the cart, and all that could be excluded of it."""
    played.fix()
    played.begin("c", gap=10 * 60_000)
    played.ask("round the voucher total in shop/cart.py half up, and show it in shop/receipt.py")
    played.edit("shop/cart.py")
    played.edit("shop/receipt.py")
    played.say("The voucher total is rounded half up in `shop/cart.py` and shown by `shop/receipt.py`.")
    played.end()
    played.settle()
    with closing(played.database()) as db:
        found = db.execute(
            "SELECT 'episode/' || id FROM work_units UNION SELECT 'thread/' || id FROM threads"
            " UNION SELECT 'next/' || id FROM work_units UNION SELECT 'file/' || path FROM context_files"
        ).fetchall()
    return sorted(row[0] for row in found)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_excluded_the_preview_is_what_the_hook_says(played: Played, seed: int) -> None:
    items, chance = two_sessions(played), Random(seed)
    prompts = (SAME, OTHER, "the voucher total is still wrong", "show the receipt total with its voucher")
    for run in range(4):
        with closing(played.database()) as db:
            db.execute("DELETE FROM context_choices")
        stored(*(chosen(item, "exclude") for item in chance.sample(items, chance.randint(1, len(items)))))(played)
        prompt = chance.choice(prompts)
        played.begin(f"{seed} {run}", gap=chance.choice((60_000, 2 * HOUR)))
        expected, begun = previewed(played, prompt, played.session), previewed(played, prompt)
        assert played.ask(prompt) == expected.text == begun.text


def test_what_is_silent_says_why(played: Played) -> None:
    played.fix()
    for state, words in (("off", "`nmem context --on`"), ("not enabled", "[context] enabled"),
                         ("off by name", "[context] off")):  # fmt: skip
        STATES[state](played)
        assert words in previewed(played, SAME).why_silent
        with closing(played.database()) as db:
            switched(db, 1, 0, off=False)


def test_once_something_is_taken_away_nothing_is_told_until_it_is_folded_anew(played: Played) -> None:
    """Pins, notes and prepared learnings may hold what is gone as well."""
    played.fix()
    stored(PINNED, chosen("file/shop/cart.py", "include"))(played)
    played.begin("b")
    assert played.told["b"]
    stored("DELETE FROM observations WHERE obs_type = 'file_read'")(played)
    assert played.begin("c") == ""
    assert played.ask(SAME) == ""
    assert "prepares it anew" in previewed(played, SAME).why_silent
    played.settle()
    assert played.begin("d")
