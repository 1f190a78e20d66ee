"""What a session is told after its conversation was folded or cleared."""

from __future__ import annotations

from capture.clients.said import BEGIN, END
from tests.nmem.context.conftest import HOUR, Played

GOAL = "The export loses the last row of a report, find out why and fix it"


def interrupted(played: Played, session: str = "b") -> None:
    """A session in the middle of its work."""
    played.begin(session)
    played.ask(GOAL)
    played.read("shop/export.py")
    played.edit("shop/export.py")
    played.fail("python3 -m pytest checks/test_export.py", "AssertionError: 9 rows")
    played.hook(
        "PostToolUse", tool_name="AskUserQuestion", tool_use_id="ask",
        tool_input={"questions": [{"question": "Keep the trailing newline?", "header": "x", "options": []}]},
        tool_response={"questions": [{"question": "Keep the trailing newline?"}],
                       "answers": {"Keep the trailing newline?": "Yes, always"}},
    )  # fmt: skip
    played.hook(
        "PostToolUse", tool_name="TodoWrite", tool_use_id="todo",
        tool_input={"todos": [{"content": "write a regression test", "status": "pending", "activeForm": "x"},
                              {"content": "read the exporter", "status": "completed", "activeForm": "x"}]},
        tool_response={},
    )  # fmt: skip
    played.say("The slice in `shop/export.py` stops one row early.")
    played.ask("do not touch the header row")
    played.edit("shop/export.py", "b = 1", "b = 2")
    played.say("The header row stays.")


def told_everything(told: str) -> None:
    assert told.startswith(BEGIN) and told.endswith(END)
    for part in ("loses the last row", "Keep the trailing newline? -> Yes, always", "do not touch the header row",
                 "write a regression test", "checks/test_export.py", "`shop/export.py` (changed, not committed)",
                 "The header row stays"):  # fmt: skip
        assert part in told, part
    assert "read the exporter" not in told


def test_after_a_compaction_the_session_is_told_what_it_was_at(played: Played) -> None:
    interrupted(played)
    played.hook("PreCompact", trigger="manual", custom_instructions=None)
    told_everything(played.hook("SessionStart", source="compact"))


def test_after_a_clear_the_new_session_is_told_what_the_old_one_was_at(played: Played) -> None:
    interrupted(played)
    played.end("clear")
    told_everything(played.begin("c", "clear", gap=200))


def test_a_clear_long_after_or_elsewhere_is_told_nothing_of_it(played: Played) -> None:
    interrupted(played)
    played.end("clear")
    assert played.begin("c", "clear", gap=HOUR) == ""
    interrupted(played, "e")
    played.end("clear")
    played.folder = "/src/elsewhere"
    assert played.begin("d", "clear", gap=200) == ""


def test_another_terminals_work_is_not_taken_for_what_was_cleared(played: Played) -> None:
    """Its end is stored, that of the session that was cleared is not yet."""
    interrupted(played, "pricing")
    played.begin("landing")
    played.ask("make the landing page blue")
    played.session = "pricing"
    played.end("other")
    assert played.begin("fresh", "clear", gap=200) == ""


def test_where_two_were_cleared_none_is_told_and_a_second_clear_is_its_own(played: Played) -> None:
    interrupted(played, "one")
    interrupted(played, "two")
    for session in ("one", "two"):
        played.session = session
        played.end("clear")
    assert played.begin("three", "clear", gap=200) == ""
    interrupted(played, "four")
    played.at += 2 * 60_000
    played.end("clear")
    assert played.begin("five", "clear", gap=200)
    played.ask("rework the header of the report")
    played.end("clear")
    assert "rework the header" in played.begin("six", "clear", gap=200)


def test_a_session_without_a_goal_has_nothing_to_recover(played: Played) -> None:
    played.begin("b")
    assert played.hook("SessionStart", source="compact") == ""


def test_after_a_compaction_what_was_told_before_may_be_told_again(played: Played) -> None:
    prompt = "the voucher total in shop/cart.py must never be negative, fix the cart"
    played.fix()
    played.begin("b")
    assert "truncated" in played.ask(prompt)
    played.say("Looking.")
    assert played.ask("and the voucher in shop/cart.py?") == ""
    played.hook("PreCompact", trigger="auto", custom_instructions=None)
    played.hook("SessionStart", source="compact")
    assert "truncated" in played.ask(prompt)
    assert played.ask("and the voucher in shop/cart.py again?") == ""


def test_what_passed_since_is_not_open_and_what_was_committed_not_changed(played: Played) -> None:
    interrupted(played)
    played.run("python3 -m pytest checks/test_export.py", "1 passed")
    played.run("git commit -am export", "[main abc1234] export\n 1 file changed")
    played.read("shop/report.py")
    played.say("Committed.")
    told = played.hook("SessionStart", source="compact")
    assert "Failed last" not in told
    assert "not committed" not in told
    assert "shop/report.py" in told


def test_a_huge_session_is_recovered_within_its_budget(played: Played) -> None:
    played.begin("b")
    played.ask("rework everything " + "and more " * 4000)
    for number in range(80):
        played.edit(f"src/{'deep/' * 30}module_{number}.py")
        played.fail(f"make target-{number} " + "x" * 3000)
    played.say("so much " * 4000)
    for number in range(6):
        played.ask(f"say {number} " + "words " * 2000)
    told = played.hook("SessionStart", source="compact")
    assert told
    assert len(told) < 4 * 900 + 400
