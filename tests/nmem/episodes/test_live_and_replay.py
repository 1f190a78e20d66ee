"""What hooks decide prompt by prompt is what a replay of the whole session decides."""

from __future__ import annotations

import itertools
from sqlite3 import Connection
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmem.episodes import boundary, history, units
from nmem.episodes.online import arrived, ended, unsure
from tests.nmem.episodes.conftest import Script

_ASKED = (
    "fix the failing login test in src/auth/token.py, it says that the session has expired", "ok", "yes, go on",
    "commit this", "now build a page that charts the monthly invoices of each customer and exports them as a table",
    "back to the login: the token in src/auth/token.py must be renewed a minute earlier",
    "why is the importer so slow? measure where it spends its time and make the parser of lines faster",
    "the chart in web/billing/chart.tsx draws the months in the wrong order",
    "次に請求書の一覧を月別に表示してください",
    "run the tests again", "thanks", "/clear", "one more thing: write the release notes for version two",
)  # fmt: skip
_FILES = ("src/auth/token.py", "src/auth/login.py", "web/billing/chart.tsx", "web/billing/export.ts", "src/lines.py")
_SAID = ("Done, the login test passes.", "The chart draws the months in order now.", "The parser reads a line in 2 µs.")
turns = st.lists(
    st.fixed_dictionaries({
        "text": st.sampled_from(_ASKED), "pause": st.sampled_from((0.5, 3.0, 45.0, 900.0)),
        "files": st.lists(st.sampled_from(_FILES), max_size=3), "said": st.sampled_from(("", *_SAID)),
        "last": st.sampled_from(("", "git_commit", "session_clear")),
    }),
    min_size=1, max_size=9,
)  # fmt: skip
numbers = itertools.count()


def played(db: Connection, told: list[dict[str, Any]]) -> Script:
    """A session as its hooks see it."""
    session = Script(db, f"s-{next(numbers)}")
    for turn in told:
        session.prompt(turn["text"], turn["pause"])
        arrived(db, session.id)
        for path in turn["files"]:
            session.did("file_edit", path)
        if turn["last"]:
            session.did(turn["last"], tool="Bash" if turn["last"] == "git_commit" else "")
        if turn["said"]:
            session.said(turn["said"])
        ended(db, session.id)
    return session


def live(db: Connection, session_id: str) -> list[tuple[object, ...]]:
    """For each prompt: label, probability, reason, whether it is offered, and the prompt that opened the goal."""
    goals = {unit.id: unit for unit in units.of_session(db, session_id)}
    out: list[tuple[object, ...]] = []
    for prompt in units.prompts_of_session(db, session_id):
        said, unit = prompt.verdict, goals[prompt.unit_id]
        resumed = goals.get(unit.resumes or 0) if unit.first_prompt_id == prompt.id else None
        out.append((said.label, said.score, said.reason, said.offered, resumed and resumed.first_prompt_id))
    return out


def replayed(db: Connection, session_id: str) -> list[tuple[object, ...]]:
    """The same of a replay that knows of each turn no later one, as when it ended."""
    found, session = history.whole(db, session_id), boundary.Session(boundary.load())
    out: list[tuple[object, ...]] = []
    for turn in found:
        each = session.arrive(turn)
        if unsure(each.probability):
            each = session.revise(turn)
        session.ended(turn, each)
        resumed = None if each.resumes is None else found[each.resumes]["id"]
        out.append((each.label, each.probability, each.reason(), each.offer, resumed))
    return out


@given(told=turns)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hooks_and_a_replay_agree(db: Connection, told: list[dict[str, Any]]) -> None:
    session_id = played(db, told).id
    assert live(db, session_id) == replayed(db, session_id)


@given(told=turns)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_they_agree_on_a_prompt_when_it_arrives(db: Connection, told: list[dict[str, Any]]) -> None:
    script = played(db, told[:-1])
    session_id = script.id
    session = boundary.Session(boundary.load())
    for turn in history.whole(db, session_id):
        each = session.arrive(turn)
        session.ended(turn, session.revise(turn) if unsure(each.probability) else each)
    number = script.prompt(told[-1]["text"], told[-1]["pause"])
    arrived(db, session_id)
    found = history.whole(db, session_id)
    if number != found[-1]["id"]:
        return  # a bare command belongs to the turn before it
    expected = session.arrive(found[-1])
    resumed = None if expected.resumes is None else found[expected.resumes]["id"]
    said = (expected.label, expected.probability, expected.reason(), expected.offer, resumed)
    assert live(db, session_id)[-1] == said


def test_the_examples_open_and_resume_episodes(db: Connection) -> None:
    """Else the agreement would be about nothing."""
    first, page, back = _ASKED[0], _ASKED[4], _ASKED[5]
    told = [
        {"text": text, "pause": 900.0, "files": list(files), "said": "", "last": ""}
        for text, files in ((first, _FILES[:2]), (page, _FILES[2:4]), (back, _FILES[:1]))
    ]
    found = live(db, played(db, told).id)
    assert [each[0] for each in found] == ["new", "new", "new"]
    assert found[2][4] is not None


def test_words_alone_resume_nothing_before_the_turn_has_done_something(db: Connection) -> None:
    def turn(text: str, *files: str) -> dict[str, Any]:
        return {"text": text, "pause": 900.0, "files": list(files), "said": "", "last": ""}

    page, slow = _ASKED[4], _ASKED[6]
    script = played(db, [turn(page, *_FILES[2:4]), turn(slow, _FILES[4]) | {"last": "session_clear"}])
    session = boundary.Session(boundary.load())
    for each in history.whole(db, script.id):
        session.ended(each, session.revise(each))
    script.prompt(page, 900.0)
    arrived(db, script.id)
    again = history.whole(db, script.id)[-1]
    assert session.goals is not None
    assert session.goals.resumed(again["text"], {}) == 0, "the words alone would say so"
    assert live(db, script.id)[-1][0] == session.arrive(again).label == "new"
    assert live(db, script.id)[-1][4] is session.arrive(again).resumes is None
    assert session.revise(again).resumes == 0
