"""Semantic linking: scores, the decision table, what is recorded, what a person says, what the files say."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.errors import NmemError
from nmem.retrieval.background import Background
from nmem.threads import continuity, decisions, formula, outcomes
from nmem.threads import links_store as _links
from nmem.threads import read as _read
from nmem.threads.formula import NAMES, Earlier, Likeness, likeness, recency
from nmem.threads.link import Assessment, Linker, Question, decide
from nmem.threads.outcomes import same_work

World = Any
read: Any = _read  # what is found is there: a None fails the test all the same
links: Any = _links  # what is found is there: a None fails the test all the same
UNIT = st.floats(0, 1)


def avatar_story(world: World) -> tuple[int, int, int]:
    """Avatars; something else; avatars again, each hours apart. The three threads."""
    world.session(
        "a", 0, "The avatar upload rejects anything above 2 MB, see upload_limits.py", "Raise the avatar limit"
    )
    world.edit("a", 2, "src/upload_limits.py", "tests/test_upload_limits.py", "src/avatar.py")
    world.session("b", 200, "Translate the invoice footer into Portuguese")
    world.edit("b", 202, "locale/pt/invoice.po", "locale/pt/mail.po", "locale/pt/menu.po")
    world.session("c", 300, "The avatar limit in upload_limits.py needs a test for banners too")
    continuity.assign_all(world.db)
    first, second, third = world.thread("a"), world.thread("b"), world.thread("c")
    assert len({first, second, third}) == 3
    return first, second, third


def says(related: bool, confidence: float = 0.92) -> Any:
    def assess(question: Question) -> Assessment:
        return Assessment(related, confidence, f"because of {question.message[:10]}")

    return assess


def test_related_threads_are_linked_and_unrelated_ones_are_not(world: World) -> None:
    first, second, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    found = {(each.earlier_thread_id, each.later_thread_id): each for each in links.decisions_of(world.db, third)}
    assert found[first, third].linked
    assert not found[second, third].linked
    assert found[first, third].algorithmic_score > 0.4 > found[second, third].algorithmic_score
    assert set(found[first, third].components) == set(NAMES)
    assert (found[first, third].llm_related, found[first, third].agreement) == (None, None)
    assert not links.between(world.db, first, second).linked


def test_threads_on_one_feature_branch_are_one_line_of_work_whatever_was_said(world: World) -> None:
    said = {"a": "Store saves as JSON", "b": "Translate the footer", "c": "Draw an icon set"}
    for number, (name, text) in enumerate(said.items()):
        world.session(name, 1500 * number, text, branch="main" if number else "feature/saves")
    world.session("next", 6000, "Migrate what is old", branch="feature/saves")
    continuity.assign_all(world.db)
    Linker(world.db).link_all(world.at(7000))
    earlier = {each.earlier_thread_id: each for each in links.decisions_of(world.db, world.thread("next"))}
    link = earlier[world.thread("a")]
    assert (link.linked, link.certainty, link.components["branch"]) == (True, "likely", 1.0)
    assert _told(link)[0] == "likely", "two chores may share a branch"
    assert _told(link)[1].startswith("one branch")
    others = [each for thread, each in earlier.items() if thread != world.thread("a")]
    assert others
    assert not any(each.linked or "branch" in each.components for each in others)
    trunk = links.between(world.db, world.thread("b"), world.thread("c"))
    assert trunk is not None
    assert not trunk.linked


def _told(link: decisions.Decision) -> tuple[str, str]:
    word, why = decisions.surety(link.linked, link.certainty, link.components, link.agreement)
    return word, why


def test_only_one_issue_makes_a_link_certain_and_its_number_is_said(world: World) -> None:
    for number in range(8):
        world.session(f"x{number}", number, f"Unrelated question {number} on topic{number}")
    world.session("a", 200, "Fix #418: the avatar upload rejects large files, see upload_limits.py")
    world.edit("a", 202, "src/upload_limits.py")
    world.session("b", 300, "The avatar upload of #418 needs a test in upload_limits.py")
    world.session("c", 400, "The avatar upload needs a changelog line for upload_limits.py")
    continuity.assign_all(world.db)
    Linker(world.db).link_all(world.at(500))
    same = links.between(world.db, world.thread("a"), world.thread("b"))
    assert (same.linked, same.certainty, _told(same)) == (True, "high", ("certain", "both open with #418"))
    alike = links.between(world.db, world.thread("a"), world.thread("c"))
    assert alike.linked
    assert _told(alike)[0] in ("likely", "possible")
    assert _told(alike)[1]


@given(st.dictionaries(st.sampled_from([*NAMES, "branch", "ratio", "evidence"]), UNIT), st.booleans(),
       st.sampled_from(["high", "likely", "uncertain"]), st.sampled_from([None, True, False]))  # fmt: skip
def test_no_likeness_is_told_as_certain(
    parts: dict[str, float], linked: bool, certainty: str, agreed: bool | None
) -> None:
    """Nor one that an older nmem stored as certain."""
    word, why = decisions.surety(linked, certainty, parts, agreed)
    if linked:
        assert word == ("possible" if certainty == "uncertain" else "likely")
        told = any(parts.get(name, 0) for name in (*NAMES, "branch", "ratio")) or agreed
        assert bool(why) == bool(told), "without a reason none is made up"


def test_what_every_prompt_names_makes_no_link(world: World) -> None:
    """Prompts out of one form, minutes apart: their names are the form's, and say nothing of the work."""
    form = "Solve the issue in manual.yaml (instance_id, base_commit, problem_statement): "
    for number, work in enumerate((
        "pickled floats of Python 2 cannot be loaded", "an unnamed index is moved backward and crashes",
        "the username validator allows a trailing newline", "colours of the legend are swapped in dark mode",
        "diophantine gives incomplete results", "the url field raises the wrong exception",
    )):  # fmt: skip
        world.session(f"s{number}", 40 * number, form + work)
        world.edit(f"s{number}", 40 * number + 2, f"src/part{number}.py")
    continuity.assign_all(world.db)
    made = Linker(world.db).link_all(world.at(2000))
    assert made
    assert not any(one.linked for one in made)
    assert max(one.components["entities"] for one in made) == 0.0


