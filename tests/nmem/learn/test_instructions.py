"""Rules between markers in a file of instructions: a person's bytes stay, and what came goes without a trace."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nmem.learn import instructions
from nmem.learn.instructions import CLOSE, OPEN, Unfit
from nmem.learn.rules import neat

BOM = b"\xef\xbb\xbf"
RULE = "`npm test` fails here; `pnpm test` passes"
BLOCK = OPEN + b"\n- " + RULE.encode() + b"\n" + CLOSE


def put(data: bytes | None, *rules: str) -> bytes:
    for rule in rules:
        data = instructions.put(data, rule).data
    assert data is not None
    return data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, BLOCK + b"\n"),
        (b"", BLOCK + b"\n"),
        (BOM, BOM + BLOCK + b"\n"),
        (b"# Shop\n", b"# Shop\n\n" + BLOCK + b"\n"),
        (b"# Shop", b"# Shop\n\n" + BLOCK),
        (
            BOM + b"# Shop\r\nBe kind.\r\n",
            BOM + b"# Shop\r\nBe kind.\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n") + b"\r\n",
        ),
        (b"# Shop\r\nBe kind.", b"# Shop\r\nBe kind.\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n")),
        (b"a\r\nb\nc\n", b"a\r\nb\nc\n\n" + BLOCK + b"\n"),
        (b"caf\xe9 in latin-1\n", b"caf\xe9 in latin-1\n\n" + BLOCK + b"\n"),
    ],
)
def test_a_block_is_made_at_the_end_and_leaves_no_trace(before: bytes | None, after: bytes) -> None:
    done = instructions.put(before, RULE)
    assert (done.data, done.wrote, done.made) == (after, True, True)
    assert instructions.remove(done.data, RULE, whole=True) == (before or b"")


def test_a_rule_stands_once() -> None:
    once = put(b"# Shop\n", RULE)
    again = instructions.put(once, RULE)
    assert (again.data, again.wrote, again.made) == (once, False, False)
    assert put(once, "another", RULE, "another").count(b"\n- ") == 2
    assert instructions.rules(put(once, "another")) == (RULE, "another")
    assert instructions.put(b"Rules:\r\n\r\n* another \r\n", "another").wrote is False


def test_what_a_person_wrote_into_the_block_or_around_it_stays() -> None:
    data = put(b"# Shop\n", RULE, "another")
    edited = data.replace(b"- another\n", b"- another, but kinder\nmy own line\n").replace(b"# Shop", b"# Our shop")
    edited += b"\n## Later\n"
    left = instructions.remove(instructions.remove(edited, "another", whole=True), RULE, whole=True)
    assert left == b"# Our shop\n\n" + OPEN + b"\n- another, but kinder\nmy own line\n" + CLOSE + b"\n\n## Later\n"


def test_text_written_after_the_block_stays_apart_from_what_was_before_it() -> None:
    assert instructions.remove(put(b"# Shop", RULE) + b"\nmore\n", RULE, whole=True) == b"# Shop\nmore\n"
    assert instructions.remove(put(b"# Shop\n", RULE) + b"more", RULE, whole=True) == b"# Shop\nmore"
    closer = put(b"# Shop\n", RULE).replace(b"\n\n", b"\n") + b"more"
    assert instructions.remove(closer, RULE, whole=True) == b"# Shop\nmore"


def test_text_that_a_shell_appended_to_the_last_line_survives() -> None:
    data = put(b"# Shop", RULE) + b"- and this\n"
    assert instructions.rules(put(data, "another")) == (RULE, "another")
    assert instructions.remove(data, RULE, whole=True) == b"# Shop\n- and this\n"


def test_a_formatter_may_have_been_there() -> None:
    data = put(b"# Shop\n", RULE).replace(b"\n- ", b"\n\n* ").replace(b"\n" + CLOSE, b"\n\n" + CLOSE)
    assert instructions.rules(data) == (RULE,)
    assert instructions.put(data, RULE).wrote is False
    assert instructions.remove(data, RULE, whole=True) == b"# Shop\n"


def test_line_ends_that_somebody_converted() -> None:
    data = put(b"# Shop\n", RULE, "another").replace(b"\n", b"\r\n")
    assert instructions.remove(data, RULE, whole=True).count(b"\n- ") == 1
    assert put(data, "third").count(b"\r\n") == data.count(b"\r\n") + 1
    for rule in (RULE, "another"):
        data = instructions.remove(data, rule, whole=True)
    assert data == b"# Shop\r\n"


def test_a_persons_own_block_stays_when_it_is_empty_again() -> None:
    own = b"x\n" + OPEN + b"\n" + CLOSE + b"\ny\n"
    done = instructions.put(own, RULE)
    assert not done.made
    assert instructions.remove(done.data, RULE, whole=False) == own


@pytest.mark.parametrize(
    "text",
    [
        b"How it looks:\n```\n" + OPEN + b"\n- x\n" + CLOSE + b"\n```\n",
        b"~~~~ md\n" + OPEN + b"\n```\n" + CLOSE + b"\n~~~~\n",
        b"- so:\n  ```\n  code\n  ```\n",
        b"1. so\n\n   ```sh\n   never closed\nnext paragraph\n",
        b"> ```\n> quoted\n\n",
        b"```inline` is not a fence\n",
        b"The line `" + OPEN + b"` begins them.\n    " + OPEN + b"\n",
        CLOSE + b"\n",
    ],
)
def test_markers_in_a_persons_text_are_text(text: bytes) -> None:
    data = put(text, RULE)
    assert data == text + b"\n" + BLOCK + b"\n"
    assert put(data, "another").startswith(text + b"\n" + OPEN)
    assert instructions.remove(data, RULE, whole=True) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OPEN + b"\n- x\n", "begin in line 1 and no line"),
        (b"a\n" + BLOCK + b"\n" + BLOCK, "line 2 and again in line 5"),
        (BLOCK.replace(CLOSE, OPEN), "line 1 and again in line 3"),
        (b"a\n```\ncode\n", "fence in line 2 is never closed"),
        (b"```\nx\n```\n~~~\n```\n", "fence in line 4 is never closed"),
    ],
)
def test_a_file_that_nothing_can_be_added_to_says_where(text: bytes, said: str) -> None:
    with pytest.raises(Unfit, match=said):
        instructions.put(text, RULE)


PIECE = st.sampled_from([
    b"# Shop", b"text", b"\n", b"\n", b"\r\n", b"\r", b" ", b"\t", BOM, b"```", b"~~~\n", b"- item\n  ", b"> ", OPEN,
    CLOSE, OPEN + b"\n", CLOSE + b"\n", b"- one\n", b"* two", b"\xff\xfe", b"\x00", "ä日本".encode(), BLOCK,
    BLOCK + b"\n",
])  # fmt: skip
BYTES = st.one_of(st.binary(max_size=40), st.lists(PIECE, max_size=12).map(b"".join))
ORDER = st.permutations(["one", "two", "three `x`", "vier ä", RULE])


@settings(max_examples=150, deadline=None)
@given(BYTES, ORDER, st.data(), st.integers(1, 5))
@example(b"abc\r", ["one", "two", "three `x`", "vier ä", RULE], None, 1)
@example(b"abc\n\r\n", ["one", "two", "three `x`", "vier ä", RULE], None, 2)
def test_what_was_put_and_taken_in_any_order_leaves_the_same_bytes(
    before: bytes, order: list[str], data: st.DataObject | None, many: int
) -> None:
    now, wrote, made = before, [], False
    for rule in order[:many]:
        try:
            done = instructions.put(now, rule)
        except Unfit:
            assert now == before
            return
        now, made = done.data, made or done.made
        wrote += [rule] * done.wrote
        assert (now != before) == bool(wrote)
        assert instructions.put(now, rule).data == now
    for rule in data.draw(st.permutations(wrote)) if data else wrote:
        assert rule in instructions.rules(now)
        now = instructions.remove(now, rule, whole=made)
    assert now == before


@settings(max_examples=100, deadline=None)
@given(BYTES, BYTES, BYTES)
def test_what_others_write_meanwhile_survives(before: bytes, head: bytes, tail: bytes) -> None:
    """But for one empty line right before the block: that is ours, whoever wrote what is above it; so is a block."""
    head += b"\n" * bool(head)
    try:
        done = instructions.put(before, "one")
        left = instructions.remove(head + done.data + tail, "one", whole=done.made)
    except Unfit:
        return
    if done.wrote and b"- one" not in head + tail and OPEN not in head + tail:
        assert left.startswith((head + before).rstrip(b"\r\n") if done.made else head)
        assert left.endswith(tail.lstrip(b" \t\r\n"))


@settings(max_examples=250, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from([
    "`", "``", "```", "<", "!--", "-->", "<!--", "@", "~/x", "![", "](", " ", "\n", "#", "1.", ">", "-", "~~~", "a",
    "\x1b[2J", "\u202e", "<b>", "nmem:learnings", "[REDACTED:x]", "\ufeff", "\u2028", "👩‍👩‍👧",
]), max_size=14).map("".join)))  # fmt: skip
def test_any_text_becomes_one_line_that_stays_where_it_is_put(text: str) -> None:
    line = neat(text)
    assert neat(line) == line
    assert "\n" not in line
    assert "\r" not in line
    assert "<!--" not in line
    assert "-->" not in line
    assert line.count("`") % 2 == 0
    assert not line.startswith(("# ", "> ", "- ", "~~~", "```"))
    outside = "".join(line.split("`")[::2])
    assert "@" not in outside
    assert "<b>" not in outside
    if line:
        data = put(b"# Shop\n", line, "next")
        assert instructions.rules(data) == (line, "next")
        assert instructions.remove(instructions.remove(data, line, whole=True), "next", whole=True) == b"# Shop\n"


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from([
    "`", "``", "\\", "\\`", "<", "<!--", "@~/x", "![a](b)", "](", " ", "a", "<b>", "&#64;", "*", "_", "~", "[a]: b",
    "# ", "<https://a.b>", "1. ",
]), max_size=12).map("".join)))  # fmt: skip
@example(r"see \`docs and @/etc/passwd or @~/.ssh/id_rsa` for it")
@example(r"\\`a @~/x` and \`b @~/y`")
def test_markdown_reads_nothing_but_text_and_code_in_a_rule(text: str) -> None:
    """As a client's own parser does, which imports `@path` where it is no code."""
    said = neat(text)
    for token in MarkdownIt().parse(f"- {said}\n") if said else ():
        assert token.type not in ("html_block", "heading_open", "fence", "code_block", "blockquote_open")
        for inner in token.children or ():
            assert inner.type not in ("html_inline", "image")
            assert inner.type == "code_inline" or "@" not in inner.content


def test_what_a_rule_may_not_hold() -> None:
    assert neat("- see @~/.ssh/id_rsa and <script>x") == "see `@~/.ssh/id_rsa` and `<script>x`"
    assert neat("a\nb\x1b]0;t\x07 c\u202e") == "a b c"
    assert neat("## `open") == "'open"
    assert neat(f"x {OPEN.decode()} y") == "x `<!-` nmem:learnings -> y"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    assert neat(f"pass {token} to it") == "pass [REDACTED:github-token] to it"
