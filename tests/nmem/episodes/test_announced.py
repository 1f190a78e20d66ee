"""The agent names the task that the user turned to: on time, late, twice, wrongly; by hooks and by whole detection."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from nmem.episodes import corrections, detect
from nmem.episodes.online import arrived, ended
from nmem.episodes.units import prompts_of_session
from tests.nmem.context.conftest import Played
from tests.nmem.episodes.conftest import Script, rows

Turns = list[tuple[str, dict[str, str] | None]]

WORK: Turns = [
    ("fix the rounding of the total in shop/price.py, it loses a cent", {"title": "Rounding of totals"}),
    ("now also for negative amounts", None),
    ("ok commit it", None),
    ("please write a Dockerfile for the service", {"title": "Dockerfile for the service"}),
    ("use the slim image", None),
]


def name(script: Script, said: dict[str, str]) -> None:
    """The call as capture keeps it."""
    script.did("mcp_call", tool="mcp__nmem__episode", content="nmem/episode", metadata=json.dumps({"episode": said}))


def play(script: Script, turns: Turns) -> None:
    for text, said in turns:
        script.prompt(text)
        script.did("file_edit", "shop/price.py")
        if said is not None:
            name(script, said)
        script.said("Done.")


def drawn(db: Connection) -> list[tuple[str | None, int]]:
    """Each episode's name by the agent, and how many prompts it has."""
    found = db.execute(
        "SELECT agent_title, (SELECT count(*) FROM unit_prompts x WHERE x.unit_id = u.id) FROM work_units u"
        " ORDER BY started_at, id"
    )
    return [(row[0], row[1]) for row in found]


def test_episodes_begin_where_the_agent_says_so(db: Connection, script: Script) -> None:
    play(script, WORK)
    detect.session(db, script.id)
    assert drawn(db) == [("Rounding of totals", 3), ("Dockerfile for the service", 2)]
    assert [each.verdict.by for each in prompts_of_session(db, script.id)][3] == "agent"
    before = rows(db)
    assert detect.session(db, script.id) is False
    assert rows(db) == before


@pytest.mark.parametrize("late", [1, 2])
def test_a_late_call_is_brought_to_the_prompt_that_it_names(db: Connection, script: Script, late: int) -> None:
    turns: Turns = [*WORK, ("and expose port 8080 there", None)]
    turns[3], turns[3 + late] = (turns[3][0], None), (turns[3 + late][0], turns[3][1])
    play(script, turns)
    detect.session(db, script.id)
    assert drawn(db) == [("Rounding of totals", 3), ("Dockerfile for the service", 3)]


@pytest.mark.parametrize(
    "said",
    [
        {"title": "Rounding of the totals"},
        {"title": "Run tests"},
        {"title": "commit changes"},
        {"title": "..."},
        {"title": ""},
        {"title": "Kubernetes ingress for staging"},
    ],
)
def test_a_repeated_or_wrong_call_changes_nothing(db: Connection, script: Script, said: dict[str, str]) -> None:
    turns = list(WORK)
    turns[1] = (turns[1][0], said)
    turns[2] = (turns[2][0], said)
    play(script, turns)
    detect.session(db, script.id)
    assert drawn(db) == [("Rounding of totals", 3), ("Dockerfile for the service", 2)]


def test_an_agent_that_calls_at_every_prompt_is_not_believed(db: Connection, script: Script) -> None:
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    first = ("write the parser of invoices", {"title": "Parser of invoices"})
    play(script, [first, *((f"and the {word} field too", {"title": f"{word} field"}) for word in words)])
    detect.session(db, script.id)
    assert len(drawn(db)) < 5


def test_a_person_is_above_the_agent(db: Connection, script: Script) -> None:
    play(script, WORK)
    detect.session(db, script.id)
    first, second = (row[0] for row in db.execute("SELECT id FROM work_units ORDER BY id"))
    corrections.merge(db, second, first, script.at)
    detect.session(db, script.id)
    assert drawn(db) == [("Rounding of totals", 5)]


def test_what_goes_on_with_an_earlier_task_says_so(db: Connection, script: Script) -> None:
    back = ("the service image is too big", {"title": "Smaller image", "resumes": "Dockerfile"})
    other = ("translate the readme to German", {"title": "German readme"})
    play(script, [*WORK, other, back])
    detect.session(db, script.id)
    assert db.execute(
        "SELECT e.agent_title FROM work_units u JOIN work_units e ON e.id = u.resumes WHERE u.agent_title = ?",
        ("Smaller image",),
    ).fetchall() == [("Dockerfile for the service",)]


