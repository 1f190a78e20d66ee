"""Stuck loops, what is asked again, and files looked into in vain."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nmem.learn import read
from nmem.learn.kinds import asking
from nmem.learn.learning import STUCK_LOOP
from nmem.learn.patterns import Asked, Project
from nmem.retrieval.background import Background

History = Any
LOCKED = "FAILED tests/test_sync.py::test_race - database is busy"


def _stuck(history: History, name: str, times: int, every: int = 1) -> None:
    history.begin(name)
    for _ in range(times):
        history.edit("src/sync.py").fails("pytest tests/test_sync.py", LOCKED)
        history.at += every * 60_000


def test_the_same_error_four_times_in_two_sessions_is_a_stuck_loop(history: History) -> None:
    _stuck(history, "a", 4)
    assert history.learn() == []
    _stuck(history, "b", 5)
    (one,) = history.learn()
    assert (one.kind, one.sessions, one.occurrences) == (STUCK_LOOP, 2, 9)
    assert "up to 5 times" in one.title


def test_six_times_in_half_an_hour_of_one_session_are_enough(history: History) -> None:
    _stuck(history, "a", 6, every=10)
    (one,) = history.learn()
    assert (one.kind, one.sessions) == (STUCK_LOOP, 1)


def test_a_success_in_between_is_progress(history: History) -> None:
    for name in "ab":
        history.begin(name)
        for _ in range(3):
            history.fails("pytest tests/test_sync.py", LOCKED).edit("src/sync.py").fails(
                "pytest tests/test_sync.py", LOCKED
            )
            history.edit("src/sync.py").runs("pytest tests/test_sync.py")
    assert history.learn() == []


def test_a_run_whose_outcome_is_not_known_may_have_been_a_success(history: History) -> None:
    for name in "ab":
        history.begin(name).edit("src/sync.py")
        for _ in range(3):
            history.fails("pytest tests/test_sync.py", LOCKED).fails("pytest tests/test_sync.py", LOCKED)
            history.runs("pytest tests/test_sync.py", "unknown")
    assert history.learn() == []


def asked(number: int, intent: str, **more: Any) -> Asked:
    known: dict[str, Any] = {
        "unit_id": number, "session_id": f"s{number}", "thread_id": None, "prompt_id": number, "at": number * 1000,
        "intent": intent, "resumes": False, "reads": {}, "edits": {}, "failures": 0, "executed": 0,
        "interrupted": False,
    }  # fmt: skip
    return Asked(**{**known, **more})


def project(*units: Asked) -> Project:
    others = [asked(900 + at, text) for at, text in enumerate(OTHERS)]
    return Project([(one.session_id, one.at) for one in units], [], [*units, *others])


OTHERS = (
    "add a dark theme to the settings page", "rename the warehouse service to depot",
    "explain how retries are scheduled",
    "write a migration for the price table", "upgrade the linter and fix what it says", "draw the basket icon again",
)  # fmt: skip


def test_what_is_asked_in_three_sessions_is_a_repeated_intent() -> None:
    found = asking.intents(project(
        asked(1, "the nightly invoice export times out again, find out why"),
        asked(2, "nightly invoice export times out, please find out why"),
        asked(3, "Why does the nightly invoice export time out again?"),
    ))  # fmt: skip
    assert [one.sessions for one in found] == [["s1", "s2", "s3"]]


def test_a_thread_that_goes_on_does_not_ask_again() -> None:
    text = "the nightly invoice export times out again, find out why"
    same = [asked(at, text, thread_id=7) for at in range(1, 5)]
    resumed = [asked(at, text, resumes=True) for at in range(5, 9)]
    assert asking.intents(project(*same, *resumed)) == []


def test_the_same_request_is_repeated_whatever_ticket_it_names() -> None:
    units = [
        asked(at, f"Work on ticket shop-{at}. Look at its details and start with the first subtask")
        for at in range(1, 6)
    ]
    (one,) = asking.intents(project(*units))
    assert len(one.sessions) == 5


def test_a_request_in_the_midst_of_a_session_is_repeated_too(history: History) -> None:
    for name, text in zip("abc", ("commit and update changelog", "commit this and update @CHANGELOG.md",
                                  "then commit, and update changelog"), strict=True):  # fmt: skip
        history.begin(name).user(text).runs("ls")
    (one,) = history.learn()
    assert (one.kind, one.sessions, one.title) == ("repeated_intent", 3, "then commit, and update changelog")


def test_a_trouble_reported_in_two_sessions_is_not_settled() -> None:
    units = [asked(1, "mise run test:ci is failing"), asked(2, '"mise run test:ci" fails')]
    (one,) = asking.reads(project(*units))
    assert one.title == 'Reported again: "mise run test:ci" fails'
    assert asking.reads(project(units[0], asked(3, "the nightly export fails"))) == []


def test_a_long_request_is_cut_at_a_word_in_a_title() -> None:
    start = "the export of invoices of the shop still fails where a coupon and a gift card are used together by"
    units = [asked(at, f"{start} administrators") for at in range(1, 6)]
    (one,) = asking.reads(project(*units))
    assert one.title == f"Reported again: {start}…"
    (one,) = asking.intents(project(*units))
    assert one.title == f"{start}…"


def test_a_title_that_an_older_nmem_cut_is_shown_up_to_a_whole_word(history: History) -> None:
    for name in "abc":
        history.begin(name).user("commit and update changelog").runs("ls")
    history.learn()
    history.db.execute("UPDATE learnings SET title = ?", (f"{'word ' * 20}unfinished",))
    (one,) = read.learnings(history.db, history.at)
    assert one.title == f"{'word ' * 20}".rstrip() + "…"


def test_a_ticket_that_two_sessions_looked_into_and_changed_nothing_for() -> None:
    looked = [asked(at, f"investigate SHOP-17, {how}", reads={"src/a.py": 1}) for at, how in ((1, "one"), (2, "two"))]
    (one,) = asking.reads(project(*looked))
    assert one.title.startswith("shop-17 is looked into again")
    assert asking.reads(project(*looked, asked(3, "do SHOP-17", edits={"src/a.py": 1}))) == []
    assert asking.reads(project(*(asked(at, "review SHOP-17 for me") for at in (1, 2)))) == []


def test_commands_and_bare_orders_are_no_questions() -> None:
    units = [
        asked(at, text) for at, text in enumerate(["commit this", "/publish the report of today", "yes do it"] * 4)
    ]
    assert asking.intents(project(*units)) == []


def test_a_file_looked_into_in_vain_in_three_sessions() -> None:
    vain = [asked(at, "why is the stock wrong", reads={"src/stock.py": 3}, failures=2) for at in (1, 2, 3)]
    (one,) = asking.reads(project(*vain))
    assert one.files == ["src/stock.py"]


def test_reading_alone_says_nothing() -> None:
    calm = [asked(at, "explain the stock", reads={"src/stock.py": 5}) for at in range(1, 6)]
    docs = [asked(at, "why", reads={"docs/stock.md": 5, "README.md": 5}, failures=5) for at in range(6, 10)]
    mended = [asked(at, "why", reads={"src/vat.py": 5}, failures=5) for at in range(11, 15)]
    mended.append(asked(20, "fix it", edits={"src/vat.py": 1}))
    assert asking.reads(project(*calm, *docs, *mended)) == []


WORDS = ["parser", "window", "token", "cache", "widget", "invoice", "refund", "ledger", "budget", "archive"]


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=asking.FEW, max_size=8, unique=True), max_size=30))
def test_the_intents_that_are_compared_are_all_that_can_say_the_same(asked: list[list[str]]) -> None:
    rarity = Background(asked).rarity
    found = asking._near(dict(enumerate(asked)))
    for (at, mine), (one, theirs) in combinations(enumerate(asked), 2):
        shared = set(mine) & set(theirs)
        least = asking.ALIKE / (1 + asking.ALIKE) * sum(map(rarity, [*mine, *theirs]))
        spare = sum(map(rarity, shared)) - least
        if abs(spare) > 1e-9:
            assert (one in found[at]) == (at in found[one]) == (len(shared) >= asking.FEW - 1 and spare > 0 < least)
