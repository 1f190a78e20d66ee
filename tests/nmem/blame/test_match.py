"""Which recorded edit made a line: each rule by which one is not claimed, by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest.mock import Mock

import pytest

from nmem.blame import match
from nmem.blame.git import Blamed, Commit
from nmem.blame.match import Edit, Made, claims, recorded
from nmem.blame.store import lines_of

FIRST, SECOND, THIRD = "a" * 40, "b" * 40, "c" * 40
PRICE, TAX, TOTAL = "price_of_the_item = 1", "tax_of_the_country = 2", "total_of_the_order = 3"
MADE = {FIRST: Made(FIRST[:9], 1_000, "one", "s", 1, "/src"), SECOND: Made(SECOND[:9], 2_000, "two", "s", 1, "/src")}


def edit(at: int, added: Sequence[str], removed: Sequence[str] = (), prompt: int = 1, **more: str | bool) -> Edit:
    given = {"root": "/src", "name": "a.py", "replaces": False, **more}
    return Edit(at, at, "s", prompt, 1, added=tuple(added), removed=tuple(removed), **given)  # type: ignore[arg-type]


def found(lines: Sequence[str], hashes: Sequence[str]) -> Blamed:
    every = [Commit(each, "Ada", 0, "", "a.py") for each in (THIRD, SECOND, FIRST)]
    known = {one.hash: one for one in every if one.hash in hashes}
    return Blamed("/src", "a.py", tuple(lines), tuple(hashes), known, tuple(every))


def claimed(lines: Sequence[str], hashes: Sequence[str], *edits: Edit) -> dict[int, int]:
    """The prompt that is said to have made each line."""
    got = claims(found(lines, hashes), lines, edits, MADE)
    return {place: one.edit.prompt_id for place, one in sorted(got.items())}


def test_a_line_is_of_the_edit_since_the_commit_before_that_added_it() -> None:
    assert claimed([PRICE], [SECOND], edit(1_500, [PRICE])) == {0: 1}
    assert claimed([PRICE], [FIRST], edit(500, [PRICE])) == {0: 1}
    assert claimed([PRICE], [""], edit(9_000, [PRICE])) == {0: 1}


@pytest.mark.parametrize(
    "one",
    [
        edit(900, [PRICE]), edit(2_500, [PRICE]), edit(1_500, [PRICE], root="/copy"), edit(1_500, [PRICE], name="b.py"),
        edit(1_500, [PRICE], [PRICE]), edit(1_500, [PRICE], replaces=True), edit(1_500, [TAX]),
    ],
    ids=["before the commit before", "after the commit", "another checkout", "another file", "it was there", "unknown",
         "another text"],
)  # fmt: skip
def test_no_other_edit_made_it(one: Edit) -> None:
    assert claimed([PRICE], [SECOND], one) == {}


def test_a_commit_that_nobody_saw_made_is_nobodys() -> None:
    assert claimed([PRICE], [THIRD], edit(1_500, [PRICE])) == {}


def test_a_whole_file_that_was_written_is_evidence_where_the_file_begins() -> None:
    assert claimed([PRICE], [FIRST], edit(500, [PRICE], replaces=True)) == {0: 1}


def test_a_foreign_line_that_is_moved_by_two_edits_is_not_made() -> None:
    moved = [edit(1_400, [], [PRICE]), edit(1_500, [PRICE])]
    assert claimed([PRICE], [SECOND], *moved) == {}
    own = [edit(1_300, [PRICE]), edit(1_400, [], [PRICE]), edit(1_500, [PRICE])]
    assert claimed([PRICE], [SECOND], *own) == {0: 1}


def test_a_line_that_was_taken_out_before_or_after_is_not_claimed() -> None:
    assert claimed([PRICE], [SECOND], edit(1_400, [PRICE]), edit(1_500, [], [PRICE])) == {}
    assert claimed([PRICE], [SECOND], edit(1_400, [PRICE]), edit(2_500, [], [PRICE])) == {}


def test_copies_beyond_those_recorded_and_texts_of_two_prompts_are_not_claimed() -> None:
    assert claimed([PRICE, PRICE], [SECOND, SECOND], edit(1_500, [PRICE])) == {}
    assert claimed([PRICE, PRICE], [SECOND, SECOND], edit(1_500, [PRICE, PRICE])) == {0: 1, 1: 1}
    assert claimed([PRICE], [SECOND], edit(1_500, [PRICE]), edit(5_000, [PRICE], prompt=2)) == {}


def test_weak_lines_are_claimed_between_two_lines_of_their_edit() -> None:
    block = [PRICE, "", "}", TAX]
    made = edit(1_500, [PRICE, "}", TAX])
    assert claimed(block, [SECOND] * 4, made) == {0: 1, 2: 1, 3: 1}, "a blank line is in no edit"
    assert claimed(block, [SECOND, SECOND, THIRD, SECOND], made) == {0: 1, 3: 1}
    assert claimed([PRICE, "}", ")", TAX], [SECOND] * 4, made) == {0: 1, 3: 1}
    assert claimed(block, [SECOND] * 4, made, edit(2_500, [], ["}"])) == {0: 1, 3: 1}
    assert claimed([PRICE, "}"], [SECOND] * 2, made) == {0: 1}
    assert claimed(["}"], [SECOND], edit(1_500, ["}"])) == {}


def test_all_edits_are_not_gone_through_again_for_each_claimed_line() -> None:
    class Edits(list[Edit]):
        read = 0

        def __iter__(self) -> Iterator[Edit]:
            self.read += 1
            return super().__iter__()

    lines = [f"price_of_the_item_{number} = 1" for number in range(50)]
    edits = Edits([edit(1_500, lines)])
    assert len(claims(found(lines, [SECOND] * 50), lines, edits, MADE)) == 50
    assert edits.read < 10


def test_what_one_prompt_wrote_is_not_gone_through_again_for_each_of_its_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Mock(wraps=match._own)
    monkeypatch.setattr(match, "_own", own)
    many = [edit(1_200 + number, [f"price_of_the_item_{number} = 1"], cut=True) for number in range(50)]
    assert len(claimed([each.added[0] for each in many], [SECOND] * 50, edit(1_100, [PRICE], prompt=2), *many)) == 50
    assert own.call_count == 1


def test_what_stands_for_a_long_line_is_no_text() -> None:
    assert lines_of("+ (512 characters)\n- old\n…") == (("(512 characters)",), ("old",))
    assert claimed(["(512123123123 characters)"], [SECOND], edit(1_500, ["(512123123123 characters)"])) == {}
    assert lines_of("src/a.py") == lines_of("deleted") == ((), ())


@pytest.mark.parametrize(
    ("made", "is_it"),
    [
        (Made("a" * 7, 1, "", "s", 1, ""), True), (Made("a" * 4, 1, "", "s", 1, ""), False),
        (Made("a" * 4, 1, "fix it", "s", 1, ""), True), (Made("", 100_000, "fix it", "s", 1, ""), True),
        (Made("d" * 7, 100_000, "fix it", "s", 1, ""), True), (Made("d" * 7, 100_000, "another", "s", 1, ""), False),
        (Made("d" * 7, 300_000, "fix it", "s", 1, ""), False), (Made("", 50_000, "", "s", 1, ""), False),
    ],
)  # fmt: skip
def test_a_commit_is_known_by_its_hash_or_by_its_time_and_subject(made: Made, is_it: bool) -> None:
    assert (recorded(Commit("a" * 40, "Ada", 60_000, "fix it"), [made]) is made) == is_it
