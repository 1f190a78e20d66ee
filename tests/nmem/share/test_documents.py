"""The files for another person: complete, inert in either form, without secrets, and honest about what is left out."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from sqlite3 import Connection

import pytest
from markdown_it import MarkdownIt

from nmem.errors import NmemError
from nmem.share import document, files, markdown, page
from nmem.share.brief import brief
from tests.nmem import command_line
from tests.nmem.conftest import Recorded
from tests.nmem.share.conftest import SECRETS

HEAD, TEXT = "html head meta title style body", "h1 h2 h3 h4 h5 p ul li code pre span div"
TAGS = frozenset(f"{HEAD} {TEXT} dl dt dd details summary section header time".split())
ATTRIBUTES = frozenset(("lang", "charset", "http-equiv", "content", "name", "class", "open"))


class Parsed(HTMLParser):
    """The tags and attributes of a page; what is left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.open += [] if tag == "meta" else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def both(db: Connection) -> tuple[document.Document, str, str]:
    found = document.of_episode(db, 1)
    return found, markdown.write(found), page.write(found)


def test_an_episode_is_told_in_full(coupon: Connection) -> None:
    found, text, html = both(coupon)
    shown = Parsed(html).words
    for words in ("The invoice total is doubled when a coupon is used", "Goal", "Outcome", "Conversation and actions",
                  "no, the coupon total is still wrong", "rounding happens before the coupon", "src/invoice.py",
                  "expected 12, got 24", "coupons", "What was left out", "1 passages of thinking"):  # fmt: skip
        assert words in shown
        assert words in text
    assert "Maybe it is the rounding" not in text + html
    assert "3 runs, 3 failed; the last: failed" in shown
    assert found.left_out["outputs of calls"] == 3
    assert "cd . && ls src ~/x" in text
    assert "/home/" not in text + html


def test_no_planted_secret_leaves_in_either_form(hostile: Connection) -> None:
    found, text, html = both(hostile)
    for secret in SECRETS:
        for end in range(8, len(secret) + 1):
            assert secret[:end] not in text + html + files.name(found) + found.title
    assert found.fresh > 6
    assert found.left_out["secrets replaced by a placeholder"] >= found.fresh


def test_nothing_acts_in_the_page(hostile: Connection) -> None:
    _, _, html = both(hostile)
    seen = Parsed(html)
    assert not seen.open
    assert set(seen.tags) <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert "default-src 'none'" in html
    assert "url(" not in html
    assert "<script>alert(1)</script>" in seen.words
    assert not {"\x1b", "\u202e", "\x07"} & set(html)


def test_nothing_acts_in_the_markdown(hostile: Connection) -> None:
    """Rendered by a reader that lets HTML through and makes links of bare addresses."""
    _, text, _ = both(hostile)
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    tags = set(Parsed(made).tags)
    assert tags <= {"h1", "h2", "h3", "h4", "p", "ul", "li", "code", "pre", "strong", "em"}
    bare = MarkdownIt("commonmark").parse(text)
    plain = " ".join(leaf.content for token in bare for leaf in token.children or () if leaf.type == "text")
    for linked in ("@octocat", "#12", "evil.example", "://", "entire.io"):
        assert linked not in plain
    assert not {"\x1b", "\u202e", "\x07"} & set(text)


@pytest.mark.parametrize("text", ["# top", "- item", "1. one", "1) one", "+ x", "= x", "*b* _d_ `e`", "[a]: b", "&lt;"])
def test_a_line_stays_the_text_that_it_is(text: str) -> None:
    made = MarkdownIt("commonmark").render(f"- {markdown.escaped(text)}")
    assert set(Parsed(made).tags) <= {"ul", "li", "code"}
    assert Parsed(made).words.strip() == text


def test_a_fence_cannot_be_closed_from_within() -> None:
    made = MarkdownIt("commonmark").render(markdown.fenced("a\n````\n<b>x</b>\n```\nz"))
    assert Parsed(made).tags == Counter({"pre": 1, "code": 1})


def test_a_session_is_its_episodes_in_order(record: Recorded, coupon: Connection) -> None:
    columns = "session_id, first_prompt_id, last_prompt_id, started_at, last_at"
    record.db.execute(
        f"INSERT INTO work_units ({columns}, intent) SELECT {columns}, 'Send the mail again' FROM work_units"
    )
    found = document.of_session(coupon, "coupon")
    text = markdown.write(found)
    assert found.episodes == (1, 2)
    assert text.index("## Episode 1: ") < text.index("## Episode 2: Send mail")


def test_a_long_turn_is_bounded_and_says_so(record: Recorded, told: object) -> None:
    record.begin("long").user("Rename every module")
    for number in range(100):
        record.act("command", f"git mv a{number}.py b{number}.py")
    assert callable(told)
    found, text, html = both(told())
    assert "git mv a39.py" in text
    assert "git mv a40.py" not in text + html
    assert "git mv a99.py" in html
    assert found.left_out["calls in the middle of a long turn"] == 40


