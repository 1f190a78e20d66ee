"""What an episode is called without a model: whole words, at most 60 characters, never nothing."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nmem.commands.main import nmem
from nmem.episodes import titles
from nmem.episodes.narrate.prompts import read
from nmem.episodes.titles import ROOM, Material, made, of_prompt, says
from nmem.episodes.titles.goal import verb
from nmem.episodes.titles.phrases import MOST, choose, together, weighed
from nmem.episodes.unit import shown


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("please can you add a --json flag to nmem status?", "Add a --json flag to nmem status"),
        (
            "Implement the following plan:\n\n# Plan: Add retries to the uploader\n\n## Context\nx",
            "Add retries to the uploader",
        ),
        ("/model opus", "Run /model opus"),
        ("why is it slow?", "Why is it slow?"),
    ],
)
def test_a_prompt_gives_a_title(prompt: str, title: str) -> None:
    assert of_prompt(prompt) == title


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("use [REDACTED:password] as the password for the test user", "Use … as the password for the test user"),
        ("edit bill.py\ntoken: [REDACTED:anthropic-key], [REDACTED:aws-key]", "Edit bill.py token: …"),
        ("why does the login with [REDACTED:password] fail?", "Why does the login with … fail?"),
        ("please edit bill.py so that it reads token: [REDACTED:anthr", "Edit bill.py so that it reads token: …"),
        ("[REDACTED:token]", "Said “…”"),
    ],
)
def test_what_was_redacted_names_nothing(prompt: str, title: str) -> None:
    assert of_prompt(prompt) == title
    commit = "Read the key [REDACTED:token] of the uploader"
    assert "REDACTED" not in made(Material([prompt], said=[prompt], commits=[commit], client=prompt))


def test_an_address_keeps_the_marker_in_it_whole() -> None:
    address = "https://discord.com[REDACTED:discord-webhook]"
    assert read(f"please post the alert of the shop there ({address}) and test it").places == (address,)


@pytest.mark.parametrize(
    "nothing", ["yes", "q", "hello", "ok", "/compact", "src/app.py", "Implement the following plan:"]
)
def test_what_says_nothing_gives_way_to_the_next_prompt(nothing: str) -> None:
    title = made(Material([nothing, "rename the upload helper to send_file"]))
    assert not says(nothing)
    assert "upload helper" in title.lower()


def test_a_pasted_log_is_no_title() -> None:
    log = '2026-01-01 12:00:00 start\nTraceback (most recent call last):\n  File "a.py", line 3\nValueError: bad port'
    assert of_prompt(log) == "Fix ValueError: bad port"


def test_a_bare_reply_alone_is_quoted() -> None:
    assert of_prompt("yes") == "Said “Yes”"


def test_the_clients_title_and_a_commit_that_tell_it_come_first() -> None:
    prompts = ["the upload breaks on large files, can you look into the timeout?"]
    commit = "fix(upload): raise the timeout of large files (#12)"
    assert made(Material(prompts, commits=[commit])) == "Raise the timeout of large files"
    assert made(Material(prompts, commits=[commit], client="Upload timeout of large files")).startswith(
        "Upload timeout"
    )
    assert made(Material(prompts, client="Spawn curry poem agents")) != "Spawn curry poem agents"


def test_titles_are_short_and_of_whole_words() -> None:
    prompt = "I would like you to " + " ".join(f"reorganize section{number} of the handbook," for number in range(40))
    title = of_prompt(prompt)
    assert len(title) <= ROOM
    assert set(title.replace(",", "").lower().split()) <= {*prompt.replace(",", "").lower().split()}


def test_a_given_name_stands_before_what_was_made() -> None:
    assert shown("Mine", "Made", "prompt") == "Mine"
    assert shown(None, "Made", "prompt") == "Made"


def test_eval_counts_the_words_of_a_persons_title(tmp_path: Path) -> None:
    file = tmp_path / "titled.jsonl"
    prompts = [
        {"text": "please add a spinner to the list view", "agent": {"said": "Added a spinner to the list view."}},
        {"text": "ok", "agent": {}},
        {"text": "hello", "agent": {}},
    ]
    file.write_text(json.dumps({"prompts": prompts, "titles": {"0": "Add list view spinner", "2": "Greet"}}) + "\n")
    ran = CliRunner().invoke(nmem, ["eval", "titles", str(file), "--json"])
    found = json.loads(ran.stdout)
    assert found["episodes"] == 2
    assert found["share"] == 0.5
    assert found["said_nothing"] == 1
    assert found["baseline"]["name"].startswith("the first prompt")


def test_a_title_that_any_request_could_have_is_told_apart() -> None:
    assert made(Material(["review this PR https://forge.example/a/b/pull/7360"])) == "Review this PR: pull/7360"
    said = ["The DNS setup is documented twice.", "The DNS setup now runs in a hook."]
    called = made(Material(["review the changes in this branch"], said, files=["dns_setup.sh"]))
    assert called.startswith("Review the changes in this branch: ") and len(called) <= ROOM
    assert titles.fit("4. Consider a test of worktrees \\") == "Consider a test of worktrees"


_WORDS = ("retry", "socket", "cache", "invoice", "deploy", "window", "parser", "budget")


@given(
    st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3, unique=True).map(" ".join), unique=True),
    st.lists(st.integers(1, 9), min_size=len(_WORDS), max_size=len(_WORDS)), st.integers(5, 60),
)  # fmt: skip
def test_no_other_phrases_tell_more(found: list[str], worth: list[int], room: int) -> None:
    known = {word[:5]: tells / 10 for word, tells in zip(_WORDS, worth, strict=True)}
    all_of_them = weighed(dict(zip(found, found, strict=True)), known)
    told = choose(all_of_them, "", room)

    def tells(some: tuple[str, ...]) -> float:
        words = [word for phrase in some for word in phrase.split()]
        fits = len(", ".join(some)) <= room and len(words) == len(set(words))
        single = sum(" " not in phrase for phrase in some)
        return sum(known[word[:5]] for word in words) - 0.05 * single - 0.1 * len(some) if fits else 0.0

    best = max((tells(some) for count in range(1, MOST + 1) for some in combinations(found, count)), default=0.0)
    assert tells(tuple(told)) == pytest.approx(max(best, 0.0))


def test_what_else_is_told_follows_as_tags() -> None:
    assert together(["contact points", "shape"], 60) == "contact points: shape"
    assert together(["contact points", "utils.py", "shape"], 60) == "contact points: utils.py, shape"
    assert together(["contact points", "shape"], 22) == "contact points: shape"
    assert together([], 60) == ""


def test_a_verb_of_how_work_goes_on_gives_way_to_what_was_asked() -> None:
    asked = ["run the harbour tests again", "push the harbour branch", "round the heights of the tide table"]
    assert verb([read(one) for one in asked], 0, []) == "round"
    assert verb([read(asked[0])], 0, []) == "run"


def test_a_title_has_one_verb() -> None:
    said = "The importer silently skips empty invoices on several conditions, which breaks the monthly totals."
    title = made(Material([said, "why does it lose invoices? fix it"]))
    assert title.startswith("Fix ") and "Fix skips" not in title and "Fix breaks" not in title
