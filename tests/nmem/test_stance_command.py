"""`nmem stance`: what a person reads at 80 columns, what a pipe gets, and JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands import main, stance, terminal
from nmem.commands.main import nmem
from nmem.stance.model import Share, Stretch, Strip
from nmem.stance.words import percents
from tests.nmem.conftest import START, Recorded
from tests.nmem.stance.conftest import score, unit

HOSTILE = "\x1b[31mwipe\u202e it \x9b2J\n日本語のプロンプト [bold]x[/bold] " + "long " * 60


@pytest.fixture
def told(record: Recorded, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Eight thinking calls, then twelve that act, the last three a test that fails; and another project's session."""
    monkeypatch.setattr(terminal, "now", lambda: START + 86_400_000)
    monkeypatch.setenv("TZ", "UTC")
    record.begin("4f2c-one").user("Add a coupon to the cart")
    first = record.prompt
    for number in range(1, 9):
        record.act("file_read", "", f"src/{number}.py")
        score(record.db, "4f2c-one", number, -0.9, 0.8, -1, -0.7, -0.9)
    record.user(HOSTILE)
    for number in range(9, 21):
        if number > 14 and number % 2:
            record.test("failed")
        else:
            record.edit("src/\x1b]0;title\x07[red]a.py")
        score(record.db, "4f2c-one", number, 0.9, None if number == 9 else 0.8, -1, -0.7, 0.9)
    unit(record.db, "4f2c-one", first)
    unit(record.db, "4f2c-one", record.prompt)
    record.db.execute("INSERT INTO projects VALUES (2, 'bare', 'bare', '/src/bare', NULL, 0)")
    record.begin("77aa-two").user("look around").act("command", "ls")
    record.db.execute("UPDATE sessions SET project_id = 2 WHERE id = '77aa-two'")
    return record


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, args)


def plain(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert not any(char < " " and char != "\n" and char != "\t" for char in result.output), "no control reaches a pipe"
    assert "\u202e" not in result.output
    assert "\x9b" not in result.output
    return str(result.output)


def failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["nmem", *args])
    with pytest.raises(SystemExit) as stop:
        main.main()
    return int(str(stop.value.code)), capsys.readouterr().err


def test_of_too_few_calls_no_share_of_where_its_lines_stood_is_told(told: Recorded) -> None:
    told.begin("88bb-few").user("look at the prices")
    for number in range(1, 11):
        told.act("file_read", "", f"src/{number}.py")
        score(told.db, "88bb-few", number, -0.9 if number < 3 else 0.9, 0.8, -1, -0.7, -0.9)
    unit(told.db, "88bb-few", told.prompt)
    shown = plain("stance", "--project", "shop")
    assert "so far 2 think, 8 act; a quadrant needs about 20 calls, here are 10" in shown
    assert "reason 100" not in shown
    row = next(line for line in shown.splitlines() if "10 calls, phase" in line)
    assert "20 % think" in row
    assert "finish" in next(line for line in shown.splitlines() if "20 calls, phase" in line)


def test_the_stance_in_plain_lines(told: Recorded) -> None:
    lines = plain("stance", "--project", "shop").splitlines()
    assert lines[0] == "# Stance of session/4f2c-one  shop"
    facts = dict(line.split("\t", 1) for line in lines if "\t" in line)
    # -.9 held for 8, then 12 times .9: .9 - 1.8 * .92 ** 12 = .238
    assert facts["now"] == "finish: acts (+.24) and narrows (+.80)"
    assert facts["phase"].endswith("+.24 smoothed; last 5 +.90, last 20 +.18, turning to act")
    assert facts["calls"] == "20, 3 failed"
    assert facts["friction"] == "smooth 40 %, friction 60 %"
    # the line of phase is over 0 with the 17th call: the strip, the shares and the place now say the same
    assert "## Quadrants: where the lines stood after each of 20 calls" in lines
    assert facts["reason"].endswith("80 %  16 calls    thinks, narrows")
    assert facts["finish"].endswith("20 %  4 calls     acts, narrows")
    assert any(line.startswith("the smoothed lines decide here, above and below") for line in lines)
    assert any(line.startswith("-\tpytest tests/test_invoice.py failed 3 times in a row") for line in lines)
    assert any("phase think → act (reason → finish): ␛[31mwipe⍰ it" in line for line in lines)
    assert facts["episode/1"] == f"{'rrrrrrrr':<20}  Add a coupon to the cart"
    assert "8 calls, reason 100 %" in lines


def test_the_parts_of_a_whole_add_up() -> None:
    def split(*numbers: int) -> dict[str, Share]:
        names = ("explore", "reason", "scaffold", "finish")
        return {name: Share(number, number / sum(numbers)) for name, number in zip(names, numbers, strict=True)}

    assert list(percents(split(1, 1, 1, 0)).values()) == ["34 %", "33 %", "33 %", "0 %"]
    assert list(percents(split(11, 55, 0, 26)).values()) == ["12 %", "60 %", "0 %", "28 %"]
    assert list(percents(split(1, 999, 0, 0)).values()) == ["<1 %", "100 %", "0 %", "0 %"]
    assert percents({}) == {}


def test_calls_that_no_quadrant_counts_are_said(told: Recorded) -> None:
    told.db.execute("UPDATE observations SET scope = NULL WHERE id IN (SELECT min(id) FROM observations WHERE phase"
                    " IS NOT NULL GROUP BY session_id)")  # fmt: skip
    told.db.execute("UPDATE observations SET friction = NULL WHERE id % 2")
    lines = plain("stance", "--project", "shop").splitlines()
    facts = dict(line.split("\t", 1) for line in lines if "\t" in line)
    assert facts["calls"] == "20, 3 failed, 1 before both lines had begun"
    assert facts["friction"].endswith(" (of the 10 calls that the model is sure of)")


