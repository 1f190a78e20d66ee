"""Condensing threads: when, what it says, skills, and what is reachable afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nmem.errors import NmemError
from nmem.threads import compaction, outcomes
from nmem.threads import read as _read
from nmem.threads.link import Linker

World = Any
read: Any = _read  # what is found is there: a None fails the test all the same


def cycle(world: World, session: str, minutes: float, text: str, file: str, **columns: Any) -> int:
    """One episode that edits, tests with a failure and without, and commits."""
    prompt = world.say(session, minutes, text)
    world.edit(session, minutes + 0.1, file, prompt=prompt)
    world.do(session, minutes + 0.2, "test", "pytest tests -q", outcome="failed", prompt=prompt)
    world.edit(session, minutes + 0.3, file, prompt=prompt)
    world.do(session, minutes + 0.4, "test", "python -m pytest tests -q", prompt=prompt)
    world.do(session, minutes + 0.5, "git_commit", f"git commit -m '{text}'", prompt=prompt,
             commit={"message": text, "hash": "abc"})  # fmt: skip
    world.assign(session)
    return int(world.unit(session, prompt, hot_files=[{"path": file, "edits": 2}],
                          commits=[{"message": text, "hash": "abc"}], outcomes={"tests": "ok", "committed": True},
                          phase_signature={"act": 4, "think": 1}, **columns))  # fmt: skip


def test_what_makes_a_thread_due(world: World) -> None:
    world.session("a", 0, "First")
    ended = world.assign("a")
    world.session("b", 100, "Second")
    second = world.assign("b")
    assert [(each.thread_id, each.why) for each in compaction.due(world.db, world.at(101))] == [(ended, "ended")]
    compaction.compact_due(world.db, world.at(101))
    assert compaction.due(world.db, world.at(102)) == []
    for number in range(50):
        world.say("b", 103 + number / 100, f"Turn {number}")
    world.assign("b")
    assert [(each.thread_id, each.why) for each in compaction.due(world.db, world.at(104))] == [(second, "turns")]
    compaction.compact_due(world.db, world.at(105))
    world.say("b", 106, "More")
    world.assign("b")
    assert compaction.due(world.db, world.at(107)) == []
    assert [each.why for each in compaction.due(world.db, world.at(105 + 24 * 60))] == ["time"]


def test_an_episode_told_anew_makes_its_thread_due(world: World) -> None:
    world.session("a", 0)
    unit = cycle(world, "a", 1, "Raise the limit", "src/limits.py")
    compaction.compact_due(world.db, world.at(500))
    assert compaction.due(world.db, world.at(501)) == []
    world.db.execute("UPDATE work_units SET narrated_at = ? WHERE id = ?", (world.at(502), unit))
    assert compaction.due(world.db, world.at(503)) == []  # one that goes on is told after each turn
    world.db.execute("UPDATE work_units SET state = 'closed' WHERE id = ?", (unit,))
    assert [each.why for each in compaction.due(world.db, world.at(503))] == ["told"]


def test_by_hand_ends_the_thread(world: World) -> None:
    world.session("a", 0, "First")
    thread = world.assign("a")
    found = compaction.compact(world.db, thread, world.at(1))
    stored = read.thread(world.db, thread)
    assert (stored.state, stored.micro, stored.compacted_at) == ("closed", found.micro, world.at(1))
    with pytest.raises(NmemError):
        compaction.compact(world.db, 99, 0)


def test_summaries_from_narratives(world: World) -> None:
    world.session("a", 0)
    cycle(world, "a", 1, "The avatar limit is too small for people", "src/aurora/limits.py",
          summary="The avatar limit went from 2 to 8 MB. Later text.", completed=["Limit raised", "Test added"],
          learned=["The proxy cuts at 10 MB"], next_steps=["Tell support"])  # fmt: skip
    cycle(world, "a", 5, "Banners as well", "src/aurora/banner.py", completed=["Banner limit raised"],
          learned=["The proxy cuts at 10 MB"], next_steps=["Document both limits"])  # fmt: skip
    found = compaction.summarise(world.db, world.thread("a"), 0)
    assert found.micro == (
        "The avatar limit went from 2 to 8 MB. Committed: Banners as well. Next: Document both limits."
    )
    assert "Done: Limit raised; Test added." in found.meso
    assert found.meso.index("avatar limit") < found.meso.index("Banners as well")
    assert "src/aurora/limits.py" in found.meso
    assert found.macro.count("The proxy cuts at 10 MB") == 1
    assert "Works in: src/aurora" in found.macro
    assert "Work: 8 of 10 calls did the work" in found.macro


def test_summaries_without_narratives_or_episodes(world: World) -> None:
    world.session("a", 0, "Why is the avatar limit 2 MB?\nUsers complain.")
    world.edit("a", 1, "src/limits.py")
    world.do("a", 2, "git_commit", "git commit", commit={"message": "Raise the limit"})
    found = compaction.summarise(world.db, world.assign("a"), 0)
    assert found.micro == "Why is the avatar limit 2 MB? Committed: Raise the limit."
    assert "Files: src/limits.py." in found.meso


@pytest.mark.parametrize(("told", "words"), [
    ({"reverted": True}, "taken back"), ({"abandoned": True}, "unfinished"), ({"tests": "failed"}, "tests failed"),
    ({"tests": "ok"}, "tests passed"),
])  # fmt: skip
def test_what_came_of_it(world: World, told: dict[str, Any], words: str) -> None:
    world.session("a", 0)
    world.say("a", 0, "Try the other parser")
    thread = world.assign("a")
    world.unit("a", world.say("a", 1, "Try the other parser"), outcomes=told)
    assert words in compaction.summarise(world.db, thread, 0).micro


def test_broken_columns_and_secrets_do_no_harm(world: World) -> None:
    world.session("a", 0)
    prompt = world.say("a", 0, "Goal \x1b[31mred")
    thread = world.assign("a")
    world.unit("a", prompt, summary="Key AKIA" + "Q3EGPL7ZTNYWKXRB used", outcomes="{", commits="[3, null", learned=[1])
    found = compaction.summarise(world.db, thread, 0)
    assert "AKIA" not in found.micro
    assert "\x1b" not in found.meso


def test_lengths_are_bounded(world: World) -> None:
    world.session("a", 0, *("word " * 900 for _ in range(30)))
    for number in range(20):
        world.assign("a")
        world.unit("a", world.say("a", 50 + number, f"Goal {number} " * 90), summary="x" * 5000, learned=["y" * 3000])
    found = compaction.summarise(world.db, world.thread("a"), 0)
    assert len(found.micro) <= compaction.MICRO
    assert len(found.meso) <= compaction.MESO
    assert len(found.macro) <= compaction.MACRO


def test_compaction_again_changes_nothing(world: World) -> None:
    world.session("a", 0)
    cycle(world, "a", 1, "Raise the limit", "src/limits.py")
    compaction.compact_due(world.db, world.at(500))
    before = world.all("SELECT micro, meso, macro, state FROM threads")
    compaction.compact(world.db, world.thread("a"), world.at(501))
    assert world.all("SELECT micro, meso, macro, state FROM threads") == before


def skill(world: World, *sessions: str, **columns: Any) -> None:
    """A skill of the project that sessions showed."""
    steps = {"kind": "steps", "text": "", "commands": ["make gen", "pytest", "git commit"], "files": [],
             "observation_ids": [], "confidence": 0.6, "times": len(sessions)}  # fmt: skip
    row = {"project_id": world.project(), "kind": "skill", "key": "make gen > pytest", "title": "make gen, then pytest",
           "files": '["*.py"]', "first_at": 0, "last_at": 1, "sessions": len(sessions), "occurrences": len(sessions),
           "remedy": json.dumps(steps), **columns}  # fmt: skip
    made = world.db.execute(
        f"INSERT INTO learnings ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
    ).lastrowid
    world.db.executemany(
        "INSERT INTO learning_evidence (learning_id, role, session_id, at) VALUES (?, 'occurrence', ?, 0)",
        [(made, each) for each in sessions],
    )


def test_skills_across_threads_and_retrieval_after_compaction(world: World) -> None:
    world.session("a", 0)
    first = cycle(world, "a", 1, "Raise the avatar limit in limits.py", "src/limits.py")
    world.session("b", 300)
    cycle(world, "b", 301, "Raise the banner limit in limits.py as well", "src/banner.py")
    skill(world, "a", "b")
    skill(world, "a", key="x", state="dismissed")
    skill(world, "b", key="y")
    Linker(world.db).link_all(world.at(400))
    outcomes.relate(world.db, world.thread("a"), world.thread("b"), True, world.at(401))
    turns_before = read.turns(world.db, world.thread("a"))
    rows = world.all("SELECT count(*) FROM observations")
    compaction.compact_due(world.db, world.at(500))

    view = read.view(world.db, world.thread("a"), world.at(500))
    assert view is not None
    (shown,) = view.skills  # what was dismissed is not told, nor what other threads showed
    assert (shown.steps, shown.sessions) == (("make gen", "pytest", "git commit"), 2)
    assert shown.when == "Before `git commit` of a changed `*.py`"
    assert view.thread.micro
    assert f"Skill: {shown.when}, run make gen, then pytest, then git commit" in view.thread.macro
    assert view.cross is not None
    assert view.cross.threads == (world.thread("a"), world.thread("b"))
    assert view.thread.micro in view.cross.summary  # told anew with the summaries
    assert read.turns(world.db, world.thread("a")) == turns_before
    assert (turns_before[0].unit_id, turns_before[0].actions, turns_before[0].failures) == (first, 5, 1)
    assert world.all("SELECT count(*) FROM observations") == rows


def test_raw_turns_come_in_pages(world: World) -> None:
    world.session("a", 0, *(f"Turn {number}" for number in range(7)), step=0)
    thread = world.assign("a")
    seen: list[str] = []
    after = (-1, 0)
    while page := read.turns(world.db, thread, after, 3):
        seen += [turn.text for turn in page]
        after = (page[-1].at, page[-1].prompt_id)
    assert seen == [f"Turn {number}" for number in range(7)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The limit was raised to eight. The test of it pas…[+449]", "The limit was raised to eight."),
        ("Updated the helpers and setupAgentHooksNonIntera…[+1797]", "Updated the helpers and …"),
        ("It failed (denied to Johannes…[+115]) and passed later", "It failed (denied to Johannes…) and passed later."),
        ("The limit was raised", "The limit was raised."),
    ],
)  # fmt: skip
def test_what_a_client_cut_off_ends_as_a_sentence(text: str, told: str) -> None:
    assert compaction.sentence(text) == told


def test_things_done_are_told_whole_and_the_rest_counted() -> None:
    assert compaction.listed(["Limit raised.", "Test added"]) == "Limit raised; Test added."
    assert compaction.listed(["one", "two", "three", "four", "five"]) == "one; two; three; and 2 more."
    assert compaction._safe(["A first sentence.", "A second one."], " ", 20) == "A first sentence."
    long = "Created " + "a file, and " * 11 + "one"
    assert compaction.listed([long, long]) == f"{long}; and 1 more."
