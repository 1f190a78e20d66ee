"""Accepting writes a rule into the project's instructions once; undo and reopen take out exactly that."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmem import undo
from nmem.errors import NmemError
from nmem.learn import accept, files, lifecycle, places, read
from nmem.learn.instructions import CLOSE, OPEN
from nmem.learn.refresh import write
from nmem.store import corrections as log

Shop = Any
RULE = "Use `pnpm test`: `npm test` fails here"
BLOCK = OPEN + b"\n- " + RULE.encode() + b"\n" + CLOSE


def test_a_rule_is_shown_written_and_undone(shop: Shop) -> None:
    number, file = shop.learning(), shop.file(b"# Shop\r\nBe kind.")
    file.chmod(0o640)
    planned = shop.plan(number)
    assert planned.rule == RULE
    assert planned.diff == [
        "--- a/CLAUDE.md", "+++ b/CLAUDE.md", "@@ -1,2 +1,6 @@", " # Shop", "-Be kind.", "\\ No newline at end of file",
        "+Be kind.", "+", f"+{OPEN.decode()}", f"+- {RULE}", f"+{CLOSE.decode()}", "\\ No newline at end of file",
    ]  # fmt: skip
    assert file.read_bytes() == b"# Shop\r\nBe kind."
    shop.accept(number)
    assert file.read_bytes() == b"# Shop\r\nBe kind.\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert shop.state(number) == "accepted"
    assert shop.undo() == "learning 1 “npm test” accepted, its rule put into CLAUDE.md"
    assert file.read_bytes() == b"# Shop\r\nBe kind."
    assert shop.state(number) == "open"


def test_a_file_that_was_made_for_it_goes_with_it(shop: Shop) -> None:
    one, two = shop.learning(), shop.learning("yarn build", remedy=None)
    assert shop.plan(one).diff[0] == "--- /dev/null"
    shop.accept(one)
    assert stat.S_IMODE(shop.file().stat().st_mode) & 0o044 == 0o044
    shop.accept(two)
    shop.reopen(one)
    assert shop.file().exists()
    shop.reopen(two)
    assert not shop.file().exists()
    assert [shop.undo() for _ in range(2)] == [
        "learning 2 “yarn build” reopened, its rule taken out of CLAUDE.md",
        "learning 1 “npm test” reopened, its rule taken out of CLAUDE.md",
    ]
    assert shop.file().read_bytes().count(b"\n- ") == 2
    shop.undo()
    shop.undo()
    assert not shop.file().exists()


def test_an_empty_file_stays(shop: Shop) -> None:
    shop.file(b"")
    shop.accept(shop.learning())
    shop.undo()
    assert shop.file().read_bytes() == b""


def test_the_same_rule_of_two_learnings_stands_once_until_both_are_undone(shop: Shop) -> None:
    one, two = shop.learning(), shop.learning("npm test ", kind="stuck_loop")
    shop.file(b"x\n")
    shop.accept(one)
    planned = shop.accept(two, text=RULE)
    assert (planned.wrote, planned.diff) == (False, [])
    assert shop.file().read_bytes().count(b"pnpm") == 1
    shop.reopen(one)
    assert shop.file().read_bytes().count(b"pnpm") == 1
    shop.reopen(two)
    assert shop.file().read_bytes() == b"x\n"


def test_a_rule_that_the_person_had_written_stays(shop: Shop) -> None:
    text = b"Rules\n- " + RULE.encode() + b"\n"
    shop.file(text)
    shop.accept(shop.learning())
    assert shop.file().read_bytes() == text
    assert "its rule stays in CLAUDE.md" in shop.undo()
    assert shop.file().read_bytes() == text


def test_edits_by_others_survive_undo(shop: Shop) -> None:
    one, two = shop.learning(), shop.learning("yarn build", remedy=None)
    shop.file(b"# Shop\n")
    shop.accept(one)
    shop.accept(two)
    text = shop.file().read_bytes()
    shop.file(text.replace(b"# Shop", b"# Our shop").replace(CLOSE, b"my line\n" + CLOSE) + b"\n## More\n")
    shop.undo()
    shop.undo()
    assert shop.file().read_bytes() == b"# Our shop\n\n" + OPEN + b"\nmy line\n" + CLOSE + b"\n\n## More\n"


def test_a_rule_that_somebody_reworded_stays_and_undo_says_so(shop: Shop) -> None:
    shop.file(b"# Shop\n")
    shop.accept(shop.learning())
    edited = shop.file().read_bytes().replace(b"Use `pnpm", b"Always use `pnpm")
    shop.file(edited)
    assert "no longer in CLAUDE.md as it was written" in shop.undo()
    assert shop.file().read_bytes() == edited


def test_undo_where_the_file_is_gone_or_the_learning_moved_on(shop: Shop) -> None:
    number = shop.learning()
    shop.accept(number)
    shop.file().unlink()
    assert "CLAUDE.md is no longer there" in shop.undo()
    assert shop.state(number) == "open"
    shop.accept(number)
    shop.db.execute("UPDATE learnings SET state = 'resolved', state_by = 'evidence', state_at = 5")
    assert "the learning is resolved by now, and that is kept" in shop.undo()
    assert shop.state(number) == "resolved"
    assert not shop.file().exists()


def test_reopening_undone_puts_the_same_bytes_back(shop: Shop) -> None:
    one, two = shop.learning(), shop.learning("yarn build", remedy=None)
    shop.file(b"# Shop\n")
    shop.accept(one)
    shop.accept(two)
    text = shop.file().read_bytes() + b"\nafter\n"
    shop.file(text)
    shop.reopen(one)
    shop.reopen(two)
    assert shop.file().read_bytes() == b"# Shop\n\nafter\n"
    shop.undo()
    shop.undo()
    assert shop.file().read_bytes() == text
    shop.reopen(one)
    shop.file(b"Other\n")
    shop.undo()
    assert shop.file().read_bytes() == b"Other\n\n" + BLOCK + b"\n"


def test_the_rule_can_be_worded_by_the_person(shop: Shop) -> None:
    number = shop.learning()
    assert shop.accept(number, text="- Run\nthe tests with @pnpm \x1b[31m<!-- x").rule == (
        "Run the tests with `@pnpm` `<!-` x"
    )
    assert shop.stored()[0]["rule"] == "Run the tests with `@pnpm` `<!-` x"
    other = shop.learning("yarn build")
    with pytest.raises(NmemError, match="at most 160 characters, this one has 161"):
        shop.plan(other, text="x" * 161)
    with pytest.raises(NmemError, match="the rule is empty"):
        shop.plan(other, text="\x1b[31m --- ")


@pytest.mark.parametrize(
    ("clients", "there", "chosen"),
    [
        ("claude", (), "CLAUDE.md"),
        ("codex", (), "AGENTS.md"),
        ("gemini", (), "GEMINI.md"),
        ("opencode", (), "AGENTS.md"),
        ("codex", ("CLAUDE.md",), "CLAUDE.md"),
        ("codex", ("CLAUDE.md", "AGENTS.md"), "AGENTS.md"),
        ("claude", ("AGENTS.md", ".claude/CLAUDE.md"), ".claude/CLAUDE.md"),
        ("", ("GEMINI.md",), "GEMINI.md"),
    ],
)
def test_the_file_of_the_client_that_is_used_most(
    tmp_path: Path, clients: str, there: tuple[str, ...], chosen: str
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert files.chosen(str(tmp_path), tuple(clients.split())) == chosen


def test_clients_are_counted_in_the_project(shop: Shop) -> None:
    for number in range(3):
        shop.session(f"c{number}", 9, "codex")
    assert shop.plan(shop.learning()).file.name == "AGENTS.md"


def test_a_link_in_the_project_is_followed_and_stays_one(shop: Shop) -> None:
    shop.file(b"# Agents\n", "AGENTS.md")
    shop.file().symlink_to("AGENTS.md")
    shop.accept(shop.learning())
    assert shop.file().is_symlink()
    assert BLOCK in shop.file(name="AGENTS.md").read_bytes()
    shop.undo()
    assert shop.file(name="AGENTS.md").read_bytes() == b"# Agents\n"
    assert shop.file().is_symlink()


def test_links_that_lead_out_of_the_project_are_refused(shop: Shop, tmp_path: Path) -> None:
    number, outside = shop.learning(), tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.md").write_bytes(b"mine\n")
    shop.file().symlink_to(outside / "mine.md")
    (shop.folder / "docs").symlink_to(outside)
    shop.file(name="NEW.md").symlink_to(outside / "new.md")
    for name in ("CLAUDE.md", "docs/mine.md", "NEW.md", str(shop.folder / "docs" / "new.md")):
        with pytest.raises(NmemError, match="outside the project"):
            shop.plan(number, file=name)
    for name in ("../outside/mine.md", str(outside / "mine.md"), "/etc/motd.md"):
        with pytest.raises(NmemError, match="outside the project"):
            shop.plan(number, file=name)
    assert sorted(path.name for path in outside.iterdir()) == ["mine.md"]
    assert (outside / "mine.md").read_bytes() == b"mine\n"


def test_a_link_that_is_turned_outside_after_the_preview_is_refused(shop: Shop, tmp_path: Path) -> None:
    number, outside = shop.learning(), tmp_path / "outside.md"
    shop.file(b"# Shop\n")
    outside.write_bytes(b"# Shop\n")
    planned = shop.plan(number)
    shop.file().unlink()
    shop.file().symlink_to(outside)
    with pytest.raises(NmemError, match="outside the project"):
        accept.accept(shop.db, planned, shop.now)
    assert outside.read_bytes() == b"# Shop\n"
    assert shop.state(number) == "open"
    shop.file().unlink()
    shop.file(b"# Shop\n")
    shop.accept(number)
    outside.write_bytes(shop.file().read_bytes())
    shop.file().unlink()
    shop.file().symlink_to(outside)
    assert "could not be undone, and is left as it is" in shop.undo()
    assert BLOCK in outside.read_bytes()
    assert shop.state(number) == "accepted"


def _folder(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _locked(path: Path) -> None:
    path.write_bytes(b"x\n")
    path.chmod(0o444)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_folder, "CLAUDE.md is a folder"),
        (_fifo, "CLAUDE.md is not a file"),
        (_locked, "CLAUDE.md is read-only"),
        (_loop, "CLAUDE.md cannot be read"),
        (lambda path: path.write_bytes("wide\n".encode("utf-16")), "not UTF-8 text"),
        (lambda path: path.write_bytes(b"x" * 4_000_001), "larger than 4 MB"),
        (lambda path: path.write_bytes(OPEN + b"\n"), "CLAUDE.md: nmem's rules begin in line 1"),
        (lambda path: path.write_bytes(b"```\n"), "CLAUDE.md: the code fence in line 1 is never closed"),
    ],
)
def test_what_is_no_file_for_rules_is_one_clear_line(shop: Shop, make: Callable[[Path], object], said: str) -> None:
    make(shop.file())
    with pytest.raises(NmemError, match=said) as error:
        shop.plan(shop.learning())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [".git/CLAUDE.md", "package.json", "Makefile", "none/CLAUDE.md"])
def test_only_markdown_in_a_folder_that_is_there(shop: Shop, name: str) -> None:
    with pytest.raises(NmemError, match=r"not a Markdown file|no folder"):
        shop.plan(shop.learning(), file=name)


def test_a_project_whose_folder_is_gone(shop: Shop, tmp_path: Path) -> None:
    number = shop.learning()
    shop.folder.rename(tmp_path / "moved")
    with pytest.raises(NmemError, match=r"the folder of shop, .*shop, no longer exists"):
        shop.plan(number)


def test_of_two_projects_of_one_name_that_of_the_folder_is_meant_else_the_one_that_is_there(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other" / "shop"
    (gone,) = shop.db.execute("SELECT max(id) + 1 FROM projects").fetchone()
    for root in ("/none/shop", str(other)):
        shop.db.execute("INSERT INTO projects (key, name, root, created_at) VALUES (?, 'shop', ?, 0)", (root, root))
    mine = shop.db.execute("SELECT id FROM projects WHERE root = ?", (str(shop.folder),)).fetchone()[0]
    assert places.named(shop.db, "shop") == (mine, "shop")
    other.mkdir(parents=True)
    with pytest.raises(NmemError, match=r"several projects are called shop: name one by its folder, "):
        places.named(shop.db, "shop")
    assert places.named(shop.db, "shop", str(other)) == (gone + 1, "shop")
    assert places.named(shop.db, "/none/shop") == (gone, "shop")


def test_a_checkout_elsewhere_counts_when_the_person_is_in_it(shop: Shop, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".git").mkdir(parents=True)
    (clone / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (clone / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.org:me/shop.git\n')
    shop.db.execute("UPDATE projects SET key = 'example.org/me/shop'")
    number = shop.learning()
    assert shop.plan(number, folder=str(clone)).file.root == str(clone)
    assert shop.plan(number, folder=str(tmp_path)).file.root == str(shop.folder)
    shop.folder.rename(tmp_path / "moved")
    assert shop.plan(number, folder=str(clone)).file.root == str(clone)


def test_a_file_that_changed_after_the_preview_is_not_overwritten(shop: Shop) -> None:
    number = shop.learning()
    shop.file(b"# Shop\n")
    planned = shop.plan(number)
    shop.file(b"# Shop, rewritten\n")
    with pytest.raises(NmemError, match="changed in the meantime"):
        accept.accept(shop.db, planned, shop.now)
    assert shop.file().read_bytes() == b"# Shop, rewritten\n"
    assert (shop.state(number), undo.history(shop.db)) == ("open", [])


def test_a_commit_that_fails_leaves_the_file_as_it_was(shop: Shop) -> None:
    number = shop.learning()
    shop.file(b"# Shop\n")
    planned = shop.plan(number)
    shop.db.execute("CREATE TABLE child (id INTEGER REFERENCES threads(id) DEFERRABLE INITIALLY DEFERRED)")
    shop.db.execute("CREATE TRIGGER late AFTER INSERT ON corrections BEGIN INSERT INTO child VALUES (9); END")
    with pytest.raises(sqlite3.IntegrityError):
        accept.accept(shop.db, planned, shop.now)
    assert shop.file().read_bytes() == b"# Shop\n"
    assert shop.state(number) == "open"


def test_an_undo_that_fails_leaves_file_and_learning_as_they_were(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways round: a rule that would come out, and one that would come back."""
    number = shop.learning()
    shop.file(b"# Shop\n")
    shop.accept(number)
    for state in ("accepted", "open"):
        before, stored = shop.file().read_bytes(), shop.stored()
        for fails in ("undone", "commit"):
            with monkeypatch.context() as patched:
                if fails == "undone":
                    patched.setattr(log, "undone", lambda *_: 1 / 0)
                    error: type[Exception] = ZeroDivisionError
                else:
                    shop.db.execute("CREATE TABLE c (id INTEGER REFERENCES threads(id) DEFERRABLE INITIALLY DEFERRED)")
                    shop.db.execute("CREATE TRIGGER l AFTER UPDATE ON corrections BEGIN INSERT INTO c VALUES (9); END")
                    error = sqlite3.IntegrityError
                with pytest.raises(error):
                    shop.undo()
            assert (shop.state(number), shop.file().read_bytes(), shop.stored()) == (state, before, stored)
        shop.db.execute("DROP TRIGGER l")
        shop.db.execute("DROP TABLE c")
        if state == "accepted":
            shop.reopen(number)
    assert "reopened" in shop.undo()
    assert "(" not in shop.undo()
    assert shop.file().read_bytes() == b"# Shop\n"


