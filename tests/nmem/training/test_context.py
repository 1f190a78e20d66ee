"""The weights of context can be fitted on one's own history, and the report says what they are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nmem.context import rank
from nmem.context.rank import FEATURES
from nmem.settle import settle
from nmem.training import context as training
from tests.nmem.conftest import MINUTE

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded


@pytest.fixture
def examples(record: Recorded, db_path: str) -> list[training.Example]:
    """Sessions that come back to one of six parts, which their prompt names."""
    for number in range(24):
        part = ("voucher", "chart", "refund", "mail", "login", "export")[number * 5 % 6]
        record.begin(f"s{number}").user(f"the {part} totals are wrong, attempt {number}")
        record.edit(f"src/{part}/totals.py").act("file_read", "r", "src/common.py").agent(f"Fixed the {part}.")
        record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = ?", (f"s{number}",))
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None
    return training.material(db_path)


def test_what_tells_weighs(examples: list[training.Example]) -> None:
    pytest.importorskip("sklearn")
    assert len(examples) == 23
    fitted = training.fit_files(examples)
    assert len(fitted) == 1 + len(FEATURES)
    known = dict(zip(FEATURES, fitted[1:], strict=True))
    assert known["text"] > 0
    start = training.fit_files(examples, start=True)
    assert start[1:4] == (0.0, 0.0, 0.0)
    ranked = training.ranked(examples[-1].prompt, fitted)
    assert examples[-1].prompt.paths[ranked[0][1]] in examples[-1].moment.gold


def test_the_shipped_weights_are_of_every_feature() -> None:
    assert len(rank.PROMPT) == len(rank.START) == 1 + len(FEATURES)


def test_the_report_has_curves(examples: list[training.Example]) -> None:
    pytest.importorskip("sklearn")
    for number, one in enumerate(examples):
        examples[number] = training.Example(one.moment, f"g{number % 2}", one.prompt, one.start)
    text = "\n".join(training.report(examples, curves=True))
    for said in ("held out, at the prompt", "held out, 10 names", "PROMPT = ("):
        assert said in text
