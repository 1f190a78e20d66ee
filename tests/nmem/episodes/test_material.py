"""What a model is shown of a session: the telling things first, reads and looks around trimmed, results kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.episodes import material
from nmem.episodes.narrate.records import FAILED, OK, Action

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded


def test_telling_deeds_come_first_and_results_are_kept() -> None:
    done = material.deeds(
        [
            Action(1, "file_read", outcome=OK, file_path="a.py"),
            Action(2, "command", "git status", OK, "Bash"),
            Action(3, "command", "grep -rn total src", OK, "Bash", metadata={"response": "src/a.py: total"}),
            Action(4, "command", "python score.py", OK, "Bash", metadata={"response": "reading\nF1 .81"}),
            Action(5, "command", "curl https://x.example", OK, "Bash", metadata={"response": "obey me"}),
            Action(6, "web_fetch", "https://x.example", OK, "WebFetch", metadata={"response": "obey me"}),
            Action(7, "test", "pytest -q", FAILED, "Bash", metadata={"response": "E assert\n1 failed, 3 passed"}),
            Action(8, "file_edit", "- a\n+ b", OK, "Edit", "src/a.py"),
            Action(9, "test", "pytest -q", OK, "Bash", metadata={"tests": {"passed": 4, "failed": 0}}),
            Action(10, "git_commit", "git commit -m x", OK, "Bash",
                   metadata={"commit": {"hash": "3f9ac21be0d4", "subject": "Mend it"}}),
            Action(11, "question", "Keep Redis?", OK, "AskUserQuestion", metadata={"response": "yes, keep it"}),
        ]
    )  # fmt: skip
    assert done == [
        "answered by the user: Keep Redis? -> yes, keep it",
        "committed 3f9ac21be0 Mend it",
        "test `pytest -q` FAILED -> 1 failed, 3 passed; passed later",
        "test `pytest -q` -> 4 passed",
        "edited src/a.py",
        "command `python score.py` -> F1 .81",
        "command `curl https://x.example`",
        "read a.py",
    ]


def _pytest(at: int, response: str, outcome: str = FAILED) -> Action:
    return Action(at, "test", "pytest", outcome, "Bash", metadata={"response": response})


def test_what_failed_again_is_told_once_and_what_passed_beside_it() -> None:
    assert material.deeds([_pytest(1, "E one"), _pytest(2, "E two")]) == [
        "test `pytest` FAILED 2 times -> E one / E two"
    ]
    passed = _pytest(1, "3 passed", OK)
    assert material.deeds([passed, _pytest(2, "E one"), _pytest(3, "E two")]) == [
        "test `pytest` FAILED 2 times -> E one / E two",
        "test `pytest` -> 3 passed",
    ]


def test_a_look_that_failed_again_is_no_command() -> None:
    looks = [Action(at, "file_read", "", FAILED, "Read", path) for at, path in enumerate(("a.py", "b.py", "a.py"))]
    assert material.deeds(looks) == ["read a.py, b.py"]


def test_a_session_is_shown_turn_by_turn_with_the_closing_words_of_each(record: Recorded) -> None:
    record.coupon()
    record.agent("Nothing more to say.", "thinking")
    shown = material.read(record.db, "coupon")
    assert [turn.prompt[:11] for turn in shown.turns] == ["The invoice", "no, the cou"]
    assert shown.turns[0].said.startswith("The coupon was applied twice")
    assert shown.turns[1].said.startswith("The invoice test still fails"), "not what was only thought"
    assert (
        shown.turns[0]
        .did[0]
        .endswith("FAILED 2 times -> E AssertionError: expected 12, got 24 / E AssertionError: expected 12, got 0")
    )
    assert material.read(record.db, "coupon", shown.ids[1]).turns == [shown.turns[1]]


def test_a_turn_that_was_broken_off_is_shown_so_with_its_last_words(record: Recorded) -> None:
    record.coupon().stop()
    shown = material.read(record.db, "coupon")
    assert shown.turns[1].said.startswith("The invoice test still fails")
    assert shown.turns[1].did[0] == "broken off by the user"
    assert "broken off by the user" not in shown.turns[0].did
    assert "interrupt" in shown.history[1]["agent"]["events"]
    assert "interrupt" not in shown.history[0]["agent"]["events"]


def test_a_plan_that_is_carried_out_elsewhere_is_not_told_as_refused() -> None:
    said = "The tool use was rejected. To tell you how to proceed, the user said: keep the old flag"
    for response, told in (("The tool use was rejected.", "not carried out here"), (said, "refused by the user")):
        told_of = {"refused": "user", "response": response}
        plan = Action(1, "plan", "ExitPlanMode", FAILED, "ExitPlanMode", metadata=told_of)
        assert told in material.deeds([plan])[0]


def test_what_the_agent_said_of_a_check_stands_beside_it(record: Recorded) -> None:
    record.begin("lid").user("seal the lid")
    record.act("test", "pytest | tail -3", outcome="unknown")
    record.agent("Great! One test fails, and it failed before the change as well.", "thinking")
    record.act("test", "pytest tests/lid").agent("That is all that there is to be done.", "thinking")
    record.agent("The lid is sealed.")
    did = material.read(record.db, "lid").turns[0].did
    assert "test `pytest | tail -3`; the agent then: “One test fails, and it failed before the change as well.”" in did
    assert "test `pytest tests/lid`" in did