def test_what_was_said_alone_makes_a_link_likely_which_a_person_confirms(world: World) -> None:
    world.session("a", 0, "The avatar upload rejects anything above 2 MB, see upload_limits.py and avatar.py")
    world.edit("a", 2, "src/upload_limits.py", "src/avatar.py")
    for number in range(8):
        world.session(f"x{number}", 40 + number, f"Unrelated question {number} on topic{number}")
    world.session("b", 200, "The avatar limit of upload_limits.py needs a test, avatar.py too")
    continuity.assign_all(world.db)
    Linker(world.db).link_all(world.at(400))
    first = world.thread("a")
    sure = links.between(world.db, first, world.thread("b"))
    assert (sure.linked, sure.certainty) == (True, "likely")
    outcomes.confirm(world.db, sure.id, True, world.at(401))
    said = links.between(world.db, first, world.thread("b"))
    assert (said.linked, said.outcome, said.outcome_by) == (True, "correct", "person")


def test_a_link_is_a_cross_thread_episode_with_a_combined_summary(world: World) -> None:
    first, second, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    cross = read.cross(world.db, first)
    assert cross is not None
    assert cross == read.cross(world.db, third)
    assert cross.threads == (first, third)
    assert "avatar upload rejects" in cross.summary
    assert "needs a test for banners" in cross.summary
    assert "src/upload_limits.py" in cross.summary
    assert read.thread(world.db, first).cross_thread_episodes == read.thread(world.db, third).cross_thread_episodes
    assert read.cross(world.db, second) is None


def test_the_seeds_formula() -> None:
    plain = formula.seed()
    assert plain.score(Likeness(1, 1, 0, 1, 1)) == pytest.approx(1.0)
    assert plain.score(Likeness(1, 0, 0, 0, 0)) == pytest.approx(0.3)
    assert plain.score(Likeness(0, 1, 0, 0, 0)) == pytest.approx(0.3)
    assert plain.score(Likeness(0, 0, 0.5, 1, 0)) == pytest.approx(0.2)
    assert plain.score(Likeness(0, 0, 0, 0, 1)) == pytest.approx(0.2)
    assert not plain.links(Likeness(1, 1, 0, 0, 0.5))  # .7 exactly
    assert plain.links(Likeness(1, 1, 0, 0, 0.6))
    assert plain.why(Likeness(1, 0, 0, 0.5, 0))[0] == ("keywords", 0.3)