def test_a_rule_that_stands_can_be_taken_out_whatever_became_of_the_learning(shop: Shop) -> None:
    number = shop.learning()
    shop.file(b"# Shop\n")
    shop.accept(number)
    lifecycle.resolve(shop.db, number, shop.now)
    shop.db.execute("UPDATE learnings SET state = 'open', state_by = 'evidence'")  # it came back
    one = read.learning(shop.db, number, shop.now)
    assert one is not None
    assert "reopen" in lifecycle.able(one.state, one.rule)
    assert accept.stands_in(shop.db, number) == "CLAUDE.md"
    assert write(shop.db, 1, [], shop.now) == 0  # and is not borne out any more
    shop.reopen(number)
    assert shop.file().read_bytes() == b"# Shop\n"
    assert accept.stands_in(shop.db, number) == ""
    with pytest.raises(NmemError, match="is open already"):
        shop.reopen(number)


TEXT = st.one_of(
    st.binary(max_size=30).filter(lambda data: b"\0" not in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff")),
    st.lists(st.sampled_from([b"# Shop", b"\n", b"\r\n", b"\r", b"- x\n", b"```", OPEN, CLOSE + b"\n", b"\xef\xbb\xbf",
                              OPEN + b"\n" + CLOSE + b"\n"]), max_size=8).map(b"".join),
)  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.none(), TEXT), st.permutations([1, 2, 3, 4]), st.permutations([1, 2, 3, 4]), st.booleans())
def test_accepted_and_taken_back_in_any_order_is_the_identity(
    shops: Callable[[Path], Any], before: bytes | None, there: list[int], back: list[int], undone: bool
) -> None:
    """Four learnings, two of them with the same rule; taken back by `undo`, or by reopening in any order."""
    with tempfile.TemporaryDirectory() as folder, shops(Path(folder)) as shop:
        for number in range(4):
            shop.learning(f"step {number}", remedy=None)
        shop.file(before)
        stored = shop.stored()
        seen: list[bytes] = []
        for number in there:
            try:
                shop.accept(number, text="the same" if number > 2 else "")
            except NmemError:
                assert not seen
                return
            seen.append(shop.file().read_bytes())
        assert seen[-1].count(b"the same") == 1
        for number in back:
            if undone:
                shop.undo()
            else:
                shop.reopen(number)
        assert (shop.file().read_bytes() if shop.file().exists() else None) == before
        if undone:
            assert shop.stored() == stored
            return
        for _ in back:
            shop.undo()
        assert shop.file().read_bytes() == seen[-1]
        for text in [*reversed(seen[:-1]), before]:
            shop.undo()
            assert (shop.file().read_bytes() if shop.file().exists() else None) == text
        assert shop.stored() == stored


