"""The box: nothing that can be typed is an error, and filters are only what they can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.search.query import LONGEST, MOST_WORDS, Query, parse, since

NOW = 1_760_000_000_000
DAY = 86_400_000
PIECES = st.sampled_from(
    [
        "project:",
        "type:",
        "file:",
        "since:",
        "client:",
        "is:",
        '"',
        "'",
        "!",
        ":",
        " ",
        "a",
        "C++",
        "7d",
        "failed",
        "登录",
        "🚀",
        "\0",
        "\ud800",
        "-",
        "*",
        "(",
        ")",
        "AND",
        "NEAR",
        "^",
        "\n",
        "é",
        "İ",
        "ß",
    ]
)
TYPED = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))


def words(text: str) -> list[str]:
    return [word.text for word in parse(text, NOW).words]


@given(TYPED)
def test_whatever_is_typed_is_read(text: str) -> None:
    query = parse(text, NOW)
    assert isinstance(query, Query)
    for word in query.words:
        word.text.encode("utf-8")
        assert "\0" not in word.text
        assert all(token.isalnum() for token in word.tokens)


@given(st.lists(st.text("abcdefghij", min_size=3, max_size=8), min_size=1, max_size=8, unique=True))
def test_plain_words_are_all_kept_in_order(typed: list[str]) -> None:
    assert words(" ".join(typed)) == typed


@given(TYPED, st.sampled_from(["type:test", "is:failed", "project:shop", "client:codex", "since:7d", "file:a.py"]))
def test_a_filter_behind_anything_without_an_open_quotation_counts(text: str, given_filter: str) -> None:
    text = text.replace('"', "")[:1000]
    assert parse(f"{text} {given_filter}", NOW).filters


def test_filters() -> None:
    found = parse('login type:test,build is:failed project:"my shop" file:src/a.py client:codex since:7d', NOW)
    assert [word.text for word in found.words] == ["login"]
    kept = found.filters
    assert (kept.type, kept.failed, kept.pinned) == (("test", "build"), True, False)
    assert (kept.project, kept.file, kept.client) == (("my shop",), ("src/a.py",), ("codex",))
    assert kept.since == NOW - 7 * DAY


@pytest.mark.parametrize(
    "text", ["colour:red", "is:blue", "type:nothing", "since:soon", "project:", "http://a.b/c", "std::vector", "12:30"]
)
def test_what_is_no_filter_is_a_word(text: str) -> None:
    found = parse(text, NOW)
    assert not found.filters
    assert [word.text for word in found.words] == [text]
    looks_like_one = text.partition(":")[0] in ("is", "type", "since") and not text.endswith(":")
    assert bool(found.mistaken) is looks_like_one
    assert all(one.startswith(f"{text} is not a filter") for one in found.mistaken)


def test_an_end_of_time_is_the_earliest_that_is_named() -> None:
    kept = parse("login before:2025-02 until:7d", NOW).filters
    assert kept.until == since("2025-02", NOW) == since("2025-02-01", NOW)
    assert kept.since is None


def test_a_type_may_be_begun() -> None:
    assert parse("type:git", NOW).filters.type == ("git_commit", "git_other", "git_push", "github")
    assert parse("type:prompt", NOW).filters.type == ("prompt",)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("what's", ("what", "s")),
        ("C++", ("c",)),
        ("login,", ("login",)),
        ("🚀", ()),
        ("a-b_c/d.py", ("a", "b", "c", "d", "py")),
        ("Größe", ("große",)),
        ("登录", ("登录",)),
        ("...", ()),
    ],
)
def test_words_as_the_index_cuts_them(text: str, tokens: tuple[str, ...]) -> None:
    assert parse(text, NOW).words[0].tokens == tokens


def test_the_last_word_may_go_on_unless_it_is_finished() -> None:
    assert [word.open for word in parse("log tes", NOW).words] == [False, True]
    assert not parse('"log tes"', NOW).words[0].open
    assert not parse("log tes.", NOW).words[-1].open
    assert parse("type:test log", NOW).words[-1].open


def test_exclusion_quotation_camel_and_signs() -> None:
    query = parse('login !test "token cache" getUserId C++', NOW)
    assert [word.text for word in query.unwanted] == ["test"]
    assert query.words[2].quoted
    assert query.words[2].tokens == ("token", "cache")
    assert query.words[3].camel == ("get", "user", "id")
    assert query.words[4].exact
    assert not parse("why?", NOW).words[0].exact
    assert not parse("!!", NOW).unwanted


def test_long_texts_are_cut_and_it_is_said() -> None:
    assert parse("x" * (LONGEST + 1), NOW).cut
    assert len(parse(" ".join(f"word{n}" for n in range(100)), NOW).words) == MOST_WORDS
    assert not parse("x" * LONGEST, NOW).cut


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("7d", NOW - 7 * DAY),
        ("12h", NOW - DAY // 2),
        ("2025-01-01", 1_735_689_600_000),
        ("2025-01-01T10:30", 1_735_689_600_000 + 10 * 3_600_000 + 30 * 60_000),
        ("2025-01", 1_735_689_600_000),
        ("2025-13", None),
        ("today", NOW - NOW % DAY),
        ("99999w", 0),
        ("soon", None),
        ("", None),
    ],
)
def test_since(text: str, at: int | None) -> None:
    assert since(text, NOW) == at


def test_nothing_in_a_pasted_report_leaves_anything_out() -> None:
    report = "The image is not shown\n" + "![the image](https://example.com/a.png) is what I see instead of it. " * 10
    query = parse(report, NOW)
    assert not query.unwanted and query.about.partition("\n")[0] == "The image is not shown"


def test_nothing_in_a_pasted_report_is_a_filter() -> None:
    report = "Traceback (most recent call last):\n  file:src/a.py type:test since:7d\n" + "more of the same\n" * 40
    found = parse(report, NOW)
    assert not found.filters
    assert not found.mistaken
    assert "file:src/a.py" in found.about


def test_what_is_asked_about_is_the_text_without_its_filters() -> None:
    assert parse("coupon type:test !legacy rounding", NOW).about == "coupon rounding"