SURE, NOT = Likeness(1, 1, 1, 1, 1), Likeness(0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("score", "model", "confidence", "linked", "certainty", "agreement"),
    [
        (0.88, True, 0.92, True, "likely", True),
        (0.88, False, 0.80, True, "uncertain", False),  # the algorithm is surer
        (0.75, False, 0.95, False, "uncertain", False),  # the model is surer
        (0.20, True, 0.95, True, "uncertain", False),
        (0.20, True, 0.60, False, "uncertain", False),
        (0.70, False, 0.10, False, "high", True),  # .7 is not above .7
        (0.75, False, 0.75, False, "uncertain", False),  # a tie is no link
        (0.30, True, 0.70, False, "uncertain", False),
    ],
)
def test_the_decision_table(
    score: float, model: bool, confidence: float, linked: bool, certainty: str, agreement: bool
) -> None:
    found = decide(score, formula.seed(), Assessment(model, confidence))
    assert (found.linked, found.certainty, found.agreement) == (linked, certainty, agreement)


@given(UNIT, st.booleans(), UNIT)
def test_agreement_is_always_followed(score: float, related: bool, confidence: float) -> None:
    plain = formula.seed()
    found = decide(score, plain, Assessment(related, confidence))
    if (score > plain.threshold) == related:
        assert (found.linked, found.certainty) == (related, "likely" if related else "high")
    else:
        assert found.certainty == "uncertain"
    assert decide(score, plain, None).linked == (score > plain.threshold)


def test_without_a_model_near_the_threshold_is_uncertain() -> None:
    assert decide(0.75, formula.seed(), None).certainty == "uncertain"
    assert decide(0.95, formula.seed(), None).certainty == "likely"
    assert decide(0.95, formula.seed(), None, one_issue=True).certainty == "high"
    assert decide(0.75, formula.seed(), None, one_issue=True).certainty == "high"
    assert not decide(0.6, formula.seed(), None, one_issue=True).linked
    assert decide(0.1, formula.seed(), None).certainty == "high"


def test_the_model_is_asked_beside_the_algorithm_and_both_are_recorded(world: World) -> None:
    first, second, third = avatar_story(world)
    asked: list[Question] = []
    names: set[str] = set()

    def assess(question: Question) -> Assessment:
        asked.append(question)
        names.add(threading.current_thread().name)
        return Assessment("avatar" in question.earlier_summary, 0.9, "same \x1b[31mlimit, AKIA" + "Q3EGPL7ZTNYWKXRB")

    Linker(world.db, assess).link(third, world.at(400))
    assert threading.main_thread().name not in names
    assert {question.message for question in asked} == {
        "The avatar limit in upload_limits.py needs a test for banners too"
    }
    about = {question.earlier_turns for question in asked}
    assert ("Translate the invoice footer into Portuguese",) in about
    stored = links.between(world.db, first, third)
    assert (stored.llm_related, stored.llm_confidence, stored.agreement, stored.certainty) == (
        True,
        0.9,
        True,
        "likely",
    )
    assert "\x1b" not in stored.llm_reasoning
    assert "AKIA" not in stored.llm_reasoning
    assert links.between(world.db, second, third).llm_related is False


def test_no_answer_leaves_the_decision_to_the_algorithm(world: World) -> None:
    first, _, third = avatar_story(world)
    Linker(world.db, lambda question: None).link_all(world.at(400))
    assert links.between(world.db, first, third).linked
    assert links.between(world.db, first, third).llm_related is None


def test_running_again_changes_nothing(world: World) -> None:
    avatar_story(world)
    assert len(Linker(world.db).link_all(world.at(400))) == 3
    before = world.all("SELECT * FROM episode_links ORDER BY id")
    assert Linker(world.db).link_all(world.at(500)) == []
    for thread in world.all("SELECT id FROM threads"):
        Linker(world.db).link(thread[0], world.at(600))
    assert world.all("SELECT * FROM episode_links ORDER BY id") == before