def _moved(tmp_path: Path, name: str = "shop", remote: str = "") -> Path:
    """A git checkout elsewhere."""
    clone = tmp_path / "new" / name
    (clone / ".git").mkdir(parents=True)
    (clone / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (clone / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n' if remote else "")
    return clone


@pytest.mark.parametrize(("name", "remote"), [("shop", ""), ("mine", "git@example.org:me/shop.git")])
def test_where_the_folder_is_gone_a_checkout_of_the_same_name_counts(
    shop: Shop, tmp_path: Path, name: str, remote: str
) -> None:
    number, clone, other = shop.learning(), _moved(tmp_path, name, remote), _moved(tmp_path, "farm")
    shop.folder.rename(tmp_path / "old")
    (clone / "docs").mkdir()
    (clone / "CLAUDE.md").write_bytes(b"# Shop\n")
    assert shop.accept(number, folder=str(clone / "docs")).file.root == str(clone)
    assert RULE.encode() in (clone / "CLAUDE.md").read_bytes()
    shop.undo()
    assert (clone / "CLAUDE.md").read_bytes() == b"# Shop\n"
    with pytest.raises(NmemError, match=r"name one: a task.s folder, a rule.s file"):
        shop.plan(number, folder=str(other))


def test_a_file_named_by_its_whole_path_leads_into_the_checkout_it_lies_in(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, clone = shop.learning(), _moved(tmp_path, "renamed")
    (clone / "CLAUDE.md").write_bytes(b"# Shop\r\nBe kind.")
    with pytest.raises(NmemError, match="outside the project"):  # its own folder is there
        shop.plan(number, file=str(clone / "CLAUDE.md"))
    shop.folder.rename(tmp_path / "old")
    monkeypatch.setenv("HOME", str(tmp_path))
    planned = shop.accept(number, file="~/new/renamed/CLAUDE.md")
    assert (planned.file.root, planned.file.name) == (str(clone), "CLAUDE.md")
    assert RULE.encode() in (clone / "CLAUDE.md").read_bytes()
    shop.undo()
    assert (clone / "CLAUDE.md").read_bytes() == b"# Shop\r\nBe kind."


def test_a_path_into_another_checkout_is_no_way_out_of_it(shop: Shop, tmp_path: Path) -> None:
    number, clone = shop.learning(), _moved(tmp_path)
    shop.folder.rename(tmp_path / "old")
    (tmp_path / "out.md").write_bytes(b"mine\n")
    (clone / "CLAUDE.md").symlink_to(tmp_path / "out.md")
    with pytest.raises(NmemError, match=r"leads to .*outside the project"):
        shop.plan(number, file=str(clone / "CLAUDE.md"))
    with pytest.raises(NmemError, match=r"is in no git checkout: `git init` there, or name a file in a checkout$"):
        shop.plan(number, file=str(tmp_path / "out.md"))
    with pytest.raises(NmemError, match=r"nowhere does not exist: make it a checkout, or name a file in one$"):
        shop.plan(number, file=str(tmp_path / "nowhere" / "CLAUDE.md"))


def test_checkouts_are_looked_for_where_the_person_is_and_beside_other_projects(shop: Shop, tmp_path: Path) -> None:
    number, clone, farm = shop.learning(), _moved(tmp_path), _moved(tmp_path, "farm")
    assert number
    shop.folder.rename(tmp_path / "old")
    assert places.checkouts(shop.db, 1, str(farm)) == ()
    assert places.checkouts(shop.db, 1, str(clone)) == (str(clone),)
    shop.db.execute("INSERT INTO projects VALUES (2, ?, 'farm', ?, NULL, 0)", (str(farm), str(farm)))
    shop.db.execute("INSERT INTO project_folders VALUES (?, 2, ?)", (str(farm), str(farm)))
    assert places.checkouts(shop.db, 1) == (str(clone),)
