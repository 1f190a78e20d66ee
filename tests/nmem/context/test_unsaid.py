"""What a person excludes is in no text that a hook tells, whatever kind of thing it is, and whoever else quotes it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from nmem import database
from nmem.context.choosing import choose
from nmem.context.preview import Asked, Preview, after_reset, of
from nmem.context.unsaid import Unsaid, _phrases, read
from nmem.marks import mark
from tests.nmem.context.conftest import HOUR, MINUTE, Played

DESCALE = "also explain in the README how to descale it"
LEFT = f'["Asked last and not answered: {DESCALE}"]'
NOTED = "rounding of vouchers is half up, agreed with accounting"
FAILS = "make deploy fails without a token of the registry"
ASKED = "the voucher total in shop/cart.py must never be negative, fix the cart; then make deploy"
FILE = "shop/cart.py"


@pytest.fixture
def shop(played: Played) -> Played:
    """Two settled sessions: one fixed a cart, one left its last request open; and everything of theirs is pinned."""
    file = Path(paths.config())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[context]\nprompt_tokens = 2400\nstart_tokens = 2400\nrecovery_tokens = 2400\n")
    played.once("unsaid", lambda: _shop(played))
    return played


def _shop(played: Played) -> None:
    played.fix()
    played.begin("open")
    played.ask("the voucher page must say in words which coupon was refused, and until when it was valid")
    played.edit("shop/cart.py")
    played.say("The page of vouchers names the coupon and its last day.")
    played.ask(DESCALE)
    played.edit("README.md")
    mark(played.path, NOTED, "decision", cwd=played.folder, session_id="open", at=played.at + 1000)
    played.settle()
    with closing(played.database()) as db:
        db.execute("UPDATE work_units SET pinned = 1")
        db.execute("UPDATE threads SET pinned = 1")
        db.execute("UPDATE sessions SET branch = 'feature/voucher'")
        db.execute(
            "INSERT INTO learnings (id, project_id, kind, key, title, first_at, last_at, sessions, occurrences, state)"
            " VALUES (7, 1, 'failed_command', 'make deploy', ?, 0, 0, 4, 9, 'open')",
            (FAILS,),
        )
        db.execute("INSERT INTO context_learnings VALUES (7, 1, 90.0, 'make deploy', '', '', '', ?)", (FAILS,))
        db.execute("INSERT INTO context_choices VALUES (1, ?, 'pin', 1)", (f"prompt/{prompt(played)}",))


def one(played: Played, sql: str, *values: object) -> int:
    with closing(played.database()) as db:
        return int(db.execute(sql, values).fetchone()[0])


def prompt(played: Played) -> int:
    return one(played, "SELECT id FROM prompts WHERE content = ?", DESCALE)


def unit(played: Played, session: str) -> int:
    return one(played, "SELECT id FROM work_units WHERE session_id = ? ORDER BY id DESC LIMIT 1", session)


def excluded(played: Played, item: str) -> None:
    with closing(played.database()) as db:
        choose(db, 1, item, "exclude", played.at)


def everything(played: Played, run: str) -> str:
    """All that hooks tell: at starts, at prompts, to a session that is resumed, after a compaction and a clear."""
    played.told.clear()
    played.begin(f"trunk {run}")
    played.ask(ASKED)
    played.begin(f"branch {run}")
    with closing(played.database()) as db:
        db.execute("UPDATE sessions SET branch = 'feature/voucher' WHERE id = ?", (played.session,))
    played.at += MINUTE
    played.hook("SessionStart", source="startup")
    played.ask(ASKED)
    for session, source in (("a", "resume"), ("open", "resume"), ("open", "compact")):
        played.begin(session, source)
    played.end("clear")
    played.begin(f"cleared {run}", "clear", gap=200)
    return "\n".join(text for texts in played.told.values() for text in texts)


KINDS = {
    "what an episode left": ("next", DESCALE),
    "an episode": ("episode", "loses a cent when a voucher is used"),
    "an episode's lesson": ("episode", "truncated the quokka fraction"),
    "a thread": ("thread", "which coupon was refused"),
    "a learning": ("learning", FAILS),
    "a note": ("obs", NOTED),
    "a prompt": ("prompt", DESCALE),
}


def item(played: Played, kind: str) -> str:
    number = {
        "next": unit(played, "open"), "episode": unit(played, "a"), "learning": 7, "prompt": prompt(played),
        "thread": one(played, "SELECT thread_id FROM work_units WHERE intent LIKE '%which coupon was refused%'"),
        "obs": one(played, "SELECT id FROM observations WHERE obs_type = 'marker'"),
    }[kind]  # fmt: skip
    return f"{kind}/{number}"


@pytest.mark.parametrize("what", KINDS)
def test_what_is_excluded_is_in_no_text_that_a_hook_tells(shop: Played, what: str) -> None:
    kind, words = KINDS[what]
    plain = everything(shop, "before").replace("`", "")
    assert words in plain, "else nothing is shown by it"
    shop.at += HOUR
    excluded(shop, item(shop, kind))
    after = everything(shop, "after").replace("`", "")
    assert words not in after
    assert "Pinned:" in after or "Interrupted:" in after, "the rest is told as before"


def test_a_file_is_not_named_but_what_was_said_of_it_is_told(shop: Played) -> None:
    excluded(shop, f"file/{FILE}")
    told = everything(shop, "after")
    lists = [line for line in told.splitlines() if "Files likely" in line or " Files: " in line]
    assert FILE not in "".join(lists)
    assert f"- `{FILE}`" not in told
    assert "`int()`" in told or "quokka" in told, "a pinned episode that speaks of it is no list of files"


def previewed(played: Played) -> Preview:
    with closing(database.reader(played.path)) as db:
        db.row_factory = None
        return of(db, Asked(now=played.at + 1000, like="open"), 2400)


def test_what_is_held_back_says_for_what_and_what_is_excluded_keeps_its_words(shop: Played) -> None:
    number = unit(shop, "open")
    excluded(shop, f"next/{number}")
    found = previewed(shop)
    assert DESCALE not in found.text and f"Episode {number}" in found.text, "the pinned episode loses a clause only"
    held = {each.id: each.reason for each in found.held}
    assert held[f"pin/prompt/{prompt(shop)}"] == f"you excluded its words: next/{number}"
    assert not {each.id for each in found.left_out} & set(held)
    assert [(each.id, DESCALE in each.text) for each in found.excluded] == [(f"next/{number}", True)]


def test_after_a_reset_what_is_held_back_says_for_what(shop: Played) -> None:
    number = unit(shop, "open")
    excluded(shop, f"next/{number}")
    with closing(database.reader(shop.path)) as db:
        db.row_factory = None
        found = after_reset(db, "open", shop.at + 1000, 2400)
    assert DESCALE not in found.text and "Interrupted:" in found.text
    assert [each.reason for each in found.held] == [f"you excluded its words: next/{number}"]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("Also explain, in the README, how to descale it.", True),
        ("first boil it; also explain in the README how to descale it, then stop", True),
        ("please: also explain in the README…", True),
        ("explain in the README how", True),
        ("explain it", False),
        ("in the README", False),
        ("write a README", False),
        ("", False),
    ],
)
def test_a_quotation_is_the_whole_or_four_words_in_a_row(text: str, quotes: bool) -> None:
    unsaid = Unsaid([], dict.fromkeys(_phrases(LEFT, "next", listed=True), "next/1"))
    assert bool(unsaid.says(text)) is quotes


def test_what_many_episodes_say_is_left_out_of_none() -> None:
    assert _phrases('["Tests pass", "Created shop/cart.py"]', "episode", listed=True) == []
    assert _phrases('["Tests pass"]', "next", listed=True) == ["tests pass"]
    assert _phrases("[note] half up", "obs", listed=False) == ["note half up"], "what looks like a list is none"


def test_an_excluded_episode_is_not_told_by_the_name_that_the_agent_gave_it(shop: Played) -> None:
    number = unit(shop, "open")
    with closing(shop.database()) as db:
        db.execute("UPDATE work_units SET agent_title = 'Merge the data room of Acme' WHERE id = ?", (number,))
        held = read(db, [f"episode/{number}"])
    assert held.says("Merge the data room of Acme", "thread/1") == f"episode/{number}"
