"""True and false sentences made of the names of a session: the true ones are kept, the false ones refused.

Six invented sessions in five languages; two of them were put aside while the check was written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmem.llm import story
from nmem.llm.grounding import Ground, cited
from nmem.llm.session_prompt import Turn, rows_of

FOLDER = Path(__file__).parent / "grounding"
SESSIONS = sorted(path.stem for path in FOLDER.glob("*.json"))


def session(name: str) -> dict[str, Any]:
    found = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def ground(found: dict[str, Any]) -> Ground:
    turns = [Turn(one["prompt"], 0, one["did"], one["said"]) for one in found["turns"]]
    return Ground(rows_of(turns, 0, len(turns)))


def kept(found: dict[str, Any], kind: str) -> list[str]:
    return [
        sentence for sentence, ids in found[kind]
        if ground(found).text(f"{sentence} [{', '.join(ids)}]", goal=kind == "goals")
    ]  # fmt: skip


def test_false_sentences_of_real_names_are_refused_and_true_ones_kept() -> None:
    found = [session(name) for name in SESSIONS]
    false = [sentence for one in found for sentence, _ in one["false"]]
    true = [sentence for one in found for sentence, _ in one["true"]]
    assert {one["lang"] for one in found} == {"de", "en", "ja", "ko", "pt"}
    assert len(false) >= 28 and len(true) >= 60
    believed = [sentence for one in found for sentence in kept(one, "false")]
    assert len(believed) <= len(false) * 3 / 28, believed
    told = [sentence for one in found for sentence in kept(one, "true")]
    assert len(told) >= 0.95 * len(true), sorted(set(true) - set(told))


@pytest.mark.parametrize("name", SESSIONS)
def test_a_sentence_is_held_against_its_own_session(name: str) -> None:
    """A story of another session, told with the same ids, is not this one's."""
    here = session(name)
    for other in SESSIONS:
        if other != name:
            strange = {**session(other), "turns": here["turns"]}
            assert len(kept(strange, "true")) <= 1, kept(strange, "true")


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("The TTL was wrong. [S3]", [("The TTL was wrong.", ("S3",))]),
        ("The TTL was wrong [s3, D2].", [("The TTL was wrong", ("S3", "D2"))]),
        ("One is so. Two is so. [P1; S1]", [("One is so.", ("P1", "S1")), ("Two is so.", ("P1", "S1"))]),
        ("One is so. [P1] Two is not", [("One is so.", ("P1",)), ("Two is not", ())]),
        ("一つ目だ。（P1、S1）", [("一つ目だ。", ("P1", "S1"))]),
        ("The array a[0] is empty. [D1]", [("The array a[0] is empty.", ("D1",))]),
        ("", []),
    ],
)
def test_the_rows_that_a_sentence_names_are_read(said: str, parts: list[Any]) -> None:
    assert cited(said) == parts


@pytest.mark.parametrize(
    ("title", "stands"),
    [
        ("Add won/lost bars to match statistics", True),  # both words are said, apart
        ("Rework static_nav priority of the robots", True),  # the file without its ending
        ("Rework static_map priority of the robots", False),  # no such file
        ("Rework cache invalidation in the gateway", False),  # nothing of it is said
    ],
)
def test_a_title_stands_where_the_rows_have_its_names_and_words(title: str, stands: bool) -> None:
    asked = "show the matches that were won and lost ones as bars, with statistics; @static_nav.py sets the priority"
    turns = [Turn(asked, 0, ["edited src/static_nav.py"], "The robots have a priority now.")]
    assert bool(Ground(rows_of(turns, 0, 1)).title(title)) == stands


SAID = """Done.

## Root cause
In `lids/seal.py` the check looked like this:
```python
if not lid.mark: raise Open
```

## Changes
1. Added `_seal_round` for round lids
2. Added `_seal_square` for the others

The output of `seal(lid)` is now `closed`, and all 12 tests pass.
"""


@pytest.mark.parametrize(
    ("sentence", "stands"),
    [
        ("`_seal_round` and `_seal_square` were added in `lids/pot.py`.", True),  # a changed file, named elsewhere
        ("`_seal_round` and `_seal_square` were added in `lids/seal.py`.", False),  # that one was not changed
        ("`lids/seal.py` had the check `if not lid.mark`.", True),  # code, with the line that introduces it
        ("Added `_seal_round` for seven round lids, and `seal(lid)` is now `closed`.", False),  # how many is not told
        ("Added `_seal_round` for round lids, and `seal(lid)` is now `closed`.", True),  # two facts, each in its place
        ("`_seal_round` for round lids gave `closed` in `if not lid.mark`.", False),  # one fact, of two places
        ("`pytest lids` FAILED with `Open` before it passed.", True),
        ("`pytest lids` never passed.", False),
    ],
)
def test_two_facts_have_each_a_place_and_a_changed_file_needs_none(sentence: str, stands: bool) -> None:
    did = ["test `pytest lids` FAILED -> Open; passed later", "edited lids/pot.py"]
    held = Ground(rows_of([Turn("Seal all lids", 0, did, SAID)], 0, 1))
    assert bool(held.text(f"{sentence} [D1, S1]")) is stands


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("A script failed with NameError: name 'lid' is not defined. [D1]", False),
        ("`python lid.py` failed 2 times. [D1]", False),
        ("The script runs with python3 instead of python. [S1]", True),
    ],
)
def test_that_a_command_failed_is_no_lesson(said: str, learned: bool) -> None:
    did = ["command `python lid.py` FAILED 2 times -> NameError: name 'lid' is not defined; it failed 2 times"]
    answer = "The script runs with python3 instead of python. A script failed with NameError."
    row = {"goal": "Seal the lids [P1]", "title": "", "outcome": "", "obstacle": "", "notes": [], "next": []}
    rows = rows_of([Turn("Seal the lids", 0, did, answer)], 0, 1)
    assert bool(story.read({**row, "learned": [said]}, Ground(rows)).learned) is learned


@pytest.mark.parametrize(
    ("said", "stood"),
    [
        ("The kettle whistles too late and wakes nobody, which is an error. [P2]", False),
        ("The whistle is still broken after the first change. [P3]", True),
        ("The user doubted that the kettle needs a second lid. [P3]", True),
        ("The seal is wrong, take it back. [P4]", True),
    ],
)
def test_the_reason_of_a_wish_is_no_obstacle(said: str, stood: bool) -> None:
    asked = (
        "Seal the lids of the kettle",
        "The kettle whistles too late and wakes nobody, which is an error: let it whistle sooner",
        "The whistle is still broken after the first change, and I doubt that it needs a second lid",
        "No, the seal is wrong, take it back",
    )
    row = {"goal": "Seal the lids [P1]", "title": "", "outcome": "", "learned": [], "notes": [], "next": []}
    rows = rows_of([Turn(text, 0, ["edited lid.py"], "Sealed.") for text in asked], 0, 4)
    assert bool(story.read({**row, "obstacle": said}, Ground(rows)).obstacle) is stood