def test_it_does_not_matter_when_it_is_asked(world: World) -> None:
    first, _, third = avatar_story(world)
    early = Linker(world.db).link(third, world.at(310))
    world.db.execute("DELETE FROM episode_links")
    world.say("a", 900, "Back to it: the avatar limit for banners needs a test")
    world.edit("a", 901, "src/banner.py")
    late = Linker(world.db).link(third, world.at(1000))
    assert [(each.earlier_thread_id, each.components["recency"], each.linked) for each in late] == [
        (each.earlier_thread_id, each.components["recency"], each.linked) for each in early
    ]
    assert first in {each.earlier_thread_id for each in late}


def test_a_later_model_is_asked_about_recent_decisions_but_not_about_answered_ones(world: World) -> None:
    first, second, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    outcomes.confirm(world.db, links.between(world.db, first, third).id, False, world.at(401))
    Linker(world.db, says(True, 1.0)).link_all(world.at(402))
    answered = links.between(world.db, first, third)
    assert (answered.linked, answered.llm_related, answered.outcome) == (False, None, "incorrect")
    assert links.between(world.db, second, third).llm_related is True


def test_a_persons_answer_is_an_outcome_and_can_be_undone(world: World) -> None:
    first, _, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    link = links.between(world.db, first, third)
    assert outcomes.confirm(world.db, link.id, True, world.at(401)).outcome == "correct"
    denied = outcomes.confirm(world.db, link.id, False, world.at(402))
    assert (denied.outcome, denied.outcome_by, denied.linked, denied.decision) == ("incorrect", "person", False, "link")
    assert read.cross(world.db, first) is None
    kind, target, before = world.all("SELECT kind, target, before FROM corrections ORDER BY id DESC")[0]
    assert kind == "unlink"
    outcomes.undo(world.db, target, json.loads(before))
    assert links.decision(world.db, link.id).outcome == "correct"
    assert read.cross(world.db, first) is not None


def test_a_person_links_what_was_never_compared(world: World) -> None:
    first, second, third = avatar_story(world)
    found = outcomes.relate(world.db, third, second, True, world.at(400))
    assert (found.earlier_thread_id, found.later_thread_id, found.linked) == (second, third, True)
    assert (found.decision, found.outcome, found.outcome_by) == ("dont_link", "incorrect", "person")
    Linker(world.db, says(False)).link_all(world.at(401))
    assert links.decision(world.db, found.id).linked
    target, before = world.all("SELECT target, before FROM corrections")[0]
    outcomes.undo(world.db, target, json.loads(before))
    assert links.decision(world.db, found.id) is None
    for one, other in ((first, first), (first, 99)):
        with pytest.raises(NmemError):
            outcomes.relate(world.db, one, other, True, 0)
    with pytest.raises(NmemError):
        outcomes.confirm(world.db, 99, True, 0)


def test_files_touched_in_common_afterwards_are_an_outcome(world: World) -> None:
    first, second, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    world.edit("c", 305, "src/upload_limits.py", "tests/test_upload_limits.py", "src/banner.py")
    assert outcomes.by_files(world.db, world.at(401)) == 1  # the third goes on: only the second has ended
    world.db.execute("UPDATE threads SET state = 'closed'")
    month = world.at(402) + 31 * 24 * 60 * 60_000
    assert outcomes.by_files(world.db, month, lately=True) == 0, "nothing has happened in these threads for long"
    assert outcomes.by_files(world.db, world.at(402), lately=True) == 2
    assert outcomes.by_files(world.db, world.at(403)) == 0
    linked, other = links.between(world.db, first, third), links.between(world.db, second, third)
    assert (linked.outcome, linked.outcome_by, linked.related) == ("correct", "files", True)
    assert (other.outcome, other.related) == ("correct", False)
    outcomes.confirm(world.db, linked.id, False, world.at(404))
    assert outcomes.by_files(world.db, world.at(405)) == 0
    assert links.decision(world.db, linked.id).outcome_by == "person"


def test_files_do_not_change_what_is_linked(world: World) -> None:
    first, _, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    link = links.between(world.db, first, third)
    links.set_outcome(world.db, link.id, "incorrect", "files", 1)
    assert links.decision(world.db, link.id).linked
    assert read.thread(world.db, first).cross_thread_episodes == (link.id,)


def test_uncertain_decisions_wait_for_an_answer(world: World) -> None:
    first, _, third = avatar_story(world)
    Linker(world.db, says(False, 0.9)).link_all(world.at(400))
    waiting = links.between(world.db, first, third)
    assert (waiting.certainty, waiting.outcome_by) == ("uncertain", "")
    outcomes.confirm(world.db, waiting.id, True, world.at(401))
    assert links.decision(world.db, waiting.id).outcome_by == "person"