def test_files_are_named_after_the_title_and_never_overwritten(coupon: Connection, tmp_path: Path) -> None:
    done = command_line.run("share", "1", "--out", str(tmp_path / "home"), "--json")
    made = json.loads(done.stdout)
    assert [Path(path).suffix for path in made["files"]] == [".md", ".html"]
    assert Path(made["files"][0]).stem.startswith("fix-invoice") or "coupon" in made["files"][0]
    assert all(Path(path).stat().st_mode & 0o777 == 0o600 for path in made["files"])
    Path(made["files"][0]).write_text("mine")
    again = command_line.run("share", "episode/1", "--out", str(tmp_path / "home"))
    assert (again.returncode, "--force overwrites it" in again.stderr) == (1, True)
    assert Path(made["files"][0]).read_text() == "mine"
    assert (
        command_line.run("share", "last", "--project", "shop", "--out", str(tmp_path / "home"), "--force").returncode
        == 0
    )
    assert Path(made["files"][0]).read_text() != "mine"


def test_where_the_disk_is_full_every_old_file_stays_and_no_new_one(
    coupon: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, real = document.of_episode(coupon, 1), os.fsync
    before = {path: Path(path).write_text("mine") for path in files.write(found, str(tmp_path), ("md", "html"))}

    def full(handle: int) -> None:
        if stat.S_ISREG(os.fstat(handle).st_mode) and next(times):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    for force, folder in ((True, tmp_path), (False, tmp_path / "new")):
        times = iter([False, True, False])
        folder.mkdir(exist_ok=True)
        with pytest.raises(NmemError, match="No space left"):
            files.write(found, str(folder), ("md", "html"), force=force)
    assert [Path(path).read_text() for path in before] == ["mine", "mine"]
    assert {str(path) for path in tmp_path.iterdir()} == {*before, str(tmp_path / "new"), str(tmp_path / "home")}
    assert not list((tmp_path / "new").iterdir())


def test_a_link_in_the_place_of_a_file_is_not_followed(coupon: Connection, tmp_path: Path) -> None:
    found = document.of_episode(coupon, 1)
    (tmp_path / "precious").write_text("mine")
    (tmp_path / f"{files.name(found)}.md").symlink_to(tmp_path / "precious")
    done = command_line.run("share", "1", "--out", str(tmp_path), "--format", "md", "--force")
    assert done.returncode == 1
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("99",), "there is no episode 99", 1),
        (("prompt/1",), "prompt/1 cannot be shared", 2),
        (("nobody",), "there is no session nobody", 1),
        (("1", "--out", "/nowhere"), "/nowhere is not a folder", 1),
    ],
)
def test_what_cannot_be_shared_is_one_line(coupon: Connection, words: tuple[str, ...], said: str, code: int) -> None:
    done = command_line.run("share", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert said in done.stderr


def test_paths_of_another_machine_s_checkout_are_relative(record: Recorded, told: Callable[[], Connection]) -> None:
    """The project's root in the database is another folder than that which the calls name."""
    record.begin("win").user("Fix the coupon of the shop in the basket, it rounds the wrong way.")
    for name in ("a", "b", "c"):
        record.act("file_read", f"D:/shop/src/{name}.py", f"D:/shop/src/{name}.py")
    record.act("command", "type D:\\shop\\web D:/shop/.claude/worktrees/x/src/d.py").edit("D:/shop/src/a.py").agent(
        "Done."
    )
    db = told()
    for text in (brief(db, 1).text, markdown.write(document.of_episode(db, 1))):
        assert "src/a.py" in text
        assert "shop/src" not in text and "D:" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see languages.go, then (https://x.org/7691).", "see `languages.go`, then (`https://x.org/7691`)."),
        ("ask @octocat!", "ask `@octocat`!"),
        ("it is a.b...", "it is `a.b`..."),
        ("post to (https://x.org[REDACTED:webhook]).", "post to (`https://x.org[REDACTED:webhook]`)."),
        ("the [hook](https://x.org[REDACTED:webhook]).", "the `[hook](https://x.org[REDACTED:webhook])`."),
        ("`cd shop && make` and &amp;", r"\`cd shop && make\` and &amp;amp;"),
    ],
)
def test_punctuation_stays_outside_of_code(text: str, shown: str) -> None:
    assert markdown.escaped(text) == shown


def test_the_client_is_called_by_its_name(coupon: Connection) -> None:
    assert "- **Client:** Claude Code" in markdown.write(document.of_episode(coupon, 1))


def test_rules_that_a_project_made_later_hold_for_what_leaves(
    record: Recorded, told: Callable[[], Connection], shop_rules: Callable[[], None]
) -> None:
    record.begin("s").user("Tell Falkenstein and jane.doe@bigcorp.io of the coupon").agent("Falkenstein knows of it.")
    db = told()
    assert "Falkenstein" in both(db)[1]
    shop_rules()
    for text in (*both(db)[1:], brief(db, 1).text):
        assert "Falkenstein" not in text
        assert "bigcorp" not in text
        assert "[REDACTED:word]" in text