def test_the_newest_session_of_the_folder_one_is_in(told: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    class Here:
        key = "shop"

    monkeypatch.setattr("nmem.commands.stance.resolve", lambda cwd, project_dir="": Here)
    assert plain("stance").startswith("# Stance of session/4f2c-one")


def test_no_labels_yet(told: Recorded) -> None:
    assert plain("stance", "77aa") == (
        "session/77aa-two  bare: none of its 1 call carries labels yet: `nmem backfill` gives them\n"
    )


def test_failures_are_told_without_any_label(record: Recorded) -> None:
    record.begin("raw").user("fix it").test("failed").test("failed").test("failed")
    lines = plain("stance", "raw").splitlines()
    assert "carries labels yet" in lines[0]
    assert any(line.startswith("-\tpytest tests/test_invoice.py failed 3 times in a row") for line in lines)


def test_json_has_the_figures_as_true_percentages(told: Recorded) -> None:
    found = json.loads(run("stance", "4f2c", "--json").output)
    assert set(found) >= {
        "session_id", "observation_count", "quadrants", "current", "trend", "recent_shifts", "locus", "novelty",
        "friction", "novelty_friction", "guidance",
    }  # fmt: skip
    assert found["observation_count"] == 20
    assert found["quadrants"] == {
        "think_diverge": {"count": 0, "pct": 0.0}, "think_converge": {"count": 8, "pct": 42.1},
        "act_diverge": {"count": 0, "pct": 0.0}, "act_converge": {"count": 11, "pct": 57.9},
    }  # fmt: skip
    assert (found["quadrants_of"], found["stood_of"]) == (19, 20)
    assert found["stood"]["think_converge"] == {"count": 16, "pct": 80.0}
    assert found["current"] == {"phase": 0.2382, "scope": 0.8, "stance": "finish", "too_few": False}
    assert set(found["trend"]) == {
        "phase_5", "phase_20", "scope_5", "scope_20", "phase_direction", "scope_direction",
    }  # fmt: skip
    (shift,) = found["recent_shifts"]
    assert (shift["axis"], shift["from"], shift["to"]) == ("phase", "reason", "finish")
    assert shift["minutes_ago"] == round((START + 86_400_000 - shift["at"]) / 60_000, 1)
    assert shift["prompt"].startswith("\x1b[31mwipe"), "JSON carries text as it is, escaped"
    assert found["friction"] == {"smooth": 8, "friction": 12, "pct_friction": 60.0}
    assert found["novelty_friction"]["routine_friction"] == 12
    assert [each["id"] for each in found["episodes"]] == [1, 2]
    assert found["guidance"][0]["rule"] == "stuck_run"


def test_json_of_a_session_without_labels_is_whole(told: Recorded) -> None:
    found = json.loads(run("stance", "77aa", "--json").output)
    assert (found["observation_count"], found["current"]["stance"], found["guidance"]) == (0, None, [])


def test_one_episode_alone(told: Recorded) -> None:
    lines = plain("stance", "--episode", "2").splitlines()
    assert lines[0] == "# Stance of episode/2  shop"
    assert json.loads(run("stance", "--episode", "episode/1", "--json").output)["current"]["phase"] == -0.9


def test_at_eighty_columns_nothing_is_wider_and_no_escape_is_obeyed(
    told: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    output = run("stance", "--project", "shop").output
    from rich.cells import cell_len

    assert max(cell_len(line) for line in output.splitlines()) <= 80
    assert "\x1b]0;" not in output
    assert "\x1b[31m" not in output
    assert "[bold]x[/bold]" in " ".join(output.split())


def test_limit_is_how_many_are_listed(told: Recorded) -> None:
    assert "episode/1" not in plain("stance", "4f2c", "--limit", "1")
    none = plain("stance", "4f2c", "--limit", "0")
    assert "Shifts" not in none
    assert "Episodes" not in none


def test_what_is_not_there_is_one_line(
    told: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for args, code, words in (
        (("nope",), 1, "there is no session nope"),
        (("",), 2, "names no session"),
        (("--episode", "99"), 1, "there is no episode 99"),
        (("--project", "\x1b[1mx"), 1, "nothing is recorded of project ␛[1mx"),
        (("4f2c", "--project", "shop"), 2, "either SESSION or --project"),
        (("4f2c", "--episode", "1"), 2, "--episode goes alone"),
    ):
        found, said = failure(monkeypatch, capsys, "stance", *args)
        assert found == code, said
        assert words in said
        assert said.count("\n") == 1


def test_drawn() -> None:
    # one cell a value: -1 lowest, 0 the first of the upper half, 1 highest; halved where it divides
    assert stance.spark([-1, -0.01, 0, 1]) == "▁▄▅█"
    assert stance.spark([0.49, 0.5, 0.99], 0.5) == "▄▅█"
    assert stance.spark([-1.0] * 50 + [1.0] * 50, 0, 4) == "▁▁██"
    assert stance.bar(0.5, 4) == "▓▓░░"
    assert stance.bar(0.001, 4) == "▓░░░"
    path = (Stretch("explore", 3, 0), Stretch("finish", 9, 0))
    strip = Strip(1, "", 0, 12, {"explore": Share(3, 0.25)}, path)
    assert stance.strip(strip, 4) == "efff"
    assert stance.strip(strip, 40) == "eeefffffffff"