@pytest.mark.parametrize("resumes", ["episode/999999", "9" * 40, "'; DROP TABLE work_units", "episode/-1", "\0"])
def test_a_hostile_reference_resumes_nothing(db: Connection, script: Script, resumes: str) -> None:
    turns = list(WORK)
    turns[3] = (turns[3][0], {"title": "Dockerfile", "resumes": resumes})
    play(script, turns)
    detect.session(db, script.id)
    assert db.execute("SELECT count(*) FROM work_units WHERE resumes IS NOT NULL").fetchone() == (0,)


def call(played: Played, said: dict[str, Any], tool: str = "mcp__nmem__episode", **more: Any) -> None:
    played.hook("PostToolUse", tool_name=tool, tool_input=said, tool_response=[{"type": "text", "text": "{}"}],
                tool_use_id=f"toolu_{next(played.numbers)}", **more)  # fmt: skip


@pytest.mark.parametrize("tool", ["mcp__nmem__episode", "mcp__plugin_nmem_nmem__episode"])
def test_the_hook_cuts_at_once_and_settling_leaves_it(db_path: str, tool: str) -> None:
    played = Played(db_path)
    played.begin("a")
    played.ask("fix the rounding of the total in shop/price.py, it loses a cent")
    played.end()
    played.ask("and the Dockerfile of the total?")
    call(played, {"title": "Dockerfile\x1b[31m of the\nshop, key AKIAIOSFODNN7EXAMPLQ"}, tool)
    with closing(played.database()) as db:
        found = drawn(db)
        assert [turns for _, turns in found] == [1, 1]
        assert found[1][0] and "\x1b" not in found[1][0] and "AKIA" not in found[1][0]
    played.end()
    played.settle()
    with closing(played.database()) as db:
        assert drawn(db) == found


def test_a_helper_of_the_agent_and_another_server_name_nothing(db_path: str) -> None:
    played = Played(db_path)
    played.begin("a")
    played.ask("fix the rounding of the total in shop/price.py, it loses a cent")
    played.ask("and the Dockerfile of the total?")
    call(played, {"title": "Dockerfile"}, agent_id="a1", agent_type="Explore")
    call(played, {"title": "Dockerfile"}, "mcp__other__episode")
    with closing(played.database()) as db:
        assert drawn(db) == [(None, 2)]


def session_of_a_client() -> list[dict[str, Any]]:
    """Turns of which a real client plays some in tests/clients/test_real_named.py."""
    turns = (Path(__file__).parents[2] / "clients" / "scripts" / "named-episodes.json").read_text()
    return list(json.loads(turns))


def test_names_that_are_late_or_wrong_cut_that_session_as_a_person_would(db_path: str) -> None:
    played = Played(db_path)
    played.begin("a")
    for turn in session_of_a_client():
        played.ask(turn["prompt"])
        for tool in (tool for reply in turn["replies"] for tool in reply.get("tools", [])):
            if "write" in tool:
                played.edit(tool["write"], "", tool["text"])
            elif tool["name"] == "mcp__nmem__episode":
                call(played, tool["input"])
        played.say(turn["replies"][-1]["say"])
    expected = [
        ("Rounding of totals with a discount", 3), ("Dockerfile for the service", 2),
        ("Parser of the bank's CSV export", 3), ("How the admin login cookie works", 2), ("README in German", 2),
    ]  # fmt: skip
    with closing(played.database()) as db:
        assert drawn(db) == expected, "as the hooks left it"
        detect.session(db, "a")
        assert drawn(db) == expected, "as whole detection sees it"


def test_without_names_most_changes_of_that_session_are_cut_or_offered(db: Connection, script: Script) -> None:
    for turn in session_of_a_client():
        script.prompt(turn["prompt"], 0.1)
        arrived(db, script.id)
        for reply in turn["replies"]:
            for tool in reply.get("tools", []):
                if "write" in tool:
                    script.did("file_write", tool["write"], content=f"+ {tool['text']}", tool="Write", minutes=0.01)
        script.said(turn["replies"][-1]["say"])
        ended(db, script.id)
    seen = [prompt.verdict for prompt in prompts_of_session(db, script.id)]
    assert len({3, 5, 8, 10} & {at for at, said in enumerate(seen) if said.label == "new" or said.offered}) >= 3, seen
