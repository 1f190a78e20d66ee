"""A session's summary over its episodes."""

from __future__ import annotations

from nmem.episodes.narrations import Part
from nmem.episodes.summary import compose

NAMES = ("learned", "completed", "next_steps", "notes", "files_read", "files_edited")


def part(number: int, summary: str, turns: int = 1, resumes: int | None = None, narrator: str = "extractive",
         title: str = "", **lists: list[str]) -> Part:  # fmt: skip
    told = {name: tuple(lists.get(name, ())) for name in NAMES}
    return Part(number, title, turns, resumes, "closed", narrator, number, summary, told)


def test_goals_stand_in_order_and_a_resumed_one_once() -> None:
    told = compose([
        part(1, "Retry failed uploads. Committed.", learned=["Uploads time out after a minute"]),
        part(2, "Write the billing guide. Nothing was changed."),
        part(3, "Go on with the uploads. Tests passed.", resumes=1, learned=["Uploads time out after a minute"]),
        part(4, "And on with them. Done.", resumes=3),
    ])  # fmt: skip
    assert told.intent == "Retry failed uploads; Write the billing guide"
    assert told.learned == ["Uploads time out after a minute"]


def test_of_many_goals_those_that_took_most_are_named() -> None:
    told = compose([part(number, f"Goal {number} of the day. Done.", turns=number) for number in range(1, 10)])
    assert told.intent.startswith("Goal 4 of the day; Goal 5")
    assert told.intent.endswith("; and 3 more")


def test_a_person_s_own_name_wins() -> None:
    assert compose([part(1, "fix it pls. Done.", title="Coupons")]).intent == "Coupons"


def test_what_a_later_episode_completed_is_open_no_more() -> None:
    told = compose([
        part(1, "a", next_steps=["Write the migration guide for billing tables", "Ask about the currency format"]),
        part(2, "b", completed=["Wrote migration guide: billing tables, write-up added"], files_edited=["docs/a.md"]),
        part(3, "c", next_steps=["Add an index to invoices"], files_edited=["docs/a.md", "b.sql"], narrator="qwen"),
    ])  # fmt: skip
    assert told.next_steps == ["Add an index to invoices", "Ask about the currency format"]
    assert told.files_edited == ["docs/a.md", "b.sql"]
    assert told.narrator == "qwen"