def test_threads_of_other_projects_and_of_long_ago_are_no_candidates(world: World) -> None:
    world.session("a", 0, "The avatar limit in upload_limits.py")
    world.session("b", 30 * 24 * 60, "The avatar limit in upload_limits.py")
    world.session("c", 30 * 24 * 60 + 60, "The avatar limit in upload_limits.py", project="borealis")
    continuity.assign_all(world.db)
    assert Linker(world.db).link_all(world.at(50_000)) == []


def test_any_language() -> None:
    earlier = Earlier(("아바타 업로드 제한을 올려줘", "画像の上限を変更する"), ("src/アバター.py",))
    background = Background([["x"]])
    same = likeness(earlier, "아바타 업로드 테스트", 60, background)
    other = likeness(earlier, "請求書の翻訳", 60, background)
    assert same.keywords > other.keywords


@given(st.lists(st.text(max_size=60), max_size=4), st.text(max_size=80), st.floats(-1e4, 1e6))
def test_every_number_is_between_0_and_1(prompts: list[str], message: str, gap: float) -> None:
    background = Background([text.split() for text in prompts])
    found = likeness(Earlier(tuple(prompts), ("a/b.py",)), message, gap, background)
    assert all(0 <= value <= 1 + 1e-9 for value in found.values())
    assert 0 < formula.shipped().score(found) < 1
    assert recency(gap) >= recency(gap + 60)


@pytest.mark.parametrize(
    ("remark", "same"),
    [
        ("didn't we talk about this?", True), ("we already fixed that yesterday", True), ("as we discussed", True),
        ("hatten wir das nicht schon?", True), ("on en a déjà parlé", True), ("já falamos disso", True),
        ("지난번에 얘기했잖아", True), ("前に話したよね", True), ("之前讨论过", True),
        ("that's not what I meant", False), ("this is a different task", False), ("das hat damit nichts zu tun", False),
        ("no tiene nada que ver", False), ("別の話です", False), ("다른 작업이야", False),
        ("please add a test", None), ("what did the test say?", None),
    ],
)  # fmt: skip
def test_remarks_say_whether_a_thread_goes_on_with_earlier_work(remark: str, same: bool | None) -> None:
    assert same_work(remark, first=False) is same


def test_a_first_prompt_answers_nothing() -> None:
    assert same_work("that's not what I meant", first=True) is None
    assert same_work("x" * 400 + " didn't we talk about this?", first=False) is None


def test_what_a_person_remarks_is_an_outcome(world: World) -> None:
    first, second, third = avatar_story(world)
    Linker(world.db).link_all(world.at(400))
    assert outcomes.by_words(world.db, world.at(401)) == 0
    world.say("c", 300.5, "didn't we talk about this?")
    assert outcomes.by_words(world.db, world.at(402)) == 1, "of the likeliest link, and of no other thread"
    right = links.between(world.db, first, third)
    assert (right.outcome, right.outcome_by, right.linked) == ("correct", "words", True)
    assert links.between(world.db, second, third).outcome == ""
    world.db.execute("UPDATE episode_links SET outcome = NULL, outcome_by = NULL")
    world.db.execute("UPDATE prompts SET content = 'no, that''s not what I meant' WHERE content LIKE 'didn%'")
    assert outcomes.by_words(world.db, world.at(403)) == 1
    wrong = links.between(world.db, first, third)
    assert (wrong.outcome, wrong.outcome_by, wrong.linked) == ("incorrect", "words", True), "only a person unlinks"
    outcomes.confirm(world.db, wrong.id, True, world.at(404))
    assert outcomes.by_words(world.db, world.at(405)) == 0
    assert links.decision(world.db, wrong.id).outcome_by == "person"


def test_words_that_every_project_says_tell_little() -> None:
    told = Background([["coupon", "file", "test"], ["footer"], ["icon"]])
    assert told.telling("coupon") == told.rarity("coupon")
    assert told.telling("file") == pytest.approx(0.3 * told.rarity("file"))
    assert told.most_telling({"thank", "coupon"}, 1) == told.rarity("coupon")
    assert told.most_telling({"thank"}, 1) == 0
